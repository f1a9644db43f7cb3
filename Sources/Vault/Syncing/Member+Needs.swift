import VaultErrors
import VaultModel
import VaultObjects

/// An object that records of a member are made of.
package struct NeededObject: Hashable, Sendable {
  package var digest: ContentDigest
  package var kind: ObjectKind
  /// How many bytes of content are needed of it; 0 where only its own decoding tells.
  package var contentByteCount: Int
  /// Only an older revision needs it.
  package var isOnlyInHistory: Bool

  package init(
    digest: ContentDigest, kind: ObjectKind, contentByteCount: Int = 0,
    isOnlyInHistory: Bool = false
  ) {
    self.digest = digest
    self.kind = kind
    self.contentByteCount = contentByteCount
    self.isOnlyInHistory = isOnlyInHistory
  }
}

extension Member {
  /// Everything that these records need, now and in their kept history, each object once.
  ///
  /// What has to be read on the way and cannot be is needed too; what stands below it is not known and left out. An
  /// older revision that is missing was collected, and nobody needs it.
  ///
  /// - Parameters:
  ///   - keeps: Whether a revision that another one has replaced is still kept where they are needed: with one that is not,
  ///     history ends there.
  ///   - unread: Called with each failure of the machine to read something on the way, which may be whole: what it needs is not
  ///     known for now.
  package func neededObjects(
    where isWanted: (RecordEntry) -> Bool = { _ in true },
    keeping keeps: (_ older: ContentDigest) -> Bool = { _ in true },
    unread: (VaultError) -> Void
  ) -> [NeededObject] {
    walkNeeded(where: isWanted, keeps: { older, _ in keeps(older) }, unread: unread)
  }

  /// The same of all records, and the versions that stand-ins have replaced: where somebody still had one, it may be brought back.
  ///
  /// - Parameter unread: As of `neededObjects`.
  /// - Returns: All of it, and which of it are such versions, whether or not they are here.
  package func neededObjectsAndLostVersions(
    unread: (VaultError) -> Void
  ) -> (all: [NeededObject], lost: Set<ContentDigest>) {
    var lost: Set<ContentDigest> = []
    let needed = walkNeeded(
      where: { _ in true },
      keeps: { older, newer in
        if newer.revision.lossMark?.lost == older { lost.insert(older) }
        return true
      }, unread: unread)
    let others = lost.subtracting(needed.map(\.digest)).sorted().map {
      NeededObject(digest: $0, kind: .record, isOnlyInHistory: true)
    }
    return (needed + others, lost)
  }

  /// What the revision of an entry needs and is missing or damaged here, as far as that is known: what an object names that is
  /// not here shows once it is. Chunks are not opened; of a lazy vault they are not asked for.
  package func lacking(of entry: RecordEntry) throws(VaultError) -> Set<ContentDigest> {
    var lacking: Set<ContentDigest> = []
    var chunks: Set<ContentDigest> = []
    _ = MemberWalk(member: self).walk(
      revision: entry.revision, of: entry.record, isOnlyInHistory: false,
      visit: { object in if object.kind == .chunk { chunks.insert(object.digest) } },
      fail: { object, _ in lacking.insert(object.digest) })
    guard context.lazy == nil else { return lacking }
    for chunk in chunks where try !objects.isPresent(chunk) { lacking.insert(chunk) }
    return lacking
  }

  private func walkNeeded(
    where isWanted: (RecordEntry) -> Bool,
    keeps: (_ older: ContentDigest, _ newer: NamedRevision) -> Bool,
    unread: (VaultError) -> Void
  ) -> [NeededObject] {
    var found: [ContentDigest: NeededObject] = [:]
    func note(_ reference: VisitedObject) {
      if let known = found[reference.digest], !known.isOnlyInHistory { return }
      found[reference.digest] = NeededObject(
        digest: reference.digest, kind: reference.kind,
        contentByteCount: reference.contentByteCount ?? 0,
        isOnlyInHistory: reference.isOnlyInHistory)
    }
    let walk = MemberWalk(member: self)
    walk.walkAll(
      where: isWanted, keeps: keeps, visit: note,
      fail: { reference, error in
        note(reference)
        if error.isOfTheMachine { unread(error) }
      }, progress: { _ in })
    return found.values.sorted { $0.digest < $1.digest }
  }

  /// The replaced revisions, and those of deleted records, that need one of these contents.
  package func historyNeeding(_ contents: Set<ContentDigest>) -> Set<ContentDigest> {
    if contents.isEmpty { return [] }
    var found: Set<ContentDigest> = []
    var revision: ContentDigest?
    MemberWalk(member: self).walkAll(
      keeps: { _, _ in true },
      visit: { object in
        // A revision comes before all that it needs.
        if object.kind == .record { revision = object.digest }
        guard object.isOnlyInHistory, contents.contains(object.digest), let revision else { return }
        found.insert(revision)
      }, fail: { _, _ in }, progress: { _ in })
    return found
  }
}
