import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// What becomes of a member whose owners have let people or devices out without knowing of each other: then those whom one
/// has let out have the key that the other has made. Docs/Format.md, "Which epoch is written under".
extension Member {
  /// Whether nothing may be written under the epoch in use any more. Never so while no owner could begin another one.
  package var isEpochSpent: Bool {
    let (links, keys) = (register.links, register.keys)
    let isSpent = links.trust.epochs.isSpent(epoch, in: links.history) { keys.epoch($0) != nil }
    return isSpent
      && links.access.owners.contains {
        context.people[$0]?.generation != nil && !links.trust.epochs.awaited.contains($0)
      }
  }

  /// - Throws: `epochSpent`.
  func requireUnspentEpoch() throws(VaultError) {
    if isEpochSpent { throw .epochSpent(member: id) }
  }

  /// Begins an epoch in the place of one that is spent, before this device of an owner writes anything else.
  ///
  /// - Throws: What stands against beginning one.
  func succeedSpentEpoch() throws(VaultError) {
    let hasBegun = try context.state.withLock("epochs-lock") { () throws(VaultError) in
      try context.reloadPeople()
      try reloadLinks()
      return try EpochBeginning.succeedSpent(of: self) { _ in }
    }
    if hasBegun { context.noteEpoch.withLock { $0 }?(id) }
  }

  /// Whether this device may begin epochs of the member by itself now. One without the key of its person's open generation
  /// could not open what it begins, would go on with the epoch before, and begin another one with each sync.
  var mayBeginEpoch: Bool {
    get throws(VaultError) {
      guard role == .owner, !register.links.trust.epochs.awaited.contains(context.person),
        let generation = try context.ownPerson().generation
      else { return false }
      return context.keys.identities.has(generation)
    }
  }

  /// Writes a head as `commitNothing` does, unless that is not possible now.
  ///
  /// - Returns: Whether it was written.
  func commitNothingIfPossible() throws(VaultError) -> Bool {
    try ifPossible { () throws(VaultError) in try commitNothing() } != nil
  }

  /// Writes what nobody has asked for. That has to wait until an owner has begun an epoch where the one in use is spent; and
  /// what comes under the lock of the commit may say that this person may write no more.
  ///
  /// - Returns: What `body` gives; nil where nothing may be written now.
  func ifPossible<Value>(
    _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value? {
    do { return try body() } catch {
      switch error {
      case .epochSpent, .viewersOnlyRead: return nil
      default: throw error
      }
    }
  }
}

extension Member {
  /// What is known only from late heads of epochs that have a wrap for keys of somebody whose closing has not come here, though
  /// others of theirs have. Whoever began such an epoch may know that somebody is out who reads what this device writes.
  func revisionsAwaitingClosings(_ heads: HeadsState) -> Set<ContentDigest> {
    let wraps = register.links.trust.epochs.wraps
    let awaiting = Set(wraps.filter { _, wraps in wraps.contains(where: isForUnknownKeys) }.keys)
    if awaiting.isEmpty { return [] }
    return heads.loaded.values.reduce(into: []) { found, head in
      guard let epoch = head.late, awaiting.contains(epoch), head.device != context.device.id else {
        return
      }
      found.formUnion(heads.broughtLate[head.device] ?? [])
    }
  }

  private func isForUnknownKeys(_ wrap: Wrap) -> Bool {
    context.people[wrap.person].map { $0.history.valid[wrap.generation] == nil } ?? false
  }
}
