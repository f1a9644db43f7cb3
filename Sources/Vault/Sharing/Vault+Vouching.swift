import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

extension Vault {
  /// For whom this person vouches: whom they know, who answered an invitation of theirs, and who is named in the members
  /// that show to them.
  package func vouching() throws(VaultError) -> Vouching {
    try vouching(by: personalProfile())
  }

  /// For whom this person vouches, as `vouching` says it; this machine remembers it for syncs without the keys.
  package func rememberedVouching() throws(VaultError) -> Vouching {
    let vouching = try vouching()
    let known = try context.state.loadVouching(of: person)
    if known?.people != vouching.people || known?.members != vouching.members, !isReadOnly {
      try context.state.storeVouching(vouching)
    }
    return vouching
  }

  func vouching(by profile: PersonalProfile) throws(VaultError) -> Vouching {
    let members = members
    var vouching = Vouching(
      own: person, people: profile.people.map(\.person), members: members.map(\.id))
    for answers in try answersToOpenInvitations() { vouching.note(answers: answers) }
    vouching.judge(members.map(\.register.links.history))
    return vouching
  }

  /// What keeps people from being given keys, or does not count of what they are said to have signed: of those for whom this
  /// person vouches, as anybody can make up others.
  func problems(of people: People) throws(VaultError) -> [Problem] {
    let all = people.persons.values.sorted { $0.id < $1.id }
      .map { (person: $0.id, problems: $0.problems) }.filter { !$0.problems.isEmpty }
    if all.isEmpty { return [] }
    let vouching = try vouching()
    return all.filter { vouching.carries($0.person) }.flatMap { $0.problems }
  }

  /// The members of which files are here and that do not show to this person, by who made them. One whose root does not
  /// hold is nobody's.
  package func unopenedMembers() throws(VaultError) -> [PersonID: [MemberID]] {
    let entries = try storing(context.store.list("members"))
    var unopened: [PersonID: [MemberID]] = [:]
    for id in entries.compactMap({ MemberID(hex: $0.name) }) where member(id) == nil {
      guard let links = try ifWhole(context.opening(of: id).loadLinks()) else { continue }
      unopened[links.creator, default: []].append(id)
    }
    return unopened
  }

  /// Which of these people, of whom nothing else need be here, show by their introductions that they know the secret of an
  /// invitation of this person's that is still open; by invitation.
  package func answers(
    in introductions: [PersonID: [UInt8]]
  ) throws(VaultError) -> [[PersonID]] {
    if introductions.isEmpty { return [] }
    return try openInvitations(now: context.clock.milliseconds()).map { invitation in
      introductions.filter { isAnswer($0.value, of: $0.key, to: invitation) }.map(\.key)
    }
  }

  private func isAnswer(
    _ file: [UInt8], of other: PersonID, to invitation: OpenInvitation
  ) -> Bool {
    guard let secret = invitation.secret else { return false }
    let key = InvitationSecret(secret).sealingKey(inviter: person, binding: context.binding)
    do {
      let body = try IntroductionBody(decoding: SignedFile(decoding: file).body)
      guard body.person == other, body.invitation == invitation.id else { return false }
      _ = try context.signedFiles.open(
        body.sealed, with: key, .introduction, .introduction(other), counter: 0)
      return true
    } catch {
      // Anybody can put a file there: it is an answer if it opens.
      return false
    }
  }
}
