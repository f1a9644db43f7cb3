import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A member that somebody has given this person whom nothing but the folder vouches for. It stays out of sight, in lists
/// and in the mount, until this person has verified the giver or says that they want it.
package struct OfferedMember: Sendable {
  package struct Gift: Hashable, Sendable {
    package var giver: PersonID
    /// Milliseconds since 1970, by the giver's clock.
    package var time: UInt64
  }

  package let member: Member
  /// The first of each giver, by time.
  package let gifts: [Gift]
  /// The member here that one of its owners has made anew as this one; nil for most. It may be an owner of whom nothing else is
  /// known.
  package let renews: Member?
  /// Who has access to the member that this one renews, and not to this one.
  package let without: [PersonID]
}

extension Vault {
  /// The members that wait for this person's yes, by name.
  package var offeredMembers: [OfferedMember] {
    openedMembers.filter { isOffered($0.id) }.map { member in
      let old = renewed(by: member)
      let had = old?.register.links.access.entitlements.keys.sorted() ?? []
      return OfferedMember(
        member: member, gifts: member.gifts, renews: old,
        without: had.filter { !member.register.links.access.includes($0) })
    }
  }

  /// Shows a member from now on, on this machine, whoever gave it. One that was made anew takes the name of the old one.
  ///
  /// - Throws: `notFound` when none is offered under this id.
  package func accept(_ id: MemberID) throws(VaultError) {
    guard isOffered(id), let member = member(id) else {
      throw .notFound(what: "an offered member \(id.shortHex)")
    }
    if let old = renewed(by: member) {
      try passName(from: old.id, to: member)
    }
    withdrawOffer(id)
    _ = shownNames
    audit.note(.share, member: id, detail: "accepted")
  }

  /// Which of the opened members wait for a yes: those that never showed here, and whose maker and givers are all
  /// unverified. Where the maker is verified, so is whoever they let share it on. And those that would take the place of
  /// another one.
  func sortOutOffers() throws(VaultError) {
    let new = openedMembers.filter {
      (!$0.isOwn || waitsAsRenewal($0)) && memberNames.name(of: $0.id) == nil
    }
    if new.isEmpty {
      offer([])
      return
    }
    // Another process may have accepted one.
    memberNames.readAgain()
    let verified = try verifiedPeople()
    offer(
      Set(
        new.filter { member in
          memberNames.name(of: member.id) == nil
            && (waitsAsRenewal(member) || !verified.contains(where: member.comesFrom))
        }.map(\.id)))
  }

  /// This person, whom they have verified, and whoever alone has answered an invitation of theirs.
  private func verifiedPeople() throws(VaultError) -> Set<PersonID> {
    let known = try personalProfile().people.filter { $0.verification != .trustedOnFirstUse }
    return Set(known.map(\.person)).union(try answeringPeople()).union([person])
  }
}

extension Member {
  /// Whether the person made the member, or gave access to this one.
  func comesFrom(_ person: PersonID) -> Bool {
    register.links.creator == person || gifts.contains { $0.giver == person }
  }

  /// Who gave this person access, ever, and when first.
  var gifts: [OfferedMember.Gift] {
    let mine = register.links.history.everGiven(to: context.person)
    return Dictionary(mine.map { ($0.giver, $0.time) }, uniquingKeysWith: min)
      .map { OfferedMember.Gift(giver: $0.key, time: $0.value) }
      .sorted { ($0.time, $0.giver) < ($1.time, $1.giver) }
  }
}
