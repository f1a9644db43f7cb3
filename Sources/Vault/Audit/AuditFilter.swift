import VaultModel

/// Which events of the log are wanted; whatever is not said lets all through.
package struct AuditFilter: Sendable {
  package var action: String?
  package var member: MemberID?
  /// A record, and what it was called: what was noted under either, or in a record below that name.
  package var record: (id: RecordID?, place: String)?
  /// What a device is called, was called then, or the first digits of its id.
  package var device: String?
  /// Whom it is about: the id, or what they were called then.
  package var person: (id: PersonID?, name: String)?
  /// Whether what that person did is wanted as well: in a journal, where others' events stand.
  package var includesDeeds = false
  /// Milliseconds since 1970: from here on, and before.
  package var since: UInt64 = 0
  package var until: UInt64 = .max
  /// Stands in something that the event says, in whatever case.
  package var text: String? {
    didSet { sought = text.map(SoughtText.init) }
  }
  private var sought: SoughtText?

  package init() {}

  /// - Parameter deviceName: What a device is called now.
  package func allows(_ logged: LoggedEvent, deviceName: (DeviceID) -> String) -> Bool {
    guard allowsFromAnyDevice(logged) else { return false }
    return allows(logged.device, called: logged.event.device, deviceName(logged.device))
  }

  /// Whether what is said of devices lets one through that has these names.
  package func allows(_ id: DeviceID, called names: String...) -> Bool {
    guard let wanted = device?.lowercased() else { return true }
    return names.contains { $0.lowercased() == wanted }
      || wanted.count >= 6 && id.hex.hasPrefix(wanted)
  }

  /// Whether all but what is said of devices lets it through.
  func allowsFromAnyDevice(_ logged: LoggedEvent) -> Bool {
    let event = logged.event
    guard event.time >= since, event.time < until else { return false }
    if let action, event.action != action { return false }
    if let member, event.member != member { return false }
    if let record {
      let isBelow = event.place == record.place || event.place.hasPrefix(record.place + "/")
      guard isBelow || record.id != nil && event.record == record.id else { return false }
    }
    if let person {
      let isNamed = !event.about.isEmpty && event.about.lowercased() == person.name.lowercased()
      let isOfThem = event.person == person.id || includesDeeds && logged.person == person.id
      guard isNamed || person.id != nil && isOfThem else { return false }
    }
    if let sought {
      let stands =
        sought.stands(in: event.place) || sought.stands(in: event.detail)
        || sought.stands(in: event.about) || sought.stands(in: event.device)
        || sought.stands(in: event.action)
      guard stands else { return false }
    }
    return true
  }
}

/// A text that is looked for in whatever case, in a million others.
private struct SoughtText: Sendable {
  private let lowercased: String
  /// Where it has nothing else than ASCII.
  private let bytes: [UInt8]?

  init(_ text: String) {
    lowercased = text.lowercased()
    let utf8 = Array(lowercased.utf8)
    bytes = utf8.allSatisfy { $0 < 0x80 } ? utf8 : nil
  }

  func stands(in text: String) -> Bool {
    if let bytes {
      let found = text.utf8.withContiguousStorageIfAvailable { Self.find(bytes, in: $0) }
      if let found, let answer = found { return answer }
    }
    return text.lowercased().contains(lowercased)
  }

  /// - Returns: Nil where the text is not ASCII alone.
  private static func find(_ wanted: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Bool? {
    guard text.allSatisfy({ $0 < 0x80 }) else { return nil }
    guard let first = wanted.first else { return true }
    guard text.count >= wanted.count else { return false }
    for start in 0...(text.count - wanted.count) where lower(text[start]) == first {
      let isThere = wanted.indices.dropFirst().allSatisfy { lower(text[start + $0]) == wanted[$0] }
      if isThere { return true }
    }
    return false
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
