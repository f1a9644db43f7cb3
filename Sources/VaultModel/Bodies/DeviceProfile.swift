/// What a device says of itself and its person; sealed in its `DeviceBody`.
package struct DeviceProfile: Hashable, WireMessage {
  package var deviceName: String
  /// "laptop", "desktop", "server"; free text.
  package var deviceKind: String
  package var profile: PersonalProfile
  /// Milliseconds since 1970.
  package var created: UInt64
  package var unknown: UnknownFields

  package init(
    deviceName: String,
    deviceKind: String,
    profile: PersonalProfile,
    created: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.deviceName = deviceName
    self.deviceKind = deviceKind
    self.profile = profile
    self.created = created
    self.unknown = unknown
  }

  package static let what: StaticString = "device profile"
  package static let blank = DeviceProfile(
    deviceName: "", deviceKind: "", profile: .blank, created: 0)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.text(1, &deviceName, "device name")
    try fields.text(2, &deviceKind, "device kind")
    try fields.message(3, &profile)
    try fields.time(4, &created, "creation")
    fields.unknown(&unknown)
  }
}

/// A person's own settings, the same on all their devices: the name with the later `time` counts, and of
/// each acquaintance, invitation and member the entry with the later time.
package struct PersonalProfile: Hashable, WireMessage {
  /// What the person calls themself.
  package var name: String
  /// Of the name.
  package var time: HybridTime
  /// Whom the person knows.
  package var people: [Acquaintance]
  /// Invitations that the person gave.
  package var invitations: [OpenInvitation]
  /// Under which names members show to the person.
  package var members: [MemberName]
  package var unknown: UnknownFields

  package init(
    name: String,
    time: HybridTime,
    people: [Acquaintance] = [],
    invitations: [OpenInvitation] = [],
    members: [MemberName] = [],
    unknown: UnknownFields = .none
  ) {
    self.name = name
    self.time = time
    self.people = people
    self.invitations = invitations
    self.members = members
    self.unknown = unknown
  }

  package static let what: StaticString = "personal profile"
  package static let blank = PersonalProfile(name: "", time: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.text(1, &name, "name")
    try fields.time(2, &time, "time")
    try fields.messages(3, &people, "people")
    try fields.messages(4, &invitations, "invitations")
    try fields.messages(5, &members, "members")
    fields.unknown(&unknown)
  }
}
