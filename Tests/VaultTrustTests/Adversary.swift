import Fuzzing
import VaultModel
import VaultTrust

/// Writes what the keys of those can make who do not count.
struct Adversary {
  private(set) var world: World
  private var random: SeededRandom
  private var devices: [TestDevice]
  /// Words of people without access, who may close what is theirs, and words that were replaced.
  private let words: [(TestPerson, TestKey)]
  private let everyone: [TestPerson]
  private let member: MemberID
  private var links: [StatementID]
  private var places: [Place]
  private let generations: [StatementID]

  init(after schedule: Schedule, judged trust: Trust, seed: UInt64) {
    world = schedule.world
    random = SeededRandom(seed: seed)
    member = schedule.member
    let access = trust.access(to: member)
    let outside = schedule.people.filter { access?.includes($0.id) != true }
    let stranger = TestPerson("Mallory")
    let opening = world.closing(of: stranger)
    devices = schedule.devices.filter { device in
      schedule.removed.contains(device) || outside.contains(device.person)
    }
    devices.append(world.device("desk", of: stranger, in: opening))
    let current = outside.compactMap { person in schedule.words[person].map { (person, $0) } }
    words = schedule.oldWords + current + [(stranger, stranger.words)]
    everyone = schedule.people + [stranger]
    links = schedule.links
    places = [member.firstPlace(of: schedule.people[0])]
    for id in schedule.links {
      for case .give(let person, .owner, _) in trust.statements.links[member]?[id]?.changes ?? [] {
        places.append(Place(link: id, person: person))
      }
    }
    generations = trust.people.values.flatMap { Array($0.counting) }.sorted()
  }

  mutating func write() {
    guard let (device, place) = seat() else { return }
    // As somebody who still had the place would, or from wherever.
    let made = links.contains(place.link) && random.number(below: 4) > 0 ? [place.link] : []
    let more = (0..<random.number(below: 3)).compactMap { _ in random.pick(links) }
    let follows = Array(Set(made + more))
    if random.number(below: 100) == 0 { return flood(by: device, follows) }
    switch random.number(below: 8) {
    case 0: certify(device)
    case 1: close()
    case 2: links.append(world.leave(member, by: device, follows: follows))
    case 3:
      guard let taker = random.pick(devices) else { return }
      links.append(
        world.handOver(member, by: device, as: place, to: taker, follows: follows))
    default:
      let link = Link(
        member: member, person: device.person.id, certificate: device.certificate, place: place,
        follows: follows, changes: changes(), epoch: random.number(below: 3) == 0 ? .zero : nil,
        wraps: wraps(), confirmed: random.pick(links).map { [$0] } ?? [])
      let id = world.add(.link, link.encoded(), by: device.key)
      links.append(id)
      for case .give(let person, .owner, _) in link.changes {
        places.append(Place(link: id, person: person))
      }
    }
  }

  /// Leaves more often than anybody does.
  private mutating func flood(by device: TestDevice, _ follows: [StatementID]) {
    let role: Role? = random.number(below: 2) == 0 ? nil : .viewer
    for number in 0..<Self.floodCount {
      links.append(
        world.link(
          member, by: device, as: nil, follows: follows,
          [.limit(device.person.id, role, until: 0)], time: UInt64(number)))
    }
  }

  /// More than a reader would look at who looks at some.
  private static let floodCount = 80

  /// A device and a place: mostly one that was its person's once.
  private mutating func seat() -> (TestDevice, Place)? {
    guard let device = random.pick(devices), let any = random.pick(places) else { return nil }
    let own = places.filter { $0.person == device.person.id }
    return (device, random.number(below: 3) > 0 ? random.pick(own) ?? any : any)
  }

  private mutating func changes() -> [Change] {
    var owners: Set<PersonID> = []
    return (0..<random.number(below: 4)).compactMap { _ in
      guard let person = random.pick(everyone), let role = random.pick(Role.allCases) else {
        return nil
      }
      switch random.number(below: 3) {
      case 0: return .take(person, to: role == .owner ? nil : role)
      case 1: return role == .owner ? nil : .give(person, role, until: 9)
      default:
        return owners.insert(person.id).inserted ? .give(person, .owner) : nil
      }
    }
  }

  private mutating func wraps() -> [Wrap] {
    (0..<random.number(below: 3)).compactMap { _ in
      guard let person = random.pick(everyone), let generation = random.pick(generations) else {
        return nil
      }
      return Wrap(
        epoch: random.pick(links), person: person.id, generation: generation, file: .zero)
    }
  }

  /// A device of whomever, approved by a device that does not count or by words that do not.
  private mutating func certify(_ device: TestDevice) {
    guard let generation = random.pick(generations) else { return }
    devices.append(
      world.device(
        "made up \(devices.count)", of: device.person, in: generation, approvedBy: device))
  }

  private mutating func close() {
    guard let (person, key) = random.pick(words), let tip = random.pick(generations) else { return }
    let own = devices.filter { $0.person == person }
    // Whatever it takes back, those who left have listed that they did.
    _ = world.closing(
      of: person, follows: random.number(below: 2) == 0 ? [] : [tip], stay: own,
      counted: Array(Set(links.suffix(3))), retracted: Array(Set(links.prefix(64))), by: key,
      time: UInt64(links.count))
  }
}

extension SeededRandom {
  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[number(below: elements.count)]
  }
}
