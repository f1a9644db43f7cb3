import Synchronization
import VaultModel

/// The grants of one member as they were last read, shared by all that judge its heads.
final class MemberGrants: Sendable {
  private let latest: Mutex<GrantChain>

  init(_ chain: GrantChain) { latest = Mutex(chain) }

  var chain: GrantChain { latest.withLock { $0 } }

  func replace(_ chain: GrantChain) { latest.withLock { $0 = chain } }
}

extension Member {
  /// Whether this person made the member.
  package var isOwn: Bool { register.grants.creator == context.person }

  /// Whether this person's changes count. Everyone ignores what others write, so it is never written.
  package var mayWrite: Bool {
    guard context.removal == nil else { return false }
    return switch role {
    case .owner, .editor: true
    case .viewer, nil: false
    }
  }

  /// Reads the grants again: someone may have been given access since, or a new epoch begun.
  func reloadGrants() throws(VaultError) {
    try heads.withLock { (heads) throws(VaultError) in
      try loadGrants()
      _ = try followEpoch(&heads)
    }
    try noteEpoch()
    if try settleGrantCopies() { try reloadGrants() }
  }

  /// The same for who holds `heads` and sees to it that what is known follows the epoch.
  ///
  /// When this person has no access any more the keys stay as they were, so that what is open can be closed.
  func loadGrants() throws(VaultError) {
    let opening = MemberOpening(
      member: id, store: context.store, files: context.signedFiles, people: context.people,
      person: context.person, now: context.clock.milliseconds(),
      seen: try context.state.loadWatermarks().epoch(of: id))
    let before = register.grants.current
    let chain = try opening.loadGrants()
    if chain.current != before, chain.ownRole(of: context.person, now: opening.now) != nil {
      register.keys.replace(by: try opening.open(identities: context.keys.identities).keys)
    }
    register.access.replace(chain)
  }

  /// Remembers which epoch is current here, so that no one can lead this machine back behind it. The commit lock may
  /// not be held.
  func noteEpoch() throws(VaultError) {
    guard !context.isReadOnly, let current = register.grants.current else { return }
    guard try context.state.loadWatermarks().epoch(of: id) != current, current.number > 1 else {
      return
    }
    try context.state.withCommitLock { () throws(VaultError) in
      try context.state.updateWatermarks(durably: true) { $0.note(current, of: id) }
    }
  }
}
