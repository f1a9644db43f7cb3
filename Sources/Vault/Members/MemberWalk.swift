import BlobStore
import VaultCrypto
import VaultModel

/// One object that a revision needs.
struct ObjectReference: Sendable {
  let digest: ContentDigest
  let kind: ObjectKind
  let record: RecordID
  /// The item it belongs to; nil for what belongs to the record as a whole.
  let item: FileName?
  /// How many bytes of content are needed of it; nil where its own decoding tells.
  let contentByteCount: Int?
  /// True if only an older revision needs it.
  let isOnlyInHistory: Bool
}

/// Visits everything that the records of a member are made of.
struct MemberWalk {
  let member: Member

  /// Calls `visit` for each object that a revision needs, itself included, and `fail` for each that
  /// had to be read on the way and could not be.
  ///
  /// - Returns: The revision; nil when it could not be read.
  func walk(
    revision name: ContentDigest, of record: RecordID, isOnlyInHistory: Bool,
    visit: (ObjectReference) -> Void, fail: (ObjectReference, VaultError) -> Void
  ) -> RecordRevision? {
    func reference(
      _ digest: ContentDigest, _ kind: ObjectKind, item: FileName? = nil, byteCount: Int? = nil
    ) -> ObjectReference {
      ObjectReference(
        digest: digest, kind: kind, record: record, item: item, contentByteCount: byteCount,
        isOnlyInHistory: isOnlyInHistory)
    }
    let own = reference(name, .record)
    let revision: RecordRevision
    do throws(VaultError) { revision = try member.revision(name) } catch {
      fail(own, error)
      return nil
    }
    visit(own)
    var items = revision.document.map { [$0] } ?? []
    do throws(VaultError) {
      var loaded: (name: ContentDigest, page: ItemPage)?
      func load(_ name: ContentDigest) throws(VaultError) -> ItemPage {
        if let loaded, loaded.name == name { return loaded.page }
        return try member.loadPage(name)
      }
      try pages(load) { load in
        try revision.items.visit(
          load: load,
          page: { name in
            let page = reference(name, .page)
            do throws(VaultError) { loaded = (name, try member.loadPage(name)) } catch {
              // The other pages have items too.
              fail(page, error)
              return false
            }
            visit(page)
            return true
          }, item: { items.append($0) })
      }
    } catch {
      fail(own, error)
    }
    for item in items where !item.isDeleted {
      walk(item, reference: reference, visit: visit, fail: fail)
    }
    return revision
  }

  private func walk(
    _ item: Item,
    reference: (ContentDigest, ObjectKind, FileName?, Int?) -> ObjectReference,
    visit: (ObjectReference) -> Void, fail: (ObjectReference, VaultError) -> Void
  ) {
    if case .indexes(let indexes) = item.content {
      for index in indexes { visit(reference(index, .index, item.name, nil)) }
    }
    let chunks: [ContentDigest?]
    do throws(VaultError) { chunks = try member.chunks(of: item.content) } catch {
      if case .indexes(let indexes) = item.content, let index = indexes.first {
        fail(reference(index, .index, item.name, nil), error)
      }
      return
    }
    let chunkSize = ObjectLayout.maximumContentSize(of: .chunk)
    for (position, chunk) in chunks.enumerated() {
      guard let chunk else { continue }
      let start = UInt64(position) * UInt64(chunkSize)
      let needed = item.size > start ? Int(min(item.size - start, UInt64(chunkSize))) : 0
      visit(reference(chunk, .chunk, item.name, needed))
    }
  }

  /// Visits the current revision of every record and the older ones that are kept.
  ///
  /// - Parameters:
  ///   - isWanted: Which records; all of them by default.
  ///   - keeps: Whether a revision is still kept that this other one replaced.
  func walkAll(
    where isWanted: (RecordEntry) -> Bool = { _ in true },
    keeps: (_ older: ContentDigest, _ newer: RecordRevision) -> Bool,
    visit: (ObjectReference) -> Void,
    fail: (ObjectReference, VaultError) -> Void, progress: (Int) -> Void
  ) {
    for (count, entry) in member.allEntries().enumerated() where isWanted(entry) {
      let current = Set(member.rivals(of: entry.record).map(\.revision)).union([entry.revision])
      var seen = current
      var waiting = current.map { (name: $0, isOnlyInHistory: entry.isDeleted) }
      while let next = waiting.popLast() {
        guard
          let revision = walk(
            revision: next.name, of: entry.record, isOnlyInHistory: next.isOnlyInHistory,
            visit: visit,
            fail: { reference, error in
              // Older revisions end where they were collected.
              if case .missing = error, reference.kind == .record, !current.contains(next.name) {
                return
              }
              fail(reference, error)
            })
        else { continue }
        for previous in revision.previous
        where keeps(previous, revision) && !seen.contains(previous)
          && member.historyGoesOn(from: next.name, to: previous)
        {
          seen.insert(previous)
          waiting.append((previous, true))
        }
      }
      progress(count + 1)
    }
  }
}

extension Member {
  /// Where a record stands in the mounted view, from the member's name on.
  ///
  /// A record that cannot be reached from the root is shown under its own title.
  package func displayPath(of record: RecordID) -> String {
    var parts: [String] = []
    var next: RecordID? = record
    while let id = next, parts.count < 1000, let entry = entry(id) {
      parts.append(entry.title.string)
      next = id == .root ? nil : entry.parent
    }
    return parts.isEmpty
      ? "a record that is not in the manifest" : parts.reversed().joined(separator: "/")
  }
}
