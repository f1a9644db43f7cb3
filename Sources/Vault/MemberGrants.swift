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
  /// Whether this person's changes count. Everyone ignores what others write, so it is never written.
  package var mayWrite: Bool {
    context.removal == nil && register.grants.mayWrite(context.person)
  }

  /// Reads the grants again: someone may have been given access since.
  func reloadGrants() throws(VaultError) {
    let opening = MemberOpening(
      member: id, store: context.store, files: context.signedFiles, people: context.people,
      person: context.person, now: context.clock.milliseconds())
    register.access.replace(try opening.loadGrants())
  }
}
