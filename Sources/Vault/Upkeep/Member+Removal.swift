import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects

/// How objects that nothing names leave this machine. Docs/Format.md, "Removing objects".
extension Member {
  /// Removes objects: record revisions first, since what is left of one when this is cut short would look like damage,
  /// and one that is gone does not. The caller holds the commit lock, and knows that nothing names them.
  ///
  /// - Parameter limit: No more than so many, of which none is a part of a revision that stays.
  func removeObjects(_ names: [ObjectName], atMost limit: Int = .max) throws(VaultError) {
    var (first, rest): ([ObjectName], [ObjectName]) = ([], [])
    for name in names {
      if try objects.isRevision(name) { first.append(name) } else { rest.append(name) }
    }
    let failures = context.failedBarriers
    try remove(first.prefix(limit))
    if !first.isEmpty { try context.barrier(since: failures) }
    try remove(rest.prefix(limit - min(limit, first.count)))
  }

  private func remove(_ names: ArraySlice<ObjectName>) throws(VaultError) {
    for name in names { try objects.withdraw(name) }
    // What is decoded is known by its digest.
    revisions.withLock { $0.removeAll() }
  }

  /// An epoch is being begun, or one that has come was not taken over yet: what is being sealed anew is named by nothing,
  /// and what is late by a head that is not taken over.
  var isBetweenEpochs: Bool {
    get throws(VaultError) {
      if hasLateHeads || isEpochSpent { return true }
      return try PendingEpoch.load(of: id, state: context.state) != nil
    }
  }

  /// Whether nothing has changed meanwhile, and nobody's head, late or still to come, can need what is to be removed. The
  /// caller holds the commit lock.
  func isAllKnown(_ heads: inout HeadsState) throws(VaultError) -> Bool {
    guard try catchUp(&heads).isEmpty, !hasLateHeads, try !hasHeadsToCome(heads) else {
      return false
    }
    // A head of which something is still on its way here may need it.
    return try register.files().allSatisfy { heads.seen[$0.device] != nil }
  }

  /// Whether it is known here what of the member is needed: heads that are not followed, entries that wait, what is held back,
  /// heads that are to come and those that are gone may need what nothing else names.
  var knowsWhatIsNeeded: Bool {
    get throws(VaultError) {
      guard damageReason == nil, !hasLinesApart, !holdsEntries, !holdsBack else { return false }
      if try hasHeadsToCome { return false }
      return try lostHeads().allSatisfy { $0.severity < .damage }
    }
  }

  /// Those of the objects that nothing names: no head, also none that was taken over of a device that may go on from it; no
  /// record, no revision that is kept. Nil while that cannot be told, because something cannot be read, or a version of this
  /// device's that is hidden needs what nothing names. What a content is that stands under none of the keys in use yet, the
  /// object under other keys is needed.
  package func unneeded(
    _ names: some Sequence<ObjectName>, by isWanted: (RecordEntry) -> Bool = { _ in true }
  ) throws(VaultError) -> [ObjectName]? {
    var left = Set(names)
    if left.isEmpty { return [] }
    if hasHiddenVersions { return nil }
    var failure: VaultError?
    func need(_ digest: ContentDigest) {
      let names = objects.names(of: digest)
      left.remove(names[0])
      guard !left.isDisjoint(with: names) else { return }
      do {
        if try !objects.isPresent(names[0]) { left.subtract(names) }
      } catch {
        failure = error
      }
    }
    let isWhole = visitNamed(by: isWanted, need)
    heads.withLock { $0.namedObjects.union(objectsOfTakenOver($0)) }.forEach(need)
    if let failure { throw failure }
    return isWhole ? left.sorted() : nil
  }

  /// Those of the contents that nothing names; nil while that cannot be told, as above.
  func unneeded(
    _ digests: Set<ContentDigest>, by isWanted: (RecordEntry) -> Bool = { _ in true }
  ) -> Set<ContentDigest>? {
    if hasHiddenVersions { return nil }
    return unnamed(digests, by: isWanted)?.subtracting(heads.withLock { $0.namedObjects })
  }

  /// Those of the contents that nothing names, found without looking at the heads: the caller may hold their lock.
  func unnamed(
    _ digests: Set<ContentDigest>, by isWanted: (RecordEntry) -> Bool
  ) -> Set<ContentDigest>? {
    var left = digests
    if left.isEmpty { return [] }
    return visitNamed(by: isWanted) { left.remove($0) } ? left : nil
  }

  /// Visits every content that records name, as often as it is named.
  ///
  /// - Returns: Whether all of them could be looked into.
  private func visitNamed(
    by isWanted: (RecordEntry) -> Bool, _ visit: (ContentDigest) -> Void
  ) -> Bool {
    var isWhole = true
    MemberWalk(member: self).walkAll(
      where: isWanted, keeps: { _, _ in true }, visit: { visit($0.digest) },
      fail: { _, _ in isWhole = false }, progress: { _ in })
    return isWhole
  }
}

extension StateFolder {
  /// Runs `body` while nobody syncs one of these: a sync brings objects before the head that names them.
  ///
  /// - Returns: What it returns; nil, and it did not run, while somebody does.
  func withoutSyncs<Value>(
    of remotes: ArraySlice<RemoteName>, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value? {
    guard let first = remotes.first else { return try body() }
    let lock = try lockRemote(first)
    guard lock.isHeld else { return nil }
    let value = try withoutSyncs(of: remotes.dropFirst(), body)
    withExtendedLifetime(lock) {}
    return value
  }
}

extension HeadsState {
  /// What the heads that count name themselves.
  var namedObjects: Set<ContentDigest> {
    loaded.values.reduce(into: []) { $0.formUnion($1.head.namedObjects) }
  }

  /// What says which objects devices mean to remove, besides this one.
  func announcements(besides device: DeviceID) -> Set<ContentDigest> {
    Set(loaded.values.filter { $0.device != device }.compactMap(\.head.announcement))
  }
}

extension ObjectStore {
  /// Whether the object's header calls it a record revision; false when it has no header that can be read, or is gone.
  fileprivate func isRevision(_ name: ObjectName) throws(VaultError) -> Bool {
    try ifWhole(kind(of: name)) == .record
  }
}

extension Head {
  /// What it names itself.
  var namedObjects: Set<ContentDigest> {
    Set(segments + authored).union(announcement.map { [$0] } ?? [])
  }
}
