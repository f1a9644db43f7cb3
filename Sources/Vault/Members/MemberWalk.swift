import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// An object that a revision of a record needs.
struct VisitedObject: Sendable {
  let reference: ObjectReference
  let record: RecordID
  /// True if only an older revision needs it.
  let isOnlyInHistory: Bool

  var digest: ContentDigest { reference.digest }
  var kind: ObjectKind { reference.kind }
  /// The item it belongs to; nil for what belongs to the record as a whole.
  var item: FileName? { reference.item }
  /// How many bytes of content are needed of it; nil where its own decoding tells.
  var contentByteCount: Int? { reference.contentByteCount }
}

/// Visits everything that the records of a member are made of, as it can be read here: what stands where it does not
/// belong is as good as damaged.
struct MemberWalk {
  let member: Member
  /// Reads the pages of a record several at once.
  var readsAhead = false

  /// Calls `visit` for each object that a revision needs, itself included, and `fail` for each that
  /// had to be read on the way and could not be. What stands beside that is visited all the same.
  ///
  /// - Returns: The revision; nil when it could not be read.
  func walk(
    revision name: ContentDigest, of record: RecordID, isOnlyInHistory: Bool,
    visit: (VisitedObject) -> Void, fail: (VisitedObject, VaultError) -> Void
  ) -> RecordRevision? {
    var walk = GraphWalk(from: [.revision(name)])
    var found: RecordRevision?
    var pages: PagesAhead?
    while let step = walk.next() {
      guard case .enter(let reference) = step else { continue }
      let object = VisitedObject(
        reference: reference, record: record, isOnlyInHistory: isOnlyInHistory)
      if reference.kind == .chunk {
        visit(object)
        continue
      }
      if readsAhead, reference.kind == .page, pages == nil {
        pages = PagesAhead.read(below: reference.digest, in: member)
      }
      do {
        let content = try member.content(of: reference, pages)
        visit(object)
        found = found ?? content.revision
        walk.descend(into: reference.references(in: content))
      } catch {
        fail(object, error)
      }
    }
    return found
  }

  /// Visits the current revision of every record, all its versions where they wait to be joined, and the older ones that
  /// are kept.
  ///
  /// - Parameters:
  ///   - isWanted: Which records; all of them by default.
  ///   - keeps: Whether a revision is still kept that this other one replaced.
  func walkAll(
    where isWanted: (RecordEntry) -> Bool = { _ in true },
    keeps: (_ older: ContentDigest, _ newer: NamedRevision) -> Bool,
    visit: (VisitedObject) -> Void,
    fail: (VisitedObject, VaultError) -> Void, progress: (Int) -> Void
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
        let named = NamedRevision(revision, named: next.name)
        for previous in revision.previous
        where keeps(previous, named) && !seen.contains(previous)
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
  /// What is in an object that names others.
  ///
  /// - Throws: `missing`; `damaged`, also of one that may not stand there.
  fileprivate func content(
    of reference: ObjectReference, _ pages: PagesAhead?
  ) throws(VaultError) -> ObjectContent {
    let content: ObjectContent
    switch reference.kind {
    case .record: return .record(try revision(reference.digest))
    case .page:
      let load = pages?.page ?? loadPage
      content = .page(try load(reference.digest))
    case .index: content = .index(try loadIndex(reference.digest))
    case .chunk, .segment, .announcement, .authored: content = .end
    }
    do { try reference.check(content) } catch {
      throw VaultError(error, path: objects.path(of: reference.digest).string)
    }
    return content
  }

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
      ? "a record that is in no list here" : parts.reversed().joined(separator: "/")
  }
}
