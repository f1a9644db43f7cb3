import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Writes links of one member in this person's name, after the wraps that they name. Docs/Format.md, "Links and epochs".
struct LinkWriter {
  let links: MemberLinks
  let context: VaultContext
  /// Of this device, which signs.
  private let certificate: StatementID
  private let gathered = Gathered()

  /// What was gathered once is followed by all that is written.
  private final class Gathered {
    var tips: [StatementID]?
  }

  /// - Throws: `keysDivided`, `thisDeviceRemoved` when this device may not sign now; `io` while there are statements that this
  ///   machine could not read: they may say who is out.
  static func begin(
    _ links: MemberLinks, _ context: VaultContext
  ) throws(VaultError) -> LinkWriter {
    try context.requireRead(links)
    let certificate = try context.ownCertificate().id
    return LinkWriter(links: links, context: context, certificate: certificate)
  }

  /// Writes a link as an owner; durable when this returns. What it has no room to confirm stands in others before it.
  ///
  /// - Parameters:
  ///   - epoch: Of one that begins an epoch, the commitment to its key.
  ///   - people: Those whose place is taken by it, or who have left: what of theirs counts is confirmed.
  ///   - place: As whose holder; nil: the most senior one that this person has.
  /// - Throws: `ownersOnly` without a place; `limit`.
  func write(
    _ changes: [Change] = [], epoch: FileHash? = nil, wraps: [Wrap] = [],
    confirming people: Set<PersonID> = [], as place: Place? = nil
  ) throws(VaultError) {
    guard let seat = place ?? links.history.seats(of: context.person).first else {
      throw .ownersOnly(member: links.member)
    }
    let follows = try gatheredTips(as: seat)
    var confirmed = links.history.unconfirmed(by: people, as: seat)[...]
    func link(confirming count: Int) -> Link {
      Link(
        member: links.member, person: context.person, certificate: certificate, place: seat,
        follows: follows, time: context.clock.milliseconds(),
        confirmed: Array(confirmed.prefix(count)))
    }
    // Whoever is taken out may have written any number.
    while confirmed.count > Link.confirmLimit {
      try store(link(confirming: Link.confirmLimit))
      confirmed = confirmed.dropFirst(Link.confirmLimit)
    }
    var last = link(confirming: Link.confirmLimit)
    (last.changes, last.epoch, last.wraps) = (changes, epoch, wraps)
    try store(last)
  }

  /// What a link follows so that it comes after all that counts here: where that is more than one can follow, others are written
  /// before it.
  private func gatheredTips(as seat: Place) throws(VaultError) -> [StatementID] {
    if let tips = gathered.tips { return tips }
    let gatherings = links.history.gatherings(for: context.person)
    if gatherings.isEmpty { return links.history.tips(for: context.person) }
    var tips: [StatementID] = []
    for follows in gatherings {
      tips.append(
        try store(
          Link(
            member: links.member, person: context.person, certificate: certificate, place: seat,
            follows: follows, time: context.clock.milliseconds())))
    }
    tips.sort()
    gathered.tips = tips
    return tips
  }

  /// So many wraps are written in one link, which may have much else to say.
  static let wrapCount = Link.wrapLimit / 2

  /// Writes wraps, in as many links as they take; durable when this returns.
  func give(_ wraps: [Wrap]) throws(VaultError) {
    for start in stride(from: 0, to: wraps.count, by: Self.wrapCount) {
      try write(wraps: Array(wraps[start..<min(start + Self.wrapCount, wraps.count)]))
    }
  }

  /// Agrees to take the place that is offered; durable when this returns.
  func agree(to offer: PlaceOffer) throws(VaultError) {
    try store(
      Link(
        member: links.member, person: context.person, certificate: certificate, place: nil,
        follows: [offer.id], changes: [.agree(context.person)],
        time: context.clock.milliseconds()))
  }

  /// Hands over what was offered, and agreed to in that link; durable when this returns.
  ///
  /// Nothing in it is of this moment: a machine that was put back and does this again writes the same link.
  func handOver(_ offer: PlaceOffer, after agreement: StatementID) throws(VaultError) {
    try store(
      Link(
        member: links.member, person: context.person, certificate: certificate,
        place: offer.place, follows: [agreement], changes: [.handOver(offer.taker)],
        time: links.history.link(agreement)?.time ?? offer.time))
  }

  /// Gives up all that this person has; durable when this returns.
  ///
  /// - Parameter heads: The newest that this person's devices wrote, which go on counting.
  func leave(heads: [LastHead]) throws(VaultError) {
    try store(
      Link(
        member: links.member, person: context.person, certificate: certificate, place: nil,
        follows: links.history.tips(for: context.person),
        changes: [.limit(context.person, nil, until: 0)],
        time: context.clock.milliseconds(), heads: heads))
  }

  @discardableResult private func store(_ link: Link) throws(VaultError) -> StatementID {
    let files = context.signedFiles
    let body = link.encoded()
    let id = files.binding.vault.statementID(.link, body: body)
    let path = VaultPath.link(links.member, id)
    do { _ = try Link(decoding: body) } catch {
      // What nobody would take is not written.
      guard case .limit(let what, let found, let limit) = error else {
        throw VaultError(error, path: path.string)
      }
      throw .limit(what: "what one link names (\(what))", found: found, limit: limit)
    }
    let device = context.device
    try files.store(
      files.statement(.link, body) { device.signingKey.sign($0) }, at: path, in: context.store)
    return id
  }

  /// Wraps an epoch's key for a person's open generation; the file is durable when this returns.
  ///
  /// - Parameter epoch: The link that began it; nil for the one that is to begin it.
  /// - Returns: Nil where that cannot be (`Person.canBeGivenKeys`), or a closing of theirs is awaited.
  func wrap(
    _ key: borrowing FamilyMemberKey, of epoch: StatementID?, for other: Person
  ) throws(VaultError) -> Wrap? {
    guard !links.trust.epochs.awaited.contains(other.id), let generation = other.generation,
      let publicKey = other.agreementPublicKey(generation: generation)
    else { return nil }
    let file: [UInt8]
    do {
      file = try key.wrap(
        for: EpochWrapContext(
          member: links.member,
          commitment: key.commitment(member: links.member, binding: context.binding),
          person: other.id, generation: generation),
        agreementPublicKey: publicKey, binding: context.binding)
    } catch {
      if case .invalidKey = error { return nil }
      throw .crypto(error)
    }
    let name = Digest.sha256(file)
    try context.signedFiles.store(file, at: .epochWrap(links.member, name), in: context.store)
    return Wrap(epoch: epoch, person: other.id, generation: generation, file: name)
  }

  /// Wraps the key of an epoch once more for somebody who has a wrap of it whose file is lost; nil if it is not to be had.
  func wrapAnew(_ epoch: StatementID, for other: Person) throws(VaultError) -> Wrap? {
    guard let key = try OwnEpochKeys.load(links, context).key(of: epoch) else { return nil }
    return try wrap(key, of: epoch, for: other)
  }

  /// Wraps the keys that this person has of epochs for somebody who has no wrap of them; at most so many, the ones in use
  /// first.
  func wraps(
    of epochs: [StatementID], for other: Person, limit: Int = 256
  ) throws(VaultError) -> [Wrap] {
    let own = try OwnEpochKeys.load(links, context)
    var wraps: [Wrap] = []
    for epoch in epochs where wraps.count < limit {
      let known = links.trust.epochs.wraps[epoch] ?? []
      guard
        !known.contains(where: { $0.person == other.id && $0.generation == other.generation }),
        let key = try own.key(of: epoch)
      else { continue }
      guard let wrap = try wrap(key, of: epoch, for: other) else { return [] }
      wraps.append(wrap)
    }
    return wraps
  }
}

/// The keys of a member's epochs as this person was given them.
private struct OwnEpochKeys {
  private let opening: MemberOpening
  private let identities: ExpandedIdentities
  private let wraps: [StatementID: [EpochWrap]]

  static func load(
    _ links: MemberLinks, _ context: VaultContext
  ) throws(VaultError) -> OwnEpochKeys {
    let identities = context.keys.identities.expanded()
    let wraps = Dictionary(
      grouping: links.history.wraps(for: context.person).lazy.filter {
        identities.has($0.wrap.generation)
      }, by: \.epoch)
    return OwnEpochKeys(
      opening: try context.opening(of: links.member), identities: identities, wraps: wraps)
  }

  /// By whichever wrap opens, as somebody may have put a wrong one beside a right one; nil where none does.
  ///
  /// - Throws: `missing` where one that is not here yet might.
  func key(of epoch: StatementID) throws(VaultError) -> FamilyMemberKey? {
    var missing: VaultError?
    for wrap in (wraps[epoch] ?? []).reversed() {
      do { return try opening.unwrap(wrap, identities) } catch {
        switch error {
        case .missing: missing = error
        case .damaged, .crypto: break
        default: throw error
        }
      }
    }
    if let missing { throw missing }
    return nil
  }
}
