import VaultErrors
import VaultModel

/// The files of a record as far as their list can be read.
package struct ReadableItems: Sendable {
  /// `record.md` among them.
  package var items: [Item] = []
  /// Where in the tree of items a page cannot be read, and why.
  package var gaps: [(place: ItemPlace, error: VaultError)] = []

  package var byName: [FileName: Item] {
    Dictionary(items.map { ($0.name, $0) }) { first, _ in first }
  }

  /// Whether an item of this name may stand where nothing can be read.
  package func mayLack(_ name: FileName) -> Bool { gaps.contains { $0.place.holds(name) } }
}

extension RecordRevision {
  /// The items of the revision, tombstones included, but for those of pages that are missing or damaged.
  ///
  /// - Throws: What else keeps `load` from giving a page.
  func readableItems(
    load: @escaping (ContentDigest) throws(VaultError) -> ItemPage
  ) throws(VaultError) -> ReadableItems {
    var found = ReadableItems(items: document.map { [$0] } ?? [])
    try pages(load) { load in
      try items.visitReadable(
        load: load, item: { found.items.append($0) },
        gap: { place, error in
          switch error {
          case let error as VaultError where error.isDamage: found.gaps.append((place, error))
          case let error as ModelError: found.gaps.append((place, .damagedFileList(error)))
          default: throw error
          }
        })
    }
    return found
  }
}

extension Member {
  /// The items of a revision, tombstones left out, but for those of pages that are missing or damaged.
  ///
  /// - Throws: What else keeps a page from being read.
  package func readableItems(of revision: RecordRevision) throws(VaultError) -> ReadableItems {
    var load: (ContentDigest) throws(VaultError) -> ItemPage = loadPage
    if let root = revision.items.unloadedRoot { load = PagesAhead.read(below: root, in: self).page }
    var found = try revision.readableItems(load: load)
    found.items.removeAll(where: \.isDeleted)
    return found
  }

  /// The file of this name in a revision; nil if it has none. Reads the pages on the way to the name only.
  ///
  /// - Throws: `missing`, `damaged` of such a page.
  package func item(
    named name: FileName, of revision: RecordRevision
  ) throws(VaultError) -> Item? {
    var revision = revision
    let item = try pages(loadPage) { try revision.item(named: name, load: $0) }
    return item.flatMap { $0.isDeleted ? nil : $0 }
  }

  /// The files that a damaged list lacks, as they were in the newest kept revision before it whose list shows them. One that
  /// was removed since may be among them. A version that is not joined with it says nothing of what it lost.
  ///
  /// - Parameter damaged: What can be read of the record's current revision.
  func itemsBefore(
    _ damaged: ReadableItems, of record: RecordID
  ) throws(VaultError) -> [Item] {
    var newer = [damaged]
    var found: [Item] = []
    guard let current = entry(record)?.revision else { return [] }
    for version in try history(from: [current])
    where version.digest != current && !version.revision.place.isDeleted {
      let older = try readableItems(of: version.revision)
      found += older.items.filter { item in newer.allSatisfy { $0.mayLack(item.name) } }
      newer.append(older)
      if older.gaps.isEmpty { break }
    }
    return found
  }
}

extension VaultError {
  /// A page that is no part of the tree that names it.
  static func damagedFileList(_ error: ModelError) -> VaultError {
    .damaged(path: "an object of the record's file list", reason: "\(error)")
  }
}
