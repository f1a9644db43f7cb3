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
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` for someone who is not in the vault, or whose identity does not hold;
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
    guard let other = context.people[taker]?.identity else {
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
      guard let other = context.people[grant.person]?.identity else { continue }
      try give(member, to: other, as: grant.role, until: grant.until, time: grant.time)
      audit.note(.share, member: member.id, detail: "\(grant.role) \(grant.person.shortHex)")
      given.append(grant.person)
    }
    return given
  }

  /// Writes grants of all epochs that this person owns: of those of before only where the other one has none.
  private func give(
    _ member: Member, to other: IdentityBody, as role: Role, until: UInt64, time: UInt64
  ) throws(VaultError) {
    let chain = member.register.grants
    let issuer = try grantIssuer(of: member.id)
    for (epoch, grants) in chain.valid.sorted(by: { $0.key < $1.key }) {
      guard let mine = grants[person], mine.role == .owner,
        grants[other.person] == nil || epoch == chain.current
      else { continue }
      let key = try opening(of: member.id, seen: nil).unwrapKey(mine, identities)
      try issuer.give(key, of: epoch, to: other, as: role, until: until, time: time)
    }
    try member.reloadGrants()
    try member.commitNothing()
  }

  /// Gives grants of a member in this person's name.
  ///
  /// - Throws: `notFound` when the keys of this person's identity are not here.
  func grantIssuer(of member: MemberID) throws(VaultError) -> GrantIssuer {
    guard let generation = context.people[person]?.identity.generation,
      let agreementKey = identities[generation],
      let signingKey = identities.signingKey(generation: generation)
    else { throw .notFound(what: "this person's identity") }
    return GrantIssuer(
      member: member, context: context, generation: generation, agreementKey: agreementKey,
      signingKey: signingKey)
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
  let generation: UInt32
  let agreementKey: IdentityKeys.Shared
  let signingKey: IdentityKeys.SharedSigning

  /// Writes one grant; durable when it returns.
  ///
  /// - Parameters:
  ///   - time: When access was given, if not now.
  ///   - follows: Only in the grant that begins an epoch, as `without`.
  func give(
    _ key: borrowing FamilyMemberKey, of epoch: EpochID, to other: IdentityBody, as role: Role,
    until: UInt64, time: UInt64? = nil, following follows: [EpochID] = [],
    without: [PersonID] = []
  ) throws(VaultError) {
    let giver = context.person
    let wrapped: [UInt8]
    do {
      wrapped = try key.wrap(
        giver: agreementKey.key, taker: other.agreementPublicKey,
        grant: GrantContext(member: member, epoch: epoch, giver: giver, taker: other.person),
        binding: context.binding)
    } catch {
      throw .crypto(error)
    }
    let grant = GrantBody(
      member: member, epoch: epoch, person: other.person, personGeneration: other.generation,
      giver: giver, giverGeneration: generation, role: role, wrappedKey: wrapped,
      time: time ?? context.clock.milliseconds(), until: until, follows: follows,
      without: without)
    let path = VaultPath.grant(member, epoch, other.person)
    try context.signedFiles.store(
      context.signedFiles.sign(grant.encoded(), .grant, path, with: signingKey.key), at: path,
      in: context.store)
  }
}
