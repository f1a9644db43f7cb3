import VaultModel

/// The valid epochs of one member, each with who owns it and which epochs it follows; says which one is current.
/// Docs/Format.md, "Epochs".
///
/// Whoever was an owner once can go on beginning epochs that follow the old ones for ever, with grants for whomever they
/// like, and date them as they please. So neither numbers nor times decide, but who was taken out by whom.
struct EpochTree: Sendable {
  struct Epoch: Sendable {
    var follows: [EpochID]
    /// How many gave on the way from the one who began the epoch, by person with access.
    var distances: [PersonID: Int] = [:]
    var owners: Set<PersonID> = []
  }

  private(set) var epochs: [EpochID: Epoch] = [:]

  /// By how much an epoch's number is above those that it follows, at most: so that nobody can use the numbers up.
  static let stepLimit: UInt32 = 65_536

  /// The number of an epoch that a device begins: another one than a second device of the same person takes, which
  /// may begin one at the same time.
  static func number(following follows: [EpochID], on device: DeviceID) -> UInt32 {
    let latest = follows.map(\.number).max() ?? 0
    let mark = device.bytes.prefix(2).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return latest &+ 1 &+ mark
  }

  subscript(id: EpochID) -> Epoch? { epochs[id] }

  mutating func begin(_ id: EpochID, following follows: [EpochID]) {
    epochs[id] = Epoch(follows: follows)
  }

  mutating func add(_ grant: GrantBody) {
    let distance = grant.person == grant.giver ? 0 : distance(of: grant.giver, in: grant.epoch) + 1
    epochs[grant.epoch]?.distances[grant.person] = distance
    if grant.role == .owner { epochs[grant.epoch]?.owners.insert(grant.person) }
  }

  func isOwner(_ person: PersonID, in epoch: EpochID) -> Bool {
    epochs[epoch]?.owners.contains(person) ?? false
  }

  /// How many gave on the way from the one who began the epoch to this person.
  func distance(of person: PersonID, in epoch: EpochID) -> Int {
    epochs[epoch]?.distances[person] ?? Int.max - 1
  }

  /// Whether `current` is the epoch itself, or follows it, however far back.
  func isSame(_ id: EpochID, orFollowedBy current: EpochID) -> Bool {
    var waiting = [current]
    var seen: Set<EpochID> = [current]
    while let next = waiting.popLast() {
      if next == id { return true }
      waiting += (epochs[next]?.follows ?? []).filter { seen.insert($0).inserted }
    }
    return false
  }

  /// The one of least distance, and of equals the lower one; nil of nobody.
  func mostSenior(of people: Set<PersonID>, in epoch: EpochID) -> PersonID? {
    people.min { (distance(of: $0, in: epoch), $0) < (distance(of: $1, in: epoch), $1) }
  }

  // MARK: Which one counts

  struct Outcome: Sendable {
    var current: EpochID
    /// Begun at once with the current one or one that it follows, by owners who are owners still: what they say of
    /// people holds as well.
    var besides: [EpochID] = []
    /// Begun by someone who had been taken out.
    var struck: [EpochID] = []
  }

  /// - Parameter seen: What was current here before, if there was anything.
  /// - Returns: Nil without any epoch.
  func outcome(seen: EpochID?) -> Outcome? {
    let reach = lines
    var left = Set(epochs.keys)
    if let seen, epochs[seen] != nil { left = left.filter { isFollowed($0, from: seen, reach) } }
    var struck = Set(epochs.keys).subtracting(left)
    while true {
      let tips = self.tips(of: left)
      guard let greatest = tips.max() else { return nil }
      let losers = tips.filter { tip in
        tips.contains { $0 != tip && isStruck(tip, by: $0, reach) }
      }
      // In a ring of people who took out one another nobody is right.
      let gone = losers.count < tips.count ? losers : tips.filter { $0 != greatest }
      guard !gone.isEmpty else {
        return Outcome(
          current: greatest, besides: tips.filter { $0 != greatest }.sorted(),
          struck: struck.sorted())
      }
      left.subtract(gone)
      struck.formUnion(gone)
    }
  }

  /// Each epoch with all that it follows, however far back.
  var lines: [EpochID: Set<EpochID>] {
    var reach: [EpochID: Set<EpochID>] = [:]
    for id in epochs.keys.sorted() { reach[id] = ancestors(of: id, reach) }
    return reach
  }

  /// The epoch and all that it follows, however far back. Epochs with lower numbers are in `reach` already.
  private func ancestors(
    of id: EpochID, _ reach: [EpochID: Set<EpochID>]
  ) -> Set<EpochID> {
    (epochs[id]?.follows ?? []).reduce(into: [id]) { $0.formUnion(reach[$1] ?? []) }
  }

  /// Those among these that none of them follows.
  private func tips(of left: Set<EpochID>) -> [EpochID] {
    var followed: Set<EpochID> = []
    for id in left { followed.formUnion(epochs[id]?.follows ?? []) }
    return left.filter { !followed.contains($0) }
  }

  /// Whoever has seen someone taken out is not led elsewhere by them: of what does not follow the epoch that was seen,
  /// only that counts which its owners began.
  private func isFollowed(
    _ id: EpochID, from seen: EpochID, _ reach: [EpochID: Set<EpochID>]
  ) -> Bool {
    if reach[id]?.contains(seen) == true { return true }
    return beyond(id, seen, reach).allSatisfy { isOwner($0.owner, in: seen) }
  }

  /// What one epoch follows, itself included, and the other does not.
  private func beyond(
    _ id: EpochID, _ other: EpochID, _ reach: [EpochID: Set<EpochID>]
  ) -> Set<EpochID> {
    (reach[id] ?? []).subtracting(reach[other] ?? [])
  }

  /// Whether one tip falls to the other: someone began a part of it who is no owner in the other. Where that is so of
  /// both, the side stands whose most senior such person is the more senior one.
  private func isStruck(
    _ tip: EpochID, by other: EpochID, _ reach: [EpochID: Set<EpochID>]
  ) -> Bool {
    func takenOut(of side: EpochID, by judge: EpochID) -> Set<PersonID> {
      Set(beyond(side, judge, reach).filter { !isOwner($0.owner, in: judge) }.map(\.owner))
    }
    let (here, there) = (takenOut(of: tip, by: other), takenOut(of: other, by: tip))
    guard !here.isEmpty else { return false }
    guard !there.isEmpty else { return true }
    let common = (reach[tip] ?? []).intersection(reach[other] ?? []).max()
    func seniority(_ people: Set<PersonID>) -> (Int, PersonID)? {
      people.map { person in (common.map { distance(of: person, in: $0) } ?? 0, person) }
        .min { $0 < $1 }
    }
    guard let mine = seniority(here), let theirs = seniority(there), mine != theirs else {
      return tip < other
    }
    return mine > theirs
  }

  // MARK: What was missed

  /// People with access in the current epoch whom someone took out who began another at the same time.
  func missed(by outcome: Outcome) -> Set<PersonID> {
    func people(_ id: EpochID) -> Set<PersonID> { Set((epochs[id]?.distances ?? [:]).keys) }
    let reach = lines
    var missed: Set<PersonID> = []
    for other in outcome.besides {
      let shared = (reach[other] ?? []).intersection(reach[outcome.current] ?? [])
      guard let common = shared.max() else { continue }
      missed.formUnion(people(common).subtracting(people(other)))
    }
    return missed.intersection(people(outcome.current))
  }
}
