import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// An invitation that several people have answered: its secret is known to others than the one who was invited.
package struct ContestedInvitation: Sendable {
  /// Who proved to know the secret, and what they call themselves.
  package struct Answer: Sendable {
    package var person: PersonID
    package var name: String
  }

  /// When it was made, in milliseconds since 1970.
  package var created: UInt64
  /// Who was taken for the one that was invited, before another one answered.
  package var taken: PersonID?
  package var answers: [Answer]
  /// With whom of them this person has compared words.
  package var verified: PersonID?
}

extension Vault {
  /// How long an invitation can be answered.
  private static let invitationDays: UInt64 = 14

  /// Makes an invitation for one person, which this person's devices remember until it is answered, or two weeks.
  ///
  /// - Parameter remote: Where the one who joins can get a copy of the vault; empty when the folder is handed over.
  /// - Throws: `readOnly`; `limit` for an address of more than 255 bytes; what writing the device's register throws.
  package func invite(remote: String = "") throws(VaultError) -> Invitation {
    guard remote.utf8.count <= Invitation.textLimit else {
      throw .limit(
        what: "the remote's address", found: remote.utf8.count, limit: Invitation.textLimit)
    }
    let secret = randomBytes(OpenInvitation.secretByteCount)
    let now = context.clock.milliseconds()
    let open = OpenInvitation(
      id: InvitationSecret(secret).id(binding: context.binding), secret: secret, created: now,
      until: now + Self.invitationDays * CivilTime.dayMilliseconds, time: now)
    var name = ""
    try changePersonalProfile { profile in
      profile.note(open)
      name = profile.name
    }
    audit.note(.share, detail: "invitation")
    return Invitation(
      vault: id, inviter: person,
      inviterName: name.utf8.count <= Invitation.textLimit ? name : "", remote: remote,
      secret: secret)
  }

  /// Takes in who answered this person's invitations since, as invited in person.
  ///
  /// When two people show that they know one secret it was no secret: neither is taken in, and `problems` and
  /// `contestedInvitations` say so. Once this person has compared words with one of them, the invitation is that one's,
  /// also if another one answered first and was taken in.
  ///
  /// - Returns: Who joined.
  /// - Throws: What reading the people's files throws, and writing the device's register.
  @discardableResult
  package func acceptIntroductions() throws(VaultError) -> [PersonID] {
    guard !isReadOnly else { return [] }
    let now = context.clock.milliseconds()
    let invitations = try invitations(now: now)
    if invitations.isEmpty { return [] }
    try context.reloadPeople()
    var accepted: [Acquaintance] = []
    var answered: [OpenInvitation] = []
    var mistaken: Set<PersonID> = []
    for invitation in invitations {
      guard let answer = try answerToTake(to: invitation) else { continue }
      if let taken = invitation.answeredBy { mistaken.insert(taken) }
      accepted.append(
        Acquaintance(
          person: answer.person, name: answer.name, verification: .invitedInPerson, time: now))
      var used = invitation
      (used.answeredBy, used.time) = (answer.person, now)
      answered.append(used)
    }
    if accepted.isEmpty { return [] }
    try changePersonalProfile { profile in
      for invitation in answered { profile.note(invitation) }
      for acquaintance in accepted {
        let known = profile.people.first { $0.person == acquaintance.person }
        if known?.verification != .wordsCompared { profile.note(acquaintance) }
      }
      for var known in profile.people
      where mistaken.contains(known.person) && known.verification == .invitedInPerson {
        (known.verification, known.time) = (.trustedOnFirstUse, now)
        profile.note(known)
      }
    }
    return accepted.map(\.person)
  }

  /// Whose an invitation is from now on; nil where it stays as it is. Notes where several people have answered it.
  private func answerToTake(
    to invitation: OpenInvitation
  ) throws(VaultError) -> ContestedInvitation.Answer? {
    let answers = try answers(to: invitation)
    let verified = try verified(among: answers)
    guard let answer = verified ?? answers.first else { return nil }
    guard answers.count == 1 || verified != nil else {
      for answer in answers {
        note(
          Problem(
            .untrusted, .warning, path: VaultPath.introduction(answer.person).string,
            reason: "several people answered one invitation, so its secret is known to others; "
              + "compare words with whoever you invited"))
      }
      return nil
    }
    // Who answers later is nobody without words, also where the files of the first one are gone.
    if let taken = invitation.answeredBy, verified == nil || taken == answer.person { return nil }
    return answer
  }

  /// The invitations of which it is not known whose they are, since several people have answered them.
  package func contestedInvitations() throws(VaultError) -> [ContestedInvitation] {
    try invitationsThatSeveralAnswered().filter { $0.verified == nil }
  }

  private func invitationsThatSeveralAnswered() throws(VaultError) -> [ContestedInvitation] {
    let invitations = try invitations(now: context.clock.milliseconds())
    if invitations.isEmpty { return [] }
    try context.reloadPeople()
    var contested: [ContestedInvitation] = []
    for invitation in invitations {
      var answers = try answers(to: invitation)
      if let taken = invitation.answeredBy, !answers.contains(where: { $0.person == taken }) {
        let name = try personalProfile().people.first { $0.person == taken }?.name ?? ""
        answers.insert(ContestedInvitation.Answer(person: taken, name: name), at: 0)
      }
      guard answers.count > 1 else { continue }
      contested.append(
        ContestedInvitation(
          created: invitation.created, taken: invitation.answeredBy, answers: answers,
          verified: try verified(among: answers)?.person))
    }
    return contested
  }

  /// The invitation that this person and somebody else have answered, and that is not known to be theirs.
  package func contestedInvitation(
    of person: PersonID
  ) throws(VaultError) -> ContestedInvitation? {
    if try personsCompared().contains(person) { return nil }
    return try invitationsThatSeveralAnswered().first { invitation in
      invitation.answers.contains { $0.person == person }
    }
  }

  /// Those who alone have answered an invitation of this person's that is still open.
  func answeringPeople() throws(VaultError) -> [PersonID] {
    try answersToOpenInvitations().filter { $0.count == 1 }.flatMap(\.self)
  }

  /// Who has answered each of this person's invitations that are still open.
  func answersToOpenInvitations() throws(VaultError) -> [[PersonID]] {
    var people: [[PersonID]] = []
    for invitation in try openInvitations(now: context.clock.milliseconds()) {
      people.append(try answers(to: invitation).map(\.person))
    }
    return people
  }

  /// The invitations that nobody was taken in with yet.
  func openInvitations(now: UInt64) throws(VaultError) -> [OpenInvitation] {
    try invitations(now: now).filter { $0.answeredBy == nil }
  }

  /// All of this person's invitations that can still be answered, also those with which somebody was taken in.
  private func invitations(now: UInt64) throws(VaultError) -> [OpenInvitation] {
    try personalProfile().invitations.filter { $0.secret != nil && $0.until > now }
  }

  /// The first of those who answered with whom this person has compared words.
  private func verified(
    among answers: [ContestedInvitation.Answer]
  ) throws(VaultError) -> ContestedInvitation.Answer? {
    let compared = try personsCompared()
    return answers.first { compared.contains($0.person) }
  }

  /// Those with whom this person has compared words.
  private func personsCompared() throws(VaultError) -> Set<PersonID> {
    Set(try personalProfile().people.filter { $0.verification == .wordsCompared }.map(\.person))
  }

  /// Everyone who proves to know the invitation's secret.
  private func answers(
    to invitation: OpenInvitation
  ) throws(VaultError) -> [ContestedInvitation.Answer] {
    guard let bytes = invitation.secret else { return [] }
    let people = context.people
    let key = InvitationSecret(bytes).sealingKey(inviter: person, binding: context.binding)
    var answers: [ContestedInvitation.Answer] = []
    for other in people.persons.keys.sorted() where other != person {
      do throws(VaultError) {
        let body = try IntroductionBody.load(
          other, files: context.signedFiles, people: people
        ).body
        guard body.invitation == invitation.id else { continue }
        let path = VaultPath.introduction(other)
        let plain = try context.signedFiles.open(
          body.sealed, with: key, .introduction, path, counter: 0)
        do {
          answers.append(
            ContestedInvitation.Answer(person: other, name: try Introduction(decoding: plain).name))
        } catch {
          throw VaultError(error, path: path.string)
        }
      } catch {
        // Nobody's answer, or a forged one.
        guard error.isOfBrokenFile else { throw error }
      }
    }
    return answers
  }
}
