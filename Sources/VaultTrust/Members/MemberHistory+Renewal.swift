import VaultModel

/// Members that were made anew, as a senior owner is lost for good: Docs/Format.md, section 16, "A member made anew".
extension MemberHistory {
  /// Whether a member with this root is this one, made anew by somebody who is an owner of this one. What an editor names,
  /// or an owner who was taken out, is a member like any other.
  package func isRenewed(by root: MemberRoot) -> Bool {
    root.renews == member && !seats(of: root.person).isEmpty
  }

  /// Of these people those whose access this owner cannot take: for one of them a member is made anew.
  package func seniors(of owner: PersonID, among people: Set<PersonID>) -> Set<PersonID> {
    people.filter { access.includes($0) && !mayTake($0, by: owner) }
  }
}
