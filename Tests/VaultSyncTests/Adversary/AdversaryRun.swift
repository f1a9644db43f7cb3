import BlobStore
import TestSupport
import Testing
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultSync
import VaultTrust

@testable import Vault

/// One honest schedule, carried out without the adversary and with several, and what must be the same: the seven properties
/// of what nobody without the right can do.
struct AdversaryRun {
  /// Of the honest schedule.
  let seed: UInt64
  private var random: SplitMix64
  private let cast: HouseholdCast
  /// People whose keys the adversary has as soon as they are out of Emma, and those whose it has all the time: a viewer's,
  /// or an editor's.
  private let traitors: Set<Int>
  private let captives: Set<Int>
  private let taking: [Int]
  private var steps: [(HonestStep, String)] = []
  private var honest: Household?
  private var alone = Household.Meeting()
  private var expected: HouseholdView?
  private(set) var trace: [String] = []

  private static let (anna, ben, carla, dora, egon) = (0, 1, 2, 3, 4)

  init(seed: UInt64) throws {
    self.seed = seed
    cast = try HouseholdCast.shared.get()
    random = SplitMix64(seed: seed)
    let captives: Set<Int> =
      switch seed % 4 {
      case 1: [Self.egon]
      case 2: [Self.carla]
      default: []
      }
    var traitors: Set<Int> = [Self.dora]
    if seed % 4 == 3 { traitors.insert(Self.carla) }
    if seed % 8 == 4 { traitors.insert(Self.anna) }
    (self.captives, self.traitors) = (captives, traitors)
    var taking = [0, 2, 3, 7]
    for number in [1, 4, 5, 6, 8] where Int.random(in: 0..<3, using: &random) == 0 {
      taking.append(number)
    }
    let seats = cast.seats
    self.taking = taking.filter { !captives.contains(seats[$0].person) }
  }

  /// Who may give up what they have: those whose keys the adversary has, and whoever offers one of them their place, who agree.
  private var leaving: Set<PersonID> {
    let adversaries = captives.union(traitors)
    let offering = steps.compactMap { step, _ in
      if case .offer(let machine, _, let taker) = step, adversaries.contains(taker) {
        person(at: machine)
      } else {
        nil
      }
    }
    return Set(adversaries.union(offering).map { cast.persons[$0] })
  }

  /// Whose machine that is.
  private func person(at machine: Int) -> Int? {
    if cast.seats.indices.contains(machine) { return cast.seats[machine].person }
    for case (.addMachine(let person, machine, _), _) in steps { return person }
    return nil
  }

  /// Whether somebody who may write is the adversary's.
  private var hasEditor: Bool { captives.contains(Self.carla) }

  // MARK: The two runs

  /// Carries the schedule out without any adversary.
  ///
  /// - Returns: What is not as it has to be; each begins with the name of the property.
  mutating func runAlone() throws -> [String] {
    try SeededRandomness.with(seed: seed) { try carryOutAlone() }
  }

  private mutating func carryOutAlone() throws -> [String] {
    let house = try Household(cast, taking: taking, traitors: traitors)
    try record(in: house)
    alone = try house.meet()
    guard alone.isAtRest else {
      return ["rest: honest people alone do not come to rest: \(alone.lastMoves)"]
    }
    let removed = Self.removals(in: alone, of: house)
    guard removed.isEmpty else { return removed }
    expected = try HouseholdView(of: house, leaving)
    honest = house
    return []
  }

  /// Carries it out once more beside an adversary.
  ///
  /// - Parameter adversary: The seed of what it does.
  /// - Returns: What is not as it has to be, and what happened.
  func run(beside adversary: UInt64) throws -> (failures: [String], trace: [String]) {
    try SeededRandomness.with(seed: adversary &* 2 &+ 1) { try carryOut(beside: adversary) }
  }

  private func carryOut(
    beside adversary: UInt64
  ) throws -> (failures: [String], trace: [String]) {
    guard let honest, let expected else { preconditionFailure("it was carried out alone") }
    let attacked = try Household(cast, taking: taking, traitors: traitors)
    var intruder = try Intruder(cast, seed: adversary, readers: try captiveMachines())
    let replay = try replay(
      in: attacked, against: &intruder, SplitMix64(seed: adversary &* 2 &+ 3))
    var failures = replay.failures
    let (meeting, misled) = try Self.meetAndSettle(attacked, besides: Set(intruder.written.keys))
    intruder.look(at: attacked)
    let checks = AdversaryChecks(
      attacked: attacked, honest: honest, intruder: intruder, hasEditor: hasEditor,
      captives: captives, leaving: leaving, misled: misled)
    let known = attacked.everyone.flatMap(Self.knowledge)
    failures += try checks.failures(expecting: replay.hasParted ? nil : expected)
    failures += checks.restFailures(meeting, alone: alone)
    failures += Self.removals(in: meeting, of: attacked)
    if failures.isEmpty { return ([], []) }
    // The checks have opened every vault anew.
    let fresh = Set(attacked.everyone.flatMap(Self.knowledge))
    var words = known.filter { !fresh.contains($0) }
    // A failure is told also where a machine can no more say what it knows.
    do { words += try Self.lastWords(of: attacked) } catch { words.append("last words: \(error)") }
    return (failures, trace + ["-- with the adversary"] + intruder.trace + words)
  }

  /// All sync with all. Where somebody was misled, they are told, ask, and say which end of the place is true; then all sync
  /// once more, until nobody is misled.
  ///
  /// - Returns: The last exchange, and who was misled before.
  private static func meetAndSettle(
    _ house: Household, besides foreign: Set<BlobPath>
  ) throws -> (Household.Meeting, Misled) {
    var meeting = try house.meet()
    var all = try Misled(of: house, besides: foreign)
    var now = all
    for _ in 0..<4 where !now.isEmpty {
      for end in now.ends {
        try house.machine(end.machine).vault.settle(end.member, on: end.link)
      }
      let removed = meeting.removed
      meeting = try house.meet()
      meeting.removed += removed
      now = try Misled(of: house, besides: foreign)
      all.join(now)
    }
    return (meeting, all)
  }

  /// Nobody removes a machine but its own person, or they themself where they add it beside a removal that has not come there.
  private static func removals(in meeting: Household.Meeting, of house: Household) -> [String] {
    meeting.removed.filter { !house.added.contains($0) }.map {
      "devices: \($0) was removed, and nobody did so"
    }
  }

  /// What the machines say when they sync once more, and what they read for it.
  private static func lastWords(of house: Household) throws -> [String] {
    var lines: [String] = []
    for machine in house.everyone {
      lines += hidden(of: house, at: machine) + knowledge(of: machine)
      lines += links(of: house, at: machine)
      for (number, remote) in house.remotes.enumerated() {
        let recording = RecordingStore(remote)
        let report = try Household.sync(
          machine.vault, with: recording, as: "r\(number)", direction: .both)
        lines += report.problems.map { "\(machine.name), r\(number): \($0.path): \($0.text)" }
        lines += recording.calls(.read).map { "\(machine.name), r\(number) reads \($0.path)" }
      }
    }
    return lines
  }

  /// Why members that others see are not to be seen at a machine.
  private static func hidden(of house: Household, at machine: Household.Machine) -> [String] {
    let context = machine.vault.context
    return house.members.sorted { $0.key < $1.key }.compactMap { name, id in
      if machine.vault.member(id) != nil { return nil }
      let isOpened = machine.vault.openedMembers.contains { $0.id == id }
      let line = "\(machine.name) does not show \(name) (\(id.hex)), opened: \(isOpened)"
      do throws(VaultError) {
        let opened = try context.opening(of: id).open(
          identities: context.keys.identities.expanded())
        return "\(line), could open \(opened.keys.currentEpoch.shortHex)"
      } catch {
        return "\(line): \(error)"
      }
    }
  }

  /// How a machine judges the links of members that are here.
  private static func links(
    of house: Household, at machine: Household.Machine
  ) -> [String] {
    house.members.sorted { $0.key < $1.key }.flatMap { name, id -> [String] in
      guard machine.store.blobs[BlobPath(VaultPath.memberRoot(id).string)] != nil else { return [] }
      let links: MemberLinks
      do throws(VaultError) {
        links = try machine.vault.context.opening(of: id).loadLinks()
      } catch { return ["\(machine.name): \(name): \(error)"] }
      let over =
        "\(machine.name): \(name): over: \(links.trust.epochs.over.map(\.shortHex).sorted())"
      return [over]
        + links.files.keys.sorted { $0.string < $1.string }.compactMap { path in
          guard case .link(_, let id) = path, let link = links.history.link(id),
            let verdict = links.history.verdict(on: id)
          else { return nil }
          let device = machine.vault.context.people.trust.statements.certificates[link.certificate]
          let blob = BlobPath(path.string)
          let places =
            (machine.store.blobs[blob] != nil ? ["here"] : [])
            + house.remotes.indices.filter { house.remotes[$0].blobs[blob] != nil }.map { "r\($0)" }
          return "\(machine.name): \(name): \(id.shortHex) by \(device?.device.shortHex ?? "?") as "
            + "\(link.place.map { $0.person.shortHex } ?? "nobody") after \(link.follows.map(\.shortHex)): "
            + "\(link.changes) epoch \(link.epoch?.shortHex ?? "no"): \(verdict) at \(places)"
        }
    }
  }

  /// Entries that a machine does not take yet, and what it knows of the device for which each waits.
  private static func waiting(at machine: Household.Machine) -> [String] {
    machine.vault.members.flatMap { member in
      member.heads.withLock { heads in
        heads.held.map { held in
          "\(machine.name): \(member.name.string): \(held.entry.title.string) with \(held.entry.version) by "
            + "\(held.source.shortHex) waits for \(held.device.shortHex), here at "
            + "\(heads.last(of: held.device)?.counter ?? 0)"
        }
      }
    }
  }

  /// What a machine has read of each member, and what it does not take.
  private static func knowledge(of machine: Household.Machine) -> [String] {
    waiting(at: machine)
      + machine.vault.members.flatMap { member -> [String] in
        let title = "\(machine.name): \(member.name.string)"
        let heads = member.heads.withLock { heads in
          heads.loaded.values.map {
            "\(title): head \($0.counter) of \($0.device.shortHex), late: \($0.late != nil)"
          }.sorted()
            + [
              "\(title): waiting: \(heads.waiting.keys.map(\.shortHex).sorted()), "
                + "refused: \(heads.refused.keys.map(\.shortHex).sorted()), "
                + "apart: \(heads.lines.apart.map(\.shortHex).sorted())"
            ]
        }
        let entries = member.allEntries().map {
          "\(title): \($0.title.string), deleted: \($0.isDeleted), by \($0.device.shortHex): "
            + $0.version.entries.map { "\($0.device.shortHex) \($0.counter)" }.joined(
              separator: ", ")
        }
        return heads + entries.sorted()
      }
  }

  private func captiveMachines() throws -> [Household.Machine] {
    try cast.seats.enumerated().filter { captives.contains($0.element.person) }.map {
      number, seat in
      try Household.Machine(
        number, seat.person, seat.name, cast.vault, seat.disk, at: Household.beginning)
    }
  }

  private mutating func record(in house: Household) throws {
    var schedule = HonestSchedule(seed: seed, traitors: traitors, captives: captives)
    var steps: [(HonestStep, String)] = []
    func take(_ step: HonestStep) throws {
      let outcome = try house.perform(step)
      trace.append("\(step): \(outcome)")
      steps.append((step, outcome))
    }
    for step in prelude { try take(step) }
    let count = 14 + Int(seed % 13)
    while steps.count < count + prelude.count {
      guard let step = schedule.next(in: house) else { continue }
      try take(step)
    }
    self.steps = steps
  }

  /// What happens in some schedules for certain, so that it need not come by chance.
  private var prelude: [HonestStep] {
    let meeting = [0, 3, 0, 3].map { HonestStep.sync($0, remote: 0, .both) }
    switch seed % 8 {
    case 0, 5: return [.removeMachine(0, lost: 2), .sync(0, remote: 0, .both)]
    case 1, 6: return [.unshare(0, "Emma", from: Self.dora), .sync(0, remote: 1, .both)]
    case 4:
      return [.offer(0, "Emma", to: Self.ben)] + meeting + [.agree(3, "Emma")] + meeting
        + [.unshare(3, "Emma", from: Self.anna), .sync(3, remote: 0, .both)]
    default: return []
    }
  }

  /// - Returns: What went otherwise, and whether it did so for a good reason: then the runs cannot be compared any more.
  private func replay(
    in house: Household, against intruder: inout Intruder, _ random: SplitMix64
  ) throws -> (failures: [String], hasParted: Bool) {
    var random = random
    var failures: [String] = []
    var hasParted = false
    var earlier: [BlobPath: [UInt8]] = [:]
    let turn = Int.random(in: 0..<steps.count, using: &random)
    for (number, (step, expected)) in steps.enumerated() {
      if number == turn { earlier = house.remotes[0].blobs }
      let acts = number < 2 ? 0 : Int.random(in: 0..<4, using: &random)
      for _ in 0..<acts { try intruder.act(in: house) }
      let outcome = try house.perform(step)
      intruder.trace.append("\(step): \(outcome)")
      if outcome != expected {
        // Who is not known yet to be out may keep people from it for so long, and then something else has happened.
        let misled = try Misled(of: house, besides: Set(intruder.written.keys))
        hasParted =
          step.actor.flatMap { house.machines[$0] }.map {
            !house.removals.unheard(in: $0.store.blobs).isEmpty || misled.contains($0.number)
          } ?? false
        if hasParted { break }
        let error = house.lastError.map { ": \($0)" } ?? ""
        failures.append("steps: \(step) gave \(outcome) instead of \(expected)\(error)")
      }
      try intruder.takeWhatWasLost(in: house)
    }
    for _ in 0..<8 { try intruder.act(in: house) }
    if Bool.random(using: &random) { try intruder.strikeLast(in: house, earlier) }
    return (failures, hasParted)
  }
}
