import TestSupport
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Statements of every kind that its keys can make.
extension Intruder {
  private mutating func someMember() -> MemberID? {
    pick(seen.links.keys.sorted())
  }

  private mutating func somePerson() -> PersonID? { pick(seen.closings.keys.sorted()) }

  private func places(of member: MemberID) -> [Place] {
    var places: [Place] = []
    if let root = seen.roots[member] {
      places.append(Place(link: member.root, person: root.person))
    }
    for (id, link) in (seen.links[member] ?? [:]).sorted(by: { $0.key < $1.key }) {
      for case .give(let person, .owner, _) in link.changes {
        places.append(Place(link: id, person: person))
      }
    }
    return places
  }

  /// Some links of a member: all that none follows, some of long ago, or none.
  private mutating func someLinks(of member: MemberID) -> [StatementID] {
    let links = seen.links[member] ?? [:]
    switch number(below: 4) {
    case 0:
      let followed = Set(links.values.flatMap(\.follows))
      return Array(links.keys.filter { !followed.contains($0) }.sorted().prefix(1_000))
    case 1: return []
    default:
      let all = links.keys.sorted()
      return Array(Set((0...number(below: 3)).compactMap { _ in pick(all) }))
    }
  }

  // MARK: Links

  mutating func writeLink(in house: Household) throws {
    guard let signer = pick(signers), let member = someMember() else { return }
    let all = places(of: member)
    let own = all.filter { $0.person == signer.person }
    let place = chance(4) ? pick(all) : pick(own) ?? pick(all)
    if chance(6) || place == nil {
      // It gives up what it has, or had.
      let link = Link(
        member: member, person: signer.person, certificate: signer.certificate, place: nil,
        follows: someLinks(of: member), changes: [.limit(signer.person, nil, until: 0)],
        time: house.now)
      try put(link, by: signer, in: house)
      return
    }
    let key = FamilyMemberKey.random()
    let begins = chance(3)
    var link = Link(
      member: member, person: signer.person, certificate: signer.certificate, place: place,
      follows: someLinks(of: member), changes: someChanges(),
      epoch: begins ? key.commitment(member: member, binding: binding) : nil, time: house.now,
      confirmed: Array(Set(someLinks(of: member))))
    if let place, seen.links[member]?[place.link] != nil, link.follows.isEmpty {
      link.follows = [place.link]
    }
    if begins {
      link.wraps = try someWraps(key, of: member, in: house)
    }
    let id = try put(link, by: signer, in: house)
    if begins {
      hold(EpochKeys(key, member: member, binding: binding), of: id, signer.holder)
    }
  }

  @discardableResult
  private mutating func put(_ link: Link, by signer: Signer, in house: Household) throws
    -> StatementID
  {
    trace.append(
      "  a link of \(link.member.shortHex) by \(signer.device.shortHex): \(link.changes)")
    let member = link.member
    house.gifts.add(
      link, by: signer.holder,
      isNeverBelieved: isNeverBelieved(signer.holder, of: member, in: house))
    return try put(.link, link.encoded(), at: { .link(member, $0) }, in: house, sign: signer.sign)
  }

  private mutating func someChanges() -> [Change] {
    var owners: Set<PersonID> = []
    var isOffered = false
    return (0..<number(below: 4)).compactMap { _ in
      guard let person = chance(2) ? pick(people.sorted()) : somePerson() else { return nil }
      switch number(below: 8) {
      case 0, 1: return .limit(person, nil, until: 0)
      case 2: return .limit(person, .viewer, until: chance(2) ? 0 : 1 << 50)
      case 3: return .give(person, .editor, until: 0)
      case 4: return .give(person, .viewer, until: 1)
      case 5 where !isOffered:
        isOffered = true
        return .offer(person)
      default: return owners.insert(person).inserted ? .give(person, .owner, until: 0) : nil
      }
    }
  }

  /// The key, wrapped for the generations of whoever it likes; or of the links' own making.
  private mutating func someWraps(
    _ key: borrowing FamilyMemberKey, of member: MemberID, in house: Household
  ) throws -> [Wrap] {
    var wraps: [Wrap] = []
    for person in seen.closings.keys.sorted() where chance(2) {
      guard
        let (generation, closing) = pick((seen.closings[person] ?? [:]).sorted { $0.key < $1.key })
      else { continue }
      let context = EpochWrapContext(
        member: member, commitment: key.commitment(member: member, binding: binding),
        person: person, generation: generation)
      // A key that somebody made up need not be one.
      guard
        let file = try? key.wrap(
          for: context, agreementPublicKey: closing.agreementKey, binding: binding)
      else { continue }
      let name = Digest.sha256(file)
      try put(.epochWrap(member, name), file, in: house)
      wraps.append(Wrap(epoch: nil, person: person, generation: generation, file: name))
    }
    return wraps
  }

  /// An offer, the consent of somebody of its own, and the handing over, from wherever it likes.
  mutating func writeHandOver(in house: Household) throws {
    guard let giver = pick(signers), let taker = pick(signers), let member = someMember() else {
      return
    }
    let own = places(of: member).filter { $0.person == giver.person }
    guard let place = pick(own) ?? pick(places(of: member)) else { return }
    var follows = someLinks(of: member)
    if follows.isEmpty, seen.links[member]?[place.link] != nil { follows = [place.link] }
    let offer = try put(
      Link(
        member: member, person: giver.person, certificate: giver.certificate, place: place,
        follows: follows,
        changes: [.give(taker.person, .owner, until: 0), .offer(taker.person)], time: house.now),
      by: giver, in: house)
    let agreement = try put(
      Link(
        member: member, person: taker.person, certificate: taker.certificate, place: nil,
        follows: [offer], changes: [.agree(taker.person)], time: house.now),
      by: taker, in: house)
    let handOver = try put(
      Link(
        member: member, person: giver.person, certificate: giver.certificate, place: place,
        follows: [agreement], changes: [.handOver(taker.person)], time: house.now),
      by: giver, in: house)
    // Whoever has the place now takes out whom they like.
    guard let victim = pick(house.persons) else { return }
    try put(
      Link(
        member: member, person: taker.person, certificate: taker.certificate, place: place,
        follows: [handOver],
        changes: [.limit(victim, nil, until: 0), .give(giver.person, .owner, until: 0)],
        time: house.now),
      by: taker, in: house)
  }

  // MARK: People

  /// A new device of somebody, by whoever signs: as if they approved it, or as if the device itself agreed.
  mutating func writeCertificate(in house: Household) throws {
    guard let approver = pick(signers) else { return }
    let person = chance(3) ? somePerson() ?? approver.person : approver.person
    guard let generation = pick((seen.closings[person] ?? [:]).keys.sorted()) else { return }
    let key = MadeUp.Key()
    let agreement = AgreementKey.random()
    guard let signingKey = VerifyingKey(key.key.publicKey) else { return }
    var certificate = Certificate(
      person: person, generation: generation, signingKey: signingKey,
      agreementKey: agreement.publicKey, approver: chance(4) ? nil : approver.certificate,
      time: house.now)
    certificate.consent = key.key.sign(vault.signedMessage(.device, certificate.consentBody))
    if chance(3), let other = pick(seen.certificates.values.map(\.signingKey).sorted()) {
      // As if a device of somebody's were this person's.
      certificate.signingKey = other
    }
    trace.append("  a device \(certificate.device.shortHex) for \(person.shortHex)")
    let words =
      certificate.approver == nil
      ? pick(usableWords(in: house).filter { $0.person == person }) : nil
    let id: StatementID
    if let words {
      let root = try RecoveryWords(parsing: words.text).rootSigningKey(binding: binding)
      id = try put(
        .certificate, certificate.encoded(), at: { .certificate(person, $0) }, in: house,
        sign: { root.sign($0) })
    } else {
      id = try put(
        .certificate, certificate.encoded(), at: { .certificate(person, $0) }, in: house,
        sign: approver.sign)
    }
    add(
      Signer(
        person: person, certificate: id, device: certificate.device,
        holder: words?.holder ?? approver.holder, sign: { key.key.sign($0) }))
  }

  /// A closing with words that it has: of its own people, or that were replaced.
  mutating func writeClosing(in house: Household) throws {
    let usable = usableWords(in: house)
    guard let words = pick(usable) else { return }
    let root = try RecoveryWords(parsing: words.text).rootSigningKey(binding: binding)
    guard let rootKey = VerifyingKey(root.publicKey) else { return }
    let known = seen.closings[words.person] ?? [:]
    let signed = known.filter { $0.value.rootKey == rootKey }.keys.sorted()
    let all = known.keys.sorted()
    guard let follow = chance(2) ? pick(signed) : pick(all) else { return }
    let master = MasterKey.random()
    let certificates = seen.certificates.filter { $0.value.person == words.person }.keys.sorted()
    let own = signers.filter { $0.person == words.person }.map(\.certificate)
    var closing = Closing(
      person: words.person, follows: chance(3) ? [] : [follow], rootKey: rootKey,
      agreementKey: master.agreementKey(binding: binding).publicKey,
      recovery: known[follow]?.recovery ?? [],
      stay: Array(Set(own + (chance(2) ? certificates : []))),
      counted: Array(Set(seen.links.values.flatMap(\.keys).filter { _ in chance(3) })).sorted(),
      time: house.now)
    // Nobody can open them, and nobody can tell.
    closing.past = closing.follows.map { _ in [UInt8](repeating: 5, count: 40) }
    if chance(3), let other = pick(usable.filter { $0.person == words.person }) {
      // Other words of the person that it has take over.
      let successor = try RecoveryWords(parsing: other.text).rootSigningKey(binding: binding)
      if let next = VerifyingKey(successor.publicKey), next != rootKey {
        closing.rootKey = next
        let body = Closing.endorsementBody(person: words.person, from: rootKey, to: next)
        closing.endorsements = [
          Closing.Endorsement(
            rootKey: rootKey, signature: root.sign(vault.signedMessage(.successor, body)))
        ]
        trace.append("  a closing of \(words.person.shortHex), by words that follow")
        let person = words.person
        try put(
          .closing, closing.encoded(), at: { .closing(person, $0) }, in: house,
          sign: { successor.sign($0) })
        return
      }
    }
    trace.append("  a closing of \(words.person.shortHex)")
    let person = words.person
    try put(
      .closing, closing.encoded(), at: { .closing(person, $0) }, in: house,
      sign: { root.sign($0) })
  }

  // MARK: Members

  /// A root of its own, with a link that gives everyone everything.
  mutating func writeMember(in house: Household) throws {
    guard let signer = pick(signers) else { return }
    let root = MemberRoot(
      person: signer.person, certificate: signer.certificate, random: .random(), time: house.now)
    let body = root.encoded()
    let member = MemberID(root: vault.statementID(.root, body: body))
    try put(.memberRoot(member), files.statement(.root, body, sign: signer.sign), in: house)
    let key = FamilyMemberKey.random()
    trace.append("  a member \(member.shortHex) by \(signer.device.shortHex)")
    let link = Link(
      member: member, person: signer.person, certificate: signer.certificate,
      place: Place(link: member.root, person: signer.person),
      changes: seen.closings.keys.sorted().prefix(20).map { .give($0, .owner, until: 0) },
      epoch: key.commitment(member: member, binding: binding),
      wraps: try someWraps(key, of: member, in: house), time: house.now)
    let id = try put(link, by: signer, in: house)
    hold(EpochKeys(key, member: member, binding: binding), of: id, signer.holder)
  }
}
