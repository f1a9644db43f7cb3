import BlobStore
import Glibc
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

import struct SystemPackage.FilePath

/// How objects of older epochs go away once nothing names them. Docs/Format.md, "Links and epochs".
extension Vault {
  /// Removes the objects of older epochs that nothing needs any more from this machine, and remembers to remove them
  /// from every remote that it knows.
  ///
  /// Does nothing while someone may still need one of them: a late head that was not taken over, another program of
  /// this machine that serves a mount or syncs, or whoever `keepOldObjects` asks. Leaves what may have come ahead of a late head.
  ///
  /// - Parameter remote: The one that the caller holds the lock of.
  /// - Returns: What has failed.
  package func removeOldObjects(whileSyncing remote: RemoteName? = nil) -> [MemberFailure] {
    guard !isReadOnly else { return [] }
    var failures: [MemberFailure] = []
    // What is damaged could not even be refreshed: nothing of it goes until it is mended.
    for member in members
    where member.damageReason == nil && member.register.links.trust.epochs.ranking.count > 1 {
      do {
        try removeOldObjects(of: member, whileSyncing: remote)
        try member.removeOldWraps()
      } catch {
        failures.append(MemberFailure(member.id, error))
      }
    }
    return failures
  }

  /// Has `isNeeded` asked whether someone in this process may still read objects of a member's older epochs.
  package func keepOldObjects(while isNeeded: @escaping @Sendable (Member) -> Bool) {
    oldObjectUser.withLock { $0 = isNeeded }
  }

  private func removeOldObjects(
    of member: Member, whileSyncing remote: RemoteName?
  ) throws(VaultError) {
    let now = member.context.clock.milliseconds()
    guard member.mayHaveOldObjects(at: now) else { return }
    _ = try member.refresh()
    guard !member.hasLateHeads, !member.isEpochSpent, member.damageReason == nil,
      !member.holdsBack,
      try !state.hasMountElsewhere(),
      oldObjectUser.withLock({ $0 })?(member) != true,
      try PendingEpoch.load(of: member.id, state: state) == nil
    else { return }
    let mark = member.lookForOldObjects
    let remotes = try RemoteRegistry(state: state).names()
    guard let found = try member.oldObjects() else { return }
    let old = try member.withoutWhatCameAhead(found)
    if !old.isEmpty {
      let others = remotes.filter { $0 != remote }
      _ = try state.withoutSyncs(of: others[...]) { () throws(VaultError) -> Void in
        let lists = (remotes + (remote.map { [$0] } ?? [])).map {
          RemoteRemovals(of: member.id, on: $0, state: state)
        }
        try member.removeOld(old) { () throws(VaultError) in
          for list in lists { try list.add(old) }
        }
      }
    }
    guard let left = try member.oldObjects(), try member.withoutWhatCameAhead(left).isEmpty else {
      return
    }
    member.state.withLock {
      $0.lastLookForOldObjects = mark
      $0.oldObjectsWaitUntil = left.isEmpty ? nil : now + Member.headDelay
    }
  }
}

extension Member {
  /// The wraps that nobody needs any more: those of epochs that are over, and of which no head is here that counts, of somebody who
  /// may still write. Empty while a late head has to be taken over, or something is on its way.
  package var unneededWraps: Set<VaultPath> {
    let epochs = register.links.trust.epochs
    guard damageReason == nil, !hasLateHeads, epochs.current == epoch else { return [] }
    // A head that was taken over stays for as long as its machine is away, and a machine that is new reads it as well. That of
    // somebody who may not write any more stays for ever.
    let standing = Set(takenOverOfWriters.compactMap(\.late))
    let needed = standing.flatMap { epochs.wraps[$0] ?? [] }.map {
      VaultPath.epochWrap(id, $0.file)
    }
    return register.links.wrapsThatAreOver.subtracting(needed)
  }

  /// Removes them here once no objects of those epochs are left; remotes follow with the next sync. Machines that have
  /// opened one keep it in their state.
  fileprivate func removeOldWraps() throws(VaultError) {
    let look = lookForOldObjects
    // A head that is on its way opens with them.
    guard state.withLock({ $0.lastLookForOldObjects == look && $0.oldObjectsWaitUntil == nil })
    else { return }
    let unneeded = unneededWraps
    if unneeded.isEmpty { return }
    let folder = BlobPath("members/\(id.hex)/wraps")
    let listed = try storing(context.store.list(folder))
    let here = listed.filter { entry in
      VaultPath(parsing: folder.appending(entry.name).string).map(unneeded.contains) ?? false
    }
    if here.isEmpty { return }
    try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        guard try isAllKnown(&heads) else { return }
        for entry in here {
          let path = folder.appending(entry.name)
          try storing(context.store.remove(path))
        }
      }
    }
  }
}

extension Member {
  /// What the last look for old objects was about: where that has not changed there are none.
  struct OldObjectLook: Hashable, Sendable {
    var epoch: StatementID
    var takenOver: [DeviceID: UInt64]
  }

  fileprivate var lookForOldObjects: OldObjectLook {
    OldObjectLook(
      epoch: epoch, takenOver: heads.withLock { $0.takenOver.mapValues(\.counter) })
  }

  /// Whether there may be some: something has changed since the last look, or what that left has waited long enough.
  fileprivate func mayHaveOldObjects(at now: UInt64) -> Bool {
    let look = lookForOldObjects
    return state.withLock { state in
      state.lastLookForOldObjects != look || state.oldObjectsWaitUntil.map { $0 <= now } ?? false
    }
  }

  /// Leaves out what may have come ahead of a late head: what came a short while ago and holds no content that is known here,
  /// while a device of somebody who may write has no head that is followed.
  fileprivate func withoutWhatCameAhead(
    _ names: [ObjectName]
  ) throws(VaultError) -> [ObjectName] {
    guard hasWritersWithoutHead else { return names }
    var ahead: Set<ObjectName> = []
    for name in names where try hasJustCome(name) { ahead.insert(name) }
    if ahead.isEmpty { return names }
    let objects = self.objects
    MemberWalk(member: self).walkAll(
      keeps: { _, _ in true }, visit: { ahead.subtract(objects.names(of: $0.digest)) },
      fail: { _, _ in }, progress: { _ in })
    return names.filter { !ahead.contains($0) }
  }

  /// The objects here that are not sealed with the current epoch's key and that nothing needs, once all that is needed was
  /// put under that key; nil while that cannot be told, because something cannot be read. Without what late heads name that
  /// were taken over, of devices that may go on from there.
  func oldObjects() throws(VaultError) -> [ObjectName]? {
    let current = register.keys.current.keyID
    var old: Set<ObjectName> = []
    for (name, _) in try objects.listed() {
      // What tells no key is not for us to judge.
      if let key = try ifWhole(objects.keyID(of: name)), key != current { old.insert(name) }
    }
    old.subtract(heads.withLock { objectsOfTakenOver($0) }.flatMap(objects.names))
    if !old.isEmpty { try sealAnewWhatIsLeft() }
    return try unneeded(old)
  }

  /// Puts what records need and what stands under other keys only under those in use. What is damaged stays as it is.
  private func sealAnewWhatIsLeft() throws(VaultError) {
    var left: [VisitedObject] = []
    MemberWalk(member: self).walkAll(
      keeps: { _, _ in true }, visit: { left.append($0) }, fail: { _, _ in }, progress: { _ in })
    // What was replaced comes before what replaced it: history ends where the older one is not under these keys.
    try objects.placing { (arrivals) throws(VaultError) in
      for reference in left.reversed() where try !objects.isPresentNow(reference.digest) {
        do throws(VaultError) {
          let content = try objects.placedContent(reference.digest, kind: reference.kind)
          _ = try objects.write(
            reference.kind, content, under: register.keys.current, with: arrivals)
        } catch {
          // A lazy vault keeps it elsewhere, or nobody has it whole.
          guard error.isDamage else { throw error }
        }
      }
    }
  }

  /// Removes these once `remember` has returned, unless something changed meanwhile.
  fileprivate func removeOld(
    _ names: [ObjectName], _ remember: () throws(VaultError) -> Void
  ) throws(VaultError) {
    try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        guard try isAllKnown(&heads) else { return }
        try remember()
        try removeObjects(names)
      }
    }
  }
}
