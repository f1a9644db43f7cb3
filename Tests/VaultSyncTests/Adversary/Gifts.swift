import BlobStore
import TestSupport
import VaultModel
import VaultTrust

@testable import Vault

/// Access that the adversary gave with keys of somebody of whom not everybody had heard that they may not, or with an end of
/// their place that some machine met first. Whoever has not heard, or was misled so, rightly believes it, and gives whom it names the keys of the member: from then on they read what is written there until
/// it is heard.
struct Gifts {
  private struct Gift: Hashable {
    let member: MemberID
    let taker: PersonID
    /// Whose keys signed it.
    let giver: KeyHolder
    /// Everybody knew that these may not give anything, but for who was misled about who is an owner.
    let isNeverBelieved: Bool
  }

  private var gifts: Set<Gift> = []
  /// Links that were looked at.
  private var known: Set<BlobPath> = []
  /// Who has keys of a member from somebody honest who had not heard.
  private(set) var believed: [MemberID: Set<PersonID>] = [:]

  mutating func add(_ link: Link, by giver: KeyHolder, isNeverBelieved: Bool) {
    for case .give(let taker, _, _) in link.changes {
      gifts.insert(
        Gift(
          member: link.member, taker: taker, giver: giver, isNeverBelieved: isNeverBelieved))
    }
  }

  /// Members in which it gave something.
  var members: Set<MemberID> { Set(gifts.map(\.member)) }

  /// Whoever was misled also goes on trusting people with keys that these have from before.
  ///
  /// - Parameter hasAccess: Whether somebody has access to the member, as far as a machine knows that was misled.
  mutating func note(_ member: MemberID, hasAccess: (PersonID) -> Bool) {
    for gift in gifts where gift.member == member && hasAccess(gift.taker) {
      believed[member, default: []].insert(gift.taker)
    }
  }

  /// Looks at the honest links that are new in a folder: the one in which they were written, if every machine is looked at
  /// after each step.
  ///
  /// - Parameters:
  ///   - foreign: What the adversary has written.
  ///   - isHeard: Whether it stands in the folder that the keys of these are nobody's any more.
  ///   - isMisled: Whether the machine has met a wrong end of a place of the member first.
  mutating func note(
    _ store: MemoryStore, besides foreign: Set<BlobPath>,
    isHeard: (KeyHolder) -> Bool, isMisled: (MemberID) throws -> Bool
  ) throws {
    if gifts.isEmpty { return }
    for (path, bytes) in store.blobs {
      guard case .link(let member, _) = VaultPath(parsing: path.string), !foreign.contains(path),
        known.insert(path).inserted
      else { continue }
      let takers = try Set(Link(decoding: SignedFile(decoding: bytes).body).wraps.map(\.person))
      for gift in gifts where gift.member == member && takers.contains(gift.taker) {
        let isDisbelieved = gift.isNeverBelieved || isHeard(gift.giver)
        if try !isDisbelieved || isMisled(member) {
          believed[member, default: []].insert(gift.taker)
        }
      }
    }
  }
}
