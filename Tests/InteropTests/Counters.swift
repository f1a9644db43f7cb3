/// How far the counters of devices have come, as the heads that count say it (section 9 of the format, "Counters"): a reader
/// that is no device and remembers nothing. What a version vector has above that waits.
struct Counters {
  /// Of devices of which a head counts.
  private var heads: [[UInt8]: UInt64] = [:]
  /// What heads that are believed say of any, in `cover`, `heard` and `reached`.
  private var told: [[UInt8]: UInt64] = [:]
  /// What devices that were taken over have in common with those that took them over, as `branches` and `retold` say.
  private var shared: [[UInt8]: UInt64] = [:]
  private let devices: CertifiedDevices

  init(_ heads: [MemberHead], of devices: CertifiedDevices) throws {
    self.devices = devices
    for head in heads {
      self.heads[head.device] = head.counter
      for field: UInt64 in [3, 11, 12] {
        for said in try head.body.messages(field) {
          let device = try said.bytes(1)
          guard
            !devices.current.contains(device) || devices.owners.contains(head.device)
              || devices.areOfOnePerson(device, head.device)
          else { continue }
          told[device] = max(told[device, default: 0], try said.number(2))
        }
      }
      for branch in try head.body.messages(8) {
        let device = try branch.bytes(1)
        guard devices.hasBecome(head.device, from: device) else { continue }
        shared[device] = max(shared[device, default: 0], try branch.number(2))
      }
      guard devices.owners.contains(head.device) else { continue }
      for line in try head.body.messages(17) {
        let (device, taker) = (try line.bytes(1), try line.bytes(3))
        guard devices.hasBecome(taker, from: device) else { continue }
        shared[device] = max(shared[device, default: 0], try line.number(2))
      }
    }
  }

  /// Whether an entry with this version vector waits for heads that have not come, or never were.
  func holdUp(_ version: [[UInt8]: UInt64]) -> Bool {
    version.contains { device, counter in
      // What begins with zeros stands for a revision.
      device.prefix(8) != [0, 0, 0, 0, 0, 0, 0, 0] && counter > limit(of: device)
        && !devices.former.contains(device)
    }
  }

  private func limit(of device: [UInt8]) -> UInt64 {
    let common = shared[device, default: 0]
    if let own = heads[device] { return max(own, common) }
    return devices.writers.contains(device) ? max(told[device, default: 0], common) : 0
  }
}

/// What people say of devices, as far as it decides how far these have come.
struct CertifiedDevices {
  /// Those that their persons have left out.
  var former: Set<[UInt8]> = []
  /// Those of people who could ever write the member.
  var writers: Set<[UInt8]> = []
  /// Those of people who may write it now, whether they count or not.
  var current: Set<[UInt8]> = []
  /// Those of the member's owners that count.
  var owners: Set<[UInt8]> = []
  /// Who has certified each, whether it counts or not.
  var persons: [[UInt8]: [UInt8]] = [:]
  /// Which device each was before, if its machine was another one.
  var before: [[UInt8]: [UInt8]] = [:]

  func areOfOnePerson(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    persons[one].map { $0 == persons[other] } ?? false
  }

  func hasBecome(_ new: [UInt8], from old: [UInt8]) -> Bool {
    var (device, steps) = (before[new], 0)
    while let earlier = device, earlier != old, steps < before.count {
      (device, steps) = (before[earlier], steps + 1)
    }
    return device == old
  }
}

/// A head of a member that counts, opened.
struct MemberHead {
  let device: [UInt8]
  let counter: UInt64
  /// A `Head`.
  let body: WireMessage
}
