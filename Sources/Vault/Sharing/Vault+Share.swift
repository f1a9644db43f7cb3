import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What one person may do with a member.
package struct MemberAccess: Sendable {
  package var person: PersonID
  package var role: Role
  package var giver: PersonID
  /// When it was given, in milliseconds since 1970 of the giver's clock.
  package var time: UInt64
  /// When it ends, in milliseconds since 1970; nil if it does not.
  package var until: UInt64?
  /// Whether they have given it up, and have the key until an owner's next sync changes it.
  package var isLeaving = false

  /// Where they stand among the owners, the most senior one at 1; nil for others.
  package var place: Int?

  /// What takes it away, and was interrupted; nil if nothing does.
  package var removal: InterruptedEpoch?

  /// Whether it was given until a time that has come.
  package var hasEnded: Bool { until.map { $0 <= FileTimestamp.now.milliseconds } ?? false }
}

extension Vault {
  /// Who may do what with each of these members, and those of which that cannot be told.
  package func accesses(
    to members: [Member]
  ) -> MemberByMember<(member: Member, accesses: [MemberAccess])> {
    var found = MemberByMember<(member: Member, accesses: [MemberAccess])>()
    for member in members {
      found.add(member) { (all) throws(VaultError) in all.append((member, try member.accesses())) }
    }
    return found
  }
}

extension Member {
  /// Who may do what with the member now: owners by seniority, then the others by person.
  package func accesses() throws(VaultError) -> [MemberAccess] {
    try context.reloadPeople()
    try reloadLinks()
    let interrupted = try interruptedEpoch()
    let links = register.links
    let leaving = links.holders(of: epoch).filter {
      !links.access.includes($0) && links.history.leaving(of: $0) != nil
    }
    func place(_ person: PersonID) -> Int? { links.access.owners.firstIndex(of: person) }
    let all = leaving.union(links.access.entitlements.keys).sorted {
      (place($0) ?? .max, $0) < (place($1) ?? .max, $1)
    }
    var owners = 0
    return all.compactMap { person in
      let isLeaving = leaving.contains(person)
      let given =
        isLeaving
        ? links.history.everGiven(to: person).max { $0.role < $1.role }
        : links.history.given(to: person).first
      if place(person) != nil { owners += 1 }
      return given.map { given in
        MemberAccess(
          person: person, role: given.role, giver: given.giver, time: given.time,
          until: given.until > 0 ? given.until : nil, isLeaving: isLeaving,
          place: place(person) == nil ? nil : owners,
          removal: interrupted?.without.contains(person) == true ? interrupted : nil)
      }
    }
  }
}

extension Vault {
  /// Gives a person access to a member: a link that says so, with the keys of all epochs that this person has, wrapped for
  /// them. Who has access gets a stronger role in this way, or a later end; a weaker one takes a new epoch.
  ///
  /// Durable when it returns. The other one sees the member once the link, its wraps and the head beside them have come
  /// over.
  ///
  /// - Parameters:
  ///   - role: What they may do. An owner's access has no end.
  ///   - until: Milliseconds since 1970; nil: no end.
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` for someone who is not in the vault, or whose closings do not hold;
  ///   `keysDivided` for someone whose words have to join two closings first; `keysAwaited` for someone whose newer keys are
  ///   not here; `alreadyExists` for someone who has that access or more; why something could not be read just now that may say otherwise.
  package func share(
    _ member: Member, with taker: PersonID, role: Role, until: UInt64? = nil
  ) throws(VaultError) {
    precondition(role != .owner || until == nil, "an owner's access has no end")
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    try member.reloadLinks()
    let links = member.register.links
    guard member.role == .owner else { throw .ownersOnly(member: member.id) }
    // What cannot be read may say what they have, and who they are.
    try context.requireRead(links)
    try context.requireRead([taker])
    guard let other = context.people[taker] else {
      throw .notFound(what: "the person \(taker.shortHex)")
    }
    guard other.canBeGivenKeys else { throw .keysDivided(person: taker) }
    guard !links.trust.epochs.awaited.contains(taker) else { throw .keysAwaited(person: taker) }
    // Whoever is only claimed by a contested place is given it by somebody of whom that is certain.
    guard
      links.access.claimed.contains(taker)
        || !links.history.given(to: taker).contains(where: { $0.covers(role, until: until) })
    else {
      throw .alreadyExists(what: "access of the person \(taker.shortHex)")
    }
    guard role != .owner || links.history.placeCount < MemberHistory.placeLimit else {
      throw .limit(
        what: "the number of owners that this member ever had (one can give their place on: "
          + "kinvault hand-over)",
        found: links.history.placeCount + 1, limit: MemberHistory.placeLimit)
    }
    let writer = try LinkWriter.begin(links, context)
    try writer.write(
      [.give(taker, role, until: until ?? 0)],
      wraps: writer.wraps(
        of: links.trust.epochs.ranking.filter {
          !links.trust.epochs.over.contains($0) || member.hasLateHeads
        }, for: other))
    try member.reloadLinks()
    try member.commitNothing()
    audit.note(.share, member: member.id, person: taker, detail: "\(role)")
  }

  /// Gives the key of the epoch in use, and of that of this device's own head, to those who have access, and were not given
  /// it: whoever began it did not know of them, or their words have joined two closings since, or a closing of theirs that was
  /// awaited has come. Or it was over, and their wraps of it are gone: a later epoch has fallen, and machines that had its key
  /// put their own person's wraps back, but not everyone has such a machine.
  ///
  /// Who has access only as a contested place would have it is given none: a machine that has seen which of its ends counts
  /// does that, or a person who shares the member with them.
  ///
  /// - Returns: Whose it is.
  func wrapForUnwrapped(in member: Member) throws(VaultError) -> [PersonID] {
    let links = member.register.links
    let epoch = member.epoch
    // What this device wrote last may stand under another one, which somebody was not given either.
    let own = member.heads.withLock { $0.loaded[context.device.id]?.late }
    let epochs = [epoch] + (own.map { [$0] } ?? [])
    let unwrapped = Set(epochs.flatMap { links.trust.epochs.unwrapped[$0] ?? [] })
      .subtracting(links.access.claimed).sorted()
    let withoutFile = try peopleWithoutFile(of: epoch, links).filter {
      !links.access.claimed.contains($0)
    }
    if unwrapped.isEmpty, withoutFile.isEmpty { return [] }
    let writer = try LinkWriter.begin(links, context)
    var given: [PersonID] = []
    var wraps: [Wrap] = []
    for person in unwrapped {
      guard let other = context.people[person] else { continue }
      let more = try writer.wraps(
        of: epochs.filter { links.trust.epochs.unwrapped[$0]?.contains(person) ?? false },
        for: other)
      guard !more.isEmpty else { continue }
      wraps += more
      given.append(person)
    }
    for person in withoutFile {
      guard let other = context.people[person],
        let wrap = try writer.wrapAnew(epoch, for: other)
      else { continue }
      wraps.append(wrap)
      given.append(person)
    }
    guard !wraps.isEmpty else { return [] }
    try writer.give(wraps)
    try member.reloadLinks()
    try member.commitNothing()
    for person in given { audit.note(.share, member: member.id, person: person, detail: "key") }
    return given
  }
}

extension Vault {
  /// Who was given the key of an epoch that may have been over, in wraps none of which is here.
  private func peopleWithoutFile(
    of epoch: StatementID, _ links: MemberLinks
  ) throws(VaultError) -> [PersonID] {
    guard links.history.hasEpoch(after: epoch) else { return [] }
    let folder = BlobPath("members/\(links.member.hex)/wraps")
    let here = Set(
      try storing(context.store.list(folder)).map(\.name))
    let named = (links.trust.epochs.wraps[epoch] ?? []).filter {
      $0.person != person && links.access.includes($0.person)
    }
    let found = Set(named.filter { here.contains($0.file.hex) }.map(\.person))
    return Set(named.map(\.person)).subtracting(found).sorted()
  }
}

extension GivenAccess {
  /// Whether it gives the role until then, or longer.
  fileprivate func covers(_ role: Role, until: UInt64?) -> Bool {
    self.role >= role && (self.until == 0 || self.until >= until ?? .max)
  }
}
