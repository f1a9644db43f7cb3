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
  package var text: String?

  package init() {}

  /// - Parameter deviceName: What a device is called now.
  package func allows(_ logged: LoggedEvent, deviceName: (DeviceID) -> String) -> Bool {
    guard allowsFromAnyDevice(logged) else { return false }
    guard let wanted = device?.lowercased() else { return true }
    let names = [logged.event.device.lowercased(), deviceName(logged.device).lowercased()]
    return names.contains(wanted) || wanted.count >= 6 && logged.device.hex.hasPrefix(wanted)
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
    if let text {
      let wanted = text.lowercased()
      let said = [event.place, event.detail, event.about, event.device, event.action]
      guard said.contains(where: { $0.lowercased().contains(wanted) }) else { return false }
    }
    return true
  }
}
