import Fuzzing
import TestSupport
import Testing
import VaultModel
import VaultTrust

/// An adversary with real keys beside a family that does what families do.
///
/// A random honest schedule is judged; then keys that do not count (devices that were removed,
/// people without access, words that were replaced) write random well-formed statements, and all
/// is judged again: for honest people everything is as it was. Beside each schedule stand several
/// adversaries, one after the other.
@Suite struct AdversaryTests {
  private static let schedulesInGroup: UInt64 = 25
  private static let adversaryCount = 4

  @Test(arguments: Seeds.first(20, unless: "KINVAULT_JUDGEMENTS"))
  func adversariesChangeNothing(group: UInt64) {
    let first = group * Self.schedulesInGroup
    for seed in first..<first + Self.schedulesInGroup {
      var schedule = Schedule(seed: seed)
      for _ in 0..<24 { schedule.step() }
      let before = schedule.world.trust(memory: schedule.memory)
      let honest = Set(
        schedule.people.filter { before.access(to: schedule.member)?.includes($0.id) == true })
      let expected = schedule.outcome(before, honest)
      #expect(schedule.hadOwners && !honest.isEmpty, "seed \(seed)")
      // A head that could not be read would be the same beside everyone.
      #expect(!expected.contains("broken"), "seed \(seed)")
      for number in 0..<Self.adversaryCount {
        var adversary = Adversary(
          after: schedule, judged: before, seed: seed &* 64 &+ UInt64(number))
        for _ in 0..<40 { adversary.write() }
        #expect(adversary.world.files.count > schedule.world.files.count + 10, "seed \(seed)")
        let after = adversary.world.trust(memory: before.memory)
        #expect(
          schedule.outcome(after, honest) == expected, "seed \(seed), adversary \(number)")
      }
    }
  }
}

/// Honest people who share, take, hand over, leave and change keys, some of them at once.
struct Schedule {
  private(set) var world = World()
  private var random: SeededRandom
  private(set) var people: [TestPerson] = []
  private(set) var devices: [TestDevice] = []
  /// Those that their persons have left out, whatever the judgement says of them.
  private(set) var removed: Set<TestDevice> = []
  /// The words of each person that are good now, and those that were.
  private(set) var words: [TestPerson: TestKey] = [:]
  private(set) var oldWords: [(TestPerson, TestKey)] = []
  private(set) var member: MemberID
  private(set) var links: [StatementID] = []
  private(set) var memory = TrustMemory.empty
  private(set) var hadOwners = true
  /// What some device knew a while ago: links that are written beside others follow that.
  private var earlier: [Trust] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    for name in ["Anna", "Ben", "Carl", "Dora", "Egon"] {
      let person = TestPerson(name)
      people.append(person)
      words[person] = person.words
      let opening = world.closing(of: person)
      let desk = world.device("desk", of: person, in: opening)
      devices += [desk, world.device("phone", of: person, in: opening, approvedBy: desk)]
    }
    member = world.member(by: devices[0])
    links.append(
      world.link(member, by: devices[0], as: member.firstPlace(of: people[0]), [], epoch: true))
    for person in people[1...2] {
      let place = member.firstPlace(of: people[0])
      links.append(
        world.link(
          member, by: devices[0], as: place, follows: [links[links.count - 1]],
          [.give(person, .owner)]))
    }
    learn()
  }

  private mutating func learn() {
    let trust = world.trust(memory: memory)
    memory = trust.memory
    hadOwners = hadOwners && trust.access(to: member)?.owners.isEmpty == false
    earlier = Array((earlier + [trust]).suffix(3))
  }

  mutating func step() {
    let now = earlier[earlier.count - 1]
    switch random.number(below: 12) {
    case 0: close(now)
    case 1: replaceWords(now)
    case 2: addDevice(now)
    case 3: handOver(now)
    case 4: leave(now)
    default:
      let view = random.number(below: 3) == 0 ? earlier[0] : now
      change(view)
    }
    learn()
  }

  /// A device that counts, of someone who holds a place, and that place.
  private mutating func owner(_ view: Trust) -> (TestDevice, Place)? {
    let seats = devices.flatMap { device -> [(TestDevice, Place)] in
      guard view.device(device.certificate) == .counts else { return [] }
      return (view.members[member]?.seats(of: device.person.id) ?? []).map { (device, $0) }
    }
    return random.pick(seats)
  }

  private mutating func change(_ view: Trust) {
    guard let (device, place) = owner(view), let person = random.pick(people),
      person != device.person, let role = random.pick(Role.allCases)
    else { return }
    var changes: [Change] = []
    var confirmed: [StatementID] = []
    let limit: Role? = role == .owner ? nil : role
    switch random.number(below: 4) {
    case 0:
      changes = [.take(person, to: limit)]
      // What the one who is limited had written, as it counts here.
      confirmed = links.filter { view.link($0, in: member) == .counts && isWritten($0, by: person) }
    default: changes = [.give(person, role)]
    }
    add(device, place, view, changes, confirmed)
  }

  private func isWritten(_ id: StatementID, by person: TestPerson) -> Bool {
    view(id)?.person == person.id
  }

  private func view(_ id: StatementID) -> Link? {
    earlier[earlier.count - 1].statements.links[member]?[id]
  }

  private mutating func add(
    _ device: TestDevice, _ place: Place, _ view: Trust, _ changes: [Change],
    _ confirmed: [StatementID] = []
  ) {
    let link = Link(
      member: member, person: device.person.id, certificate: device.certificate, place: place,
      follows: view.members[member]?.tips ?? [], changes: changes,
      epoch: random.number(below: 4) == 0 ? .zero : nil, confirmed: confirmed)
    links.append(world.add(.link, link.encoded(), by: device.key))
  }

  private mutating func handOver(_ now: Trust) {
    guard let (device, place) = owner(now),
      let taker = random.pick(devices.filter { now.device($0.certificate) == .counts }),
      taker.person != device.person
    else { return }
    let handOver = world.handOver(
      member, by: device, as: place, to: taker, follows: now.members[member]?.tips ?? [])
    var steps = world.steps(of: handOver)
    if random.number(below: 2) == 0 {
      steps.append(world.leave(member, by: device, follows: [handOver]))
    }
    links += steps
    // Final only when the words of the one who gives list it, and all that came before.
    close(now, of: device.person, more: steps)
  }

  private mutating func leave(_ now: Trust) {
    guard let (device, _) = owner(now), Set(now.access(to: member)?.owners ?? []).count > 1 else {
      return
    }
    links.append(
      world.leave(member, by: device, follows: now.members[member]?.tips ?? []))
    close(now, of: device.person, more: [links[links.count - 1]])
  }

  private mutating func close(_ now: Trust) {
    guard let person = random.pick(people) else { return }
    close(now, of: person)
  }

  /// The words close: some device may go, and whatever counts of the person's is listed.
  private mutating func close(_ now: Trust, of person: TestPerson, more: [StatementID] = []) {
    guard let history = now.people[person.id], let key = words[person] else { return }
    let own = devices.filter { $0.person == person && now.device($0.certificate) == .counts }
    let stay = own.count > 1 && more.isEmpty ? Array(own.dropFirst()) : own
    removed.formUnion(Set(own).subtracting(stay))
    _ = world.closing(
      of: person, follows: history.tips, stay: stay, counted: counted(now, person) + more, by: key,
      time: UInt64(links.count))
  }

  private func counted(_ now: Trust, _ person: TestPerson) -> [StatementID] {
    let own = links.filter { id in
      guard let link = now.statements.links[member]?[id] else { return false }
      return now.link(id, in: member) == .counts && link.person == person.id
    }
    return Array(Set(own + (person == people[0] ? [member.root] : [])))
  }

  private mutating func replaceWords(_ now: Trust) {
    guard let person = random.pick(people), let old = words[person],
      let history = now.people[person.id]
    else { return }
    let new = TestKey("\(person.name) \(oldWords.count)")
    let own = devices.filter { $0.person == person && now.device($0.certificate) == .counts }
    _ = world.closing(
      of: person, follows: history.tips, stay: own, counted: counted(now, person), by: new,
      replacing: [old])
    words[person] = new
    oldWords.append((person, old))
  }

  private mutating func addDevice(_ now: Trust) {
    guard let person = random.pick(people), let generation = now.people[person.id]?.openGeneration,
      let key = words[person]
    else { return }
    devices.append(
      world.device("device \(devices.count)", of: person, in: generation, words: key))
  }

  /// All that honest people see, in words that can be compared.
  ///
  /// - Parameter honest: those with access; the others may do with their own devices as they like.
  func outcome(_ trust: Trust, _ honest: Set<TestPerson>) -> [String] {
    let access = trust.access(to: member)
    var lines = ["owners \(access?.owners ?? [])"]
    lines.append("epoch \(trust.epochs[member]?.current?.hex ?? "none")")
    for person in people {
      let roles = access?.entitlements[person.id]?.map { "\($0.role)" }.sorted() ?? []
      let tips = honest.contains(person) ? trust.people[person.id]?.tips ?? [] : []
      lines.append("\(person.name) \(roles) \(tips)")
    }
    let theirs = devices.filter { honest.contains($0.person) }
    lines += theirs.map { "\(trust.device($0.certificate))" }
    lines += links.map { "\(trust.link($0, in: member) == .counts)" }
    lines += theirs.map { device in
      let tips = earlier[0].members[member]?.tips ?? []
      let head = world.head(member, by: device, epoch: links[0], follows: tips)
      return (try? trust.verdict(onHead: head)).map { "\($0)" } ?? "broken"
    }
    return lines
  }
}
