import VaultModel

/// The files of a record as far as their list can be read.
package struct ReadableItems: Sendable {
  /// `record.md` among them, tombstones left out.
  package var items: [Item] = []
  /// Where in the tree of items a page cannot be read, and why.
  package var gaps: [(place: ItemPlace, error: VaultError)] = []

  /// Whether an item of this name may stand where nothing can be read.
  package func mayLack(_ name: FileName) -> Bool { gaps.contains { $0.place.holds(name) } }
}

extension Member {
  /// The items of a revision, but for those of pages that are missing or damaged.
  ///
  /// - Throws: What else keeps a page from being read.
  package func readableItems(of revision: RecordRevision) throws(VaultError) -> ReadableItems {
    var load: (ObjectName) throws(VaultError) -> ItemPage = loadPage
    if let root = revision.items.unloadedRoot { load = PagesAhead(of: root, in: self).page }
    var found = ReadableItems(items: revision.document.map { [$0] } ?? [])
    try pages(load) { load in
      try revision.items.visitReadable(
        load: load, item: { found.items.append($0) },
        gap: { place, error in
          switch error {
          case let error as VaultError where error.isDamage: found.gaps.append((place, error))
          case let error as ModelError: found.gaps.append((place, .damagedFileList(error)))
          default: throw error
          }
        })
    }
    found.items.removeAll(where: \.isDeleted)
    return found
  }
}

extension VaultError {
  /// A page that is no part of the tree that names it.
  static func damagedFileList(_ error: ModelError) -> VaultError {
    .damaged(path: "an object of the record's file list", reason: "\(error)")
  }

  fileprivate var isDamage: Bool {
    switch self {
    case .damaged, .missing, .crypto: true
    default: false
    }
  }
}
