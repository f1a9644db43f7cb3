/// Where a walk goes on: at the top of a folder, or where a page of it ended.
package struct WalkPosition: Hashable, Sendable {
  package var folder: BlobPath
  /// The store's own word for where it stopped; nil at the top.
  package var token: String?

  package init(_ folder: BlobPath, after token: String? = nil) {
    self.folder = folder
    self.token = token
  }
}

/// What one step of a walk found.
package struct WalkPage: Hashable, Sendable {
  /// A blob, or what is neither blob nor folder. `path` is nil for a name that no path can have, such as `..`: that
  /// is to be reported, and never followed; `entry.name` is then the name as the store has it.
  package struct Found: Hashable, Sendable {
    package var path: BlobPath?
    package var entry: BlobEntry

    package init(path: BlobPath?, entry: BlobEntry) {
      self.path = path
      self.entry = entry
    }
  }

  package var found: [Found]
  /// Where the walk has still to go.
  package var unvisited: [WalkPosition]

  package init(found: [Found], unvisited: [WalkPosition]) {
    self.found = found
    self.unvisited = unvisited
  }
}

/// What a visitor says after each blob.
package enum WalkDecision: Hashable, Sendable {
  case goOn
  case stop
}

extension BlobStore {
  /// One folder's list, and its folders to be visited: for stores that list one folder at a time.
  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    var page = WalkPage(found: [], unvisited: [])
    for entry in try list(position.folder) {
      let path = position.folder.child(named: entry.name)
      if let path, entry.isFolder {
        page.unvisited.append(WalkPosition(path))
      } else {
        page.found.append(WalkPage.Found(path: path, entry: entry))
      }
    }
    return page
  }

  /// Visits every blob under a folder, in no particular order. What is added or removed meanwhile may be missed or
  /// met.
  ///
  /// - Parameters:
  ///   - depth: A folder this many levels down is visited itself, with its kind, and not entered, so that a hostile
  ///     tree ends somewhere.
  ///   - limit: After so many blobs and steps it throws `endlessListing`: a hostile store may go on for ever.
  ///   - entering: Whether a folder is to be entered. Stores that list a whole tree at once do not ask.
  ///   - visit: Called with the path, or nil for a name that no path can have; the name is then only to be reported.
  package func walk(
    under folder: BlobPath, depth: Int = 16, limit: Int = 20_000_000,
    entering: (BlobPath) -> Bool = { _ in true },
    visit: (BlobPath?, BlobEntry) throws(BlobStoreError) -> WalkDecision
  ) throws(BlobStoreError) {
    let top = folder.partCount
    var positions = [WalkPosition(folder)]
    var steps = 0
    while let position = positions.popLast() {
      let page = try page(position)
      steps += 1 + page.found.count
      if steps > limit { throw .endlessListing(folder: folder.string, limit: limit) }
      for found in page.found {
        if try visit(found.path, found.entry) == .stop { return }
      }
      for next in page.unvisited.reversed() {
        if next.folder != position.folder, !entering(next.folder) { continue }
        if next.folder != position.folder && next.folder.partCount - top >= depth {
          let entry = BlobEntry(name: next.folder.name, kind: .folder, size: 0, fingerprint: 0)
          if try visit(next.folder, entry) == .stop { return }
        } else {
          positions.append(next)
        }
      }
      if positions.count > limit { throw .endlessListing(folder: folder.string, limit: limit) }
    }
  }
}
