import MachineState
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// How people give up what they may do with a member. Docs/Format.md, "Links and epochs".
extension Vault {
  /// Gives this person's access to a member up, and closes the member here. An owner's next sync changes its keys.
  ///
  /// Durable when it returns. Keys that this person was given open what was encrypted until then, for whoever has them.
  ///
  /// - Throws: `readOnly`; `lastOwner` when nobody else would be left who can share; `noAccess` when there is none.
  package func leave(_ member: Member) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    try member.reloadLinks()
    guard member.role != nil else { throw .noAccess(member: member.id) }
    guard !member.isOwnedOnly(by: person) else { throw .lastOwner(member: member.id) }
    // What is known only here goes with this device's head, which goes on counting.
    if member.mayWrite { _ = try member.commitNothingIfPossible() }
    let own = try context.ownPerson()
    let heads = member.knownCounters.filter { own.devices[$0.key] != nil }
      .map { LastHead(device: $0.key, counter: $0.value) }
    try LinkWriter.begin(member.register.links, context).leave(heads: heads)
    // Who may only read writes no head beside the link, by which others would find it.
    try renewRegister()
    try member.reloadLinks()
    audit.note(.revoke, member: member.id, detail: "left")
    try forget(member)
  }

  /// Members of which this person is the only owner who stays.
  package func membersOwnedAlone() throws(VaultError) -> [Member] {
    try context.reloadPeople()
    var found: [Member] = []
    for member in members where try reloadLinks(of: member) && member.isOwnedOnly(by: person) {
      found.append(member)
    }
    return found
  }

  /// Closes a member that this person has left, and removes what this machine keeps of it outside of the vault folder.
  private func forget(_ member: Member) throws(VaultError) {
    try context.state.withLock("epochs-lock") { () throws(VaultError) in
      try PendingEpoch.remove(of: member.id, state: context.state)
    }
    _ = try refreshMembers()
  }
}

extension Member {
  /// Whether heads of somebody who has left go on counting, as their leaving says. An owner who takes them out ends that.
  package func followsHeads(afterLeaving person: PersonID) -> Bool {
    register.links.history.followsHeads(afterLeaving: person)
  }

  /// Nothing has ever stood in it, and nobody but this person has access: as what `mkdir` in a mount has made by mistake.
  package var isUnused: Bool {
    get throws(VaultError) {
      guard entry(.root)?.isBare ?? false, allEntries().count == 1 else { return false }
      return try accesses().allSatisfy { $0.person == context.person }
    }
  }

  /// Whether the person is an owner, and no other owner stays.
  fileprivate func isOwnedOnly(by person: PersonID) -> Bool {
    let owners = register.links.access.owners
    return owners.contains(person) && owners.allSatisfy { $0 == person }
  }
}
