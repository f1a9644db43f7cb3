import VaultModel
import VaultPeople

/// What of other devices has room in a head: of each person the same share, so that nobody crowds out the others with devices that
/// they have made up. All who could never write the member have one share together: anybody can make up people as well.
struct HeadRoom {
  private var persons: [DeviceID: PersonID] = [:]

  init(_ people: People, _ links: MemberLinks) {
    for person in people.persons.values where links.couldWrite(person.id) {
      for device in person.certificates.keys {
        persons[device] = min(persons[device] ?? person.id, person.id)
      }
    }
  }

  /// - Parameter persons: Who has certified each device, of those who could ever write the member.
  init(persons: [DeviceID: PersonID]) { self.persons = persons }

  /// At most `limit` of what is said of devices, each person's devices having the same share; in the order of the devices.
  func shares<Said>(
    of all: [Said], atMost limit: Int, of device: (Said) -> DeviceID
  ) -> [Said] {
    var counts: [PersonID?: Int] = [:]
    var ranked: [(rank: Int, said: Said)] = []
    for said in all.sorted(by: { device($0) < device($1) }) {
      let person = persons[device(said)]
      ranked.append((rank: counts[person, default: 0], said: said))
      counts[person, default: 0] += 1
    }
    ranked.sort { ($0.rank, device($0.said)) < ($1.rank, device($1.said)) }
    return ranked.prefix(limit).map(\.said).sorted { device($0) < device($1) }
  }

  /// The first of each list, then the second of each, and so on; what stands in several of them once.
  static func inTurn<Said: Hashable>(_ lists: [[Said]]) -> [Said] {
    var seen: Set<Said> = []
    var all: [Said] = []
    for rank in 0..<(lists.map(\.count).max() ?? 0) {
      for list in lists where rank < list.count && seen.insert(list[rank]).inserted {
        all.append(list[rank])
      }
    }
    return all
  }
}

extension Member {
  /// As much of what is said of devices as a head names, in the order of the devices.
  func withRoom<Said>(
    _ all: [Said], atMost limit: Int, of device: (Said) -> DeviceID
  ) -> [Said] {
    if all.count <= limit { return all.sorted { device($0) < device($1) } }
    return HeadRoom(context.people, register.links).shares(of: all, atMost: limit, of: device)
  }
}
