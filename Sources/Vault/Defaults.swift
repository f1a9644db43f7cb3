import VaultModel

extension DeviceProfile {
  /// What is known of a device whose register is missing.
  static let unnamed = DeviceProfile(
    deviceName: "", deviceKind: "", profile: PersonalProfile(name: "", time: .zero), created: 0)
}

extension FileTimestamp {
  /// A time of the clock, in milliseconds since 1970.
  package init(milliseconds: UInt64) {
    self.init(
      seconds: Int64(clamping: milliseconds / 1000),
      nanoseconds: UInt32(milliseconds % 1000) * 1_000_000)
  }
}
