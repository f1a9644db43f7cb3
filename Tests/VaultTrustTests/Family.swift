import VaultModel
import VaultTrust

/// Anna, Ben and Carl with two devices each; a member that Anna made, and Ben's and Carl's places.
struct Family {
  var world = World()
  let anna = TestPerson("Anna")
  let ben = TestPerson("Ben")
  let carl = TestPerson("Carl")
  /// Each person's first closing.
  let openings: [TestPerson: StatementID]
  let annaDesk: TestDevice, annaPhone: TestDevice
  let benDesk: TestDevice, benPhone: TestDevice
  let carlDesk: TestDevice, carlPhone: TestDevice
  let emma: MemberID
  /// Begins the first epoch.
  let start: StatementID
  /// Make Ben, then Carl an owner.
  let benIn: StatementID, carlIn: StatementID

  init() {
    var openings: [TestPerson: StatementID] = [:]
    for person in [anna, ben, carl] { openings[person] = world.closing(of: person) }
    self.openings = openings
    func devices(_ person: TestPerson, _ world: inout World) -> (TestDevice, TestDevice) {
      guard let opening = openings[person] else { preconditionFailure("everyone has one") }
      let desk = world.device("desk", of: person, in: opening)
      return (desk, world.device("phone", of: person, in: opening, approvedBy: desk))
    }
    (annaDesk, annaPhone) = devices(anna, &world)
    (benDesk, benPhone) = devices(ben, &world)
    (carlDesk, carlPhone) = devices(carl, &world)
    emma = world.member(by: annaDesk)
    start = world.link(
      emma, by: annaDesk, as: emma.firstPlace(of: anna), [], epoch: true,
      wraps: [Self.wrap(anna, openings)])
    benIn = world.link(
      emma, by: annaDesk, as: emma.firstPlace(of: anna), follows: [start],
      [.give(ben, .owner)], wraps: [Self.wrap(ben, openings, start)])
    carlIn = world.link(
      emma, by: benDesk, as: Place(link: benIn, person: ben.id), follows: [benIn],
      [.give(carl, .owner)], wraps: [Self.wrap(carl, openings, start)])
  }

  var annasPlace: Place { emma.firstPlace(of: anna) }
  var bensPlace: Place { Place(link: benIn, person: ben.id) }
  var carlsPlace: Place { Place(link: carlIn, person: carl.id) }

  /// A key of an epoch for a person's first generation.
  static func wrap(
    _ person: TestPerson, _ openings: [TestPerson: StatementID], _ epoch: StatementID? = nil
  ) -> Wrap {
    Wrap(
      epoch: epoch, person: person.id, generation: openings[person] ?? .zero, file: .zero)
  }

  func wrap(_ person: TestPerson, _ epoch: StatementID? = nil) -> Wrap {
    Self.wrap(person, openings, epoch)
  }

  /// Another person with a device, of whom nobody has heard.
  mutating func newcomer(_ name: String) -> TestDevice {
    let person = TestPerson(name)
    let opening = world.closing(of: person)
    return world.device("desk", of: person, in: opening)
  }
}
