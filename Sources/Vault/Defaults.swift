import VaultModel

extension DeviceProfile {
  /// What is known of a device whose register is missing.
  static let unnamed = DeviceProfile(
    deviceName: "", deviceKind: "", profile: PersonalProfile(name: "", time: .zero), created: 0)
}
