/// The devices that a segment's entries refer to by position, sorted by id.
struct DeviceTable {
  let devices: [DeviceID]
  private let positions: [DeviceID: Int]

  init(of entries: [RecordEntry]) {
    var seen: Set<DeviceID> = []
    for entry in entries {
      seen.insert(entry.device)
      for other in entry.version.entries { seen.insert(other.device) }
    }
    devices = seen.sorted()
    positions = Dictionary(uniqueKeysWithValues: zip(devices, 0...))
  }

  func position(of device: DeviceID) -> Int {
    if devices.count == 1 { return 0 }
    guard let position = positions[device] else {
      preconditionFailure("the table was made of other entries")
    }
    return position
  }
}
