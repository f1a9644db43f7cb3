import BlobStore
import VaultCrypto
import VaultModel

/// What one person may do with a member.
package struct MemberAccess: Sendable {
  package var person: PersonID
  package var role: Role
  package var giver: PersonID
  /// When it was given, in milliseconds since 1970 of the giver's clock.
  package var time: UInt64
  /// When it ends, in milliseconds since 1970; nil if it does not.
  package var until: UInt64?
  /// What the person has said that they keep of it, which an owner's next sync carries out; nil if they gave nothing up.
  package var givenUp: GivenUp?

  /// What takes it away, and was interrupted; nil if nothing does.
  package var removal: InterruptedEpoch?

  package struct GivenUp: Hashable, Sendable {
    /// Nil: nothing is kept.
    package var keeps: Role?
  }
}

extension Member {
  /// Who may do what with the member now, by person.
  package func accesses() throws(VaultError) -> [MemberAccess] {
    try context.reloadPeople()
    try reloadGrants()
    let interrupted = try interruptedEpoch()
    let leavings = register.grants.leavings
    return register.grants.currentGrants.map { grant in
      MemberAccess(
        person: grant.person, role: grant.role, giver: grant.giver, time: grant.time,
        until: grant.until > 0 ? grant.until : nil,
        givenUp: leavings.counting[grant.person].map { .init(keeps: $0.keeps) },
        removal: interrupted?.without.contains(grant.person) == true ? interrupted : nil)
    }
  }
}

extension Vault {
  /// Gives a person access to a member: the keys of every epoch that this person owns, wrapped for them. Who has
  /// access gets a stronger role in this way, or a later end; a weaker one takes a new epoch.
  ///
  /// Durable when it returns. The other one sees the member once both files and the head beside them have come over.
  ///
  /// - Parameters:
  ///   - role: What they may do. An owner's access has no end.
  ///   - until: Milliseconds since 1970; nil: no end.
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` for someone who is not in the vault, or whose closings do not hold;
  ///   `alreadyExists` for someone who has that access or more.
  package func share(
    _ member: Member, with taker: PersonID, role: Role, until: UInt64? = nil
  ) throws(VaultError) {
    precondition(role != .owner || until == nil, "an owner's access has no end")
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    try member.reloadGrants()
    let chain = member.register.grants
    guard member.role == .owner else { throw .ownersOnly(member: member.id) }
    guard let other = context.people[taker] else {
      throw .notFound(what: "the person \(taker.shortHex)")
    }
    let known = chain.current.flatMap { chain.valid[$0]?[taker] }
    guard known.map({ $0.isWeaker(than: role, until: until) }) ?? true else {
      throw .alreadyExists(what: "access of the person \(taker.shortHex)")
    }
    let time = chain.leavings.grantTime(
      for: taker,
      now: max(context.clock.milliseconds(), known.map { Limits.time(after: $0.time) } ?? 0))
    try give(member, to: other, as: role, until: until ?? 0, time: time)
    audit.note(.share, member: member.id, detail: "\(role) \(taker.shortHex)")
  }

  /// Gives again what this person gave while somebody else began the current epoch and had not seen it.
  ///
  /// - Returns: Whose access it was.
  func giveOverlooked(of member: Member) throws(VaultError) -> [PersonID] {
    let overlooked = member.register.grants.overlooked(by: context.clock.milliseconds())
    var given: [PersonID] = []
    for grant in overlooked where grant.giver == person {
      guard let other = context.people[grant.person], other.generation != nil else { continue }
      try give(member, to: other, as: grant.role, until: grant.until, time: grant.time)
      audit.note(.share, member: member.id, detail: "\(grant.role) \(grant.person.shortHex)")
      given.append(grant.person)
    }
    return given
  }

  /// Writes grants of all epochs that this person owns: of those of before only where the other one has none.
  private func give(
    _ member: Member, to other: Person, as role: Role, until: UInt64, time: UInt64
  ) throws(VaultError) {
    let chain = member.register.grants
    let issuer = try grantIssuer()(member.id)
    for (epoch, grants) in chain.valid.sorted(by: { $0.key < $1.key }) {
      guard let mine = grants[person], mine.role == .owner,
        grants[other.id] == nil || epoch == chain.current
      else { continue }
      let key = try opening(of: member.id, seen: nil).unwrapKey(mine, identities)
      try issuer.give(key, of: epoch, to: other, as: role, until: until, time: time)
    }
    try member.reloadGrants()
    try member.commitNothing()
  }

  /// Gives grants of members in this person's name.
  ///
  /// - Throws: `keysDivided` while the person has no open generation; `notFound` when its key is not here.
  func grantIssuer() throws(VaultError) -> (MemberID) -> GrantIssuer {
    let certificate = try context.ownCertificate().id
    guard let generation = try context.ownPerson().generation else {
      throw .keysDivided(person: person)
    }
    guard let agreementKey = identities[generation] else {
      throw .notFound(what: "key of your open generation on this machine")
    }
    let context = context
    return { member in
      GrantIssuer(
        member: member, context: context, generation: generation, agreementKey: agreementKey,
        certificate: certificate)
    }
  }
}

extension GrantBody {
  /// Whether another role, or another end of it, gives more than this grant does.
  fileprivate func isWeaker(than role: Role, until: UInt64?) -> Bool {
    guard self.role == role else { return self.role < role }
    return role != .owner && self.until > 0 && self.until < until ?? .max
  }
}

/// Wraps a member's keys for people, and writes the grants.
struct GrantIssuer {
  let member: MemberID
  let context: VaultContext
  /// The giver's open one.
  let generation: StatementID
  let agreementKey: IdentityKeys.Shared
  /// Of the giver's device, which signs.
  let certificate: StatementID

  /// Writes one grant; durable when it returns.
  ///
  /// - Throws: `keysDivided` for someone who has no open generation.
  /// - Parameters:
  ///   - time: When access was given, if not now.
  ///   - follows: Only in the grant that begins an epoch, as `without`.
  func give(
    _ key: borrowing FamilyMemberKey, of epoch: EpochID, to other: Person, as role: Role,
    until: UInt64, time: UInt64? = nil, following follows: [EpochID] = [],
    without: [PersonID] = []
  ) throws(VaultError) {
    let giver = context.person
    guard let theirs = other.generation,
      let publicKey = other.agreementPublicKey(generation: theirs)
    else { throw .keysDivided(person: other.id) }
    let wrapped: [UInt8]
    do {
      wrapped = try key.wrap(
        giver: agreementKey.key, taker: publicKey,
        grant: GrantContext(member: member, epoch: epoch, giver: giver, taker: other.id),
        binding: context.binding)
    } catch {
      throw .crypto(error)
    }
    let grant = GrantBody(
      member: member, epoch: epoch, person: other.id, personGeneration: theirs, giver: giver,
      giverGeneration: generation, certificate: certificate, role: role, wrappedKey: wrapped,
      time: time ?? context.clock.milliseconds(), until: until, follows: follows,
      without: without)
    let path = VaultPath.grant(member, epoch, other.id)
    try context.signedFiles.store(
      context.signedFiles.sign(grant.encoded(), .grant, path, with: context.device), at: path,
      in: context.store)
  }
}
