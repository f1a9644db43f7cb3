/// What a device says of itself and its person; sealed in its `DeviceBody`.
package struct DeviceProfile: Hashable, Sendable {
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

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "device profile"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_DeviceProfile) throws(ModelError) {
    deviceName = message.deviceName
    deviceKind = message.deviceKind
    profile = try PersonalProfile(message.profile)
    created = try message.created.time("creation")
    unknown = message.unknown
  }

  var message: Kinvault_V1_DeviceProfile {
    var message = Kinvault_V1_DeviceProfile()
    message.deviceName = deviceName
    message.deviceKind = deviceKind
    message.profile = profile.message
    message.created = created
    message.unknown = unknown
    return message
  }
}

/// A person's own settings, the same on all their devices: the name with the later `time` counts, and of
/// each acquaintance and invitation the entry with the later time.
package struct PersonalProfile: Hashable, Sendable {
  /// What the person calls themself.
  package var name: String
  /// Of the name.
  package var time: HybridTime
  /// Whom the person knows.
  package var people: [Acquaintance]
  /// Invitations that the person gave.
  package var invitations: [OpenInvitation]
  package var unknown: UnknownFields

  package init(
    name: String,
    time: HybridTime,
    people: [Acquaintance] = [],
    invitations: [OpenInvitation] = [],
    unknown: UnknownFields = .none
  ) {
    self.name = name
    self.time = time
    self.people = people
    self.invitations = invitations
    self.unknown = unknown
  }

  init(_ message: Kinvault_V1_PersonalProfile) throws(ModelError) {
    name = message.name
    time = HybridTime(rawValue: message.time)
    people = try message.people.map { (message) throws(ModelError) in try Acquaintance(message) }
    invitations = try message.invitations.map { (message) throws(ModelError) in
      try OpenInvitation(message)
    }
    unknown = message.unknown
  }

  var message: Kinvault_V1_PersonalProfile {
    var message = Kinvault_V1_PersonalProfile()
    message.name = name
    message.time = time.rawValue
    message.people = people.map(\.message)
    message.invitations = invitations.map(\.message)
    message.unknown = unknown
    return message
  }
}
