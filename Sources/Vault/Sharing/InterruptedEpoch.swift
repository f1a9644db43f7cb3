import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// New keys of a member whose making was interrupted on this machine: until it goes on, whoever is to have no access
/// has it still.
package struct InterruptedEpoch: Hashable, Sendable {
  package var member: MemberID
  /// Who is to have no access any more; nobody where all get new keys.
  package var without: [PersonID]
  /// Whether a disk has lost whose access was to end: then it is made for everyone who has access.
  package var isTorn: Bool
  /// How many objects there are to be encrypted anew, at most.
  package var objectCount: Int
  /// How many of them are left.
  package var leftCount: Int
}

extension Vault {
  /// What `resumeEpochs` goes on with, and the members of which that cannot be told.
  package func interruptedEpochs() -> MemberByMember<InterruptedEpoch> {
    var found = MemberByMember<InterruptedEpoch>()
    for member in members {
      found.add(member) { (all) throws(VaultError) in
        if let epoch = try member.interruptedEpoch() { all.append(epoch) }
      }
    }
    return found
  }
}

extension Member {
  /// Reads the beginning of every object of the member, if there is anything to be told.
  func interruptedEpoch() throws(VaultError) -> InterruptedEpoch? {
    guard let memory = try PendingEpoch.load(of: id, state: context.state),
      !memory.stands(in: register.links)
    else { return nil }
    let current = register.keys.current.keyID
    let new = try keyID(of: memory)
    var (objectCount, doneCount) = (0, 0)
    for (name, _) in try objects.listed() {
      do {
        switch try objects.keyID(of: name) {
        case current: objectCount += 1
        case new: doneCount += 1
        default: break
        }
      } catch {
        guard error.isDamage else { throw error }
      }
    }
    return InterruptedEpoch(
      member: id, without: memory.without.sorted(), isTorn: memory.isTorn, objectCount: objectCount,
      leftCount: max(0, objectCount - doneCount))
  }

  /// Nil when what was begun is begun anew, since it was sealed with a key of before, or the key cannot be read.
  private func keyID(of memory: PendingEpoch.Memory) throws(VaultError) -> KeyID? {
    guard case .epoch(let pending) = memory else { return nil }
    do {
      let key = try pending.openKey(
        of: id, sealingKey: context.keys.profileKey, state: context.state)
      return EpochKeys(key, member: id, binding: context.binding).keyID
    } catch {
      guard case .damaged = error else { throw error }
      return nil
    }
  }
}
