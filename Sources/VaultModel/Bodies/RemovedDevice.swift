/// A device that its person removed.
package struct RemovedDevice: Hashable, Sendable {
  package var device: DeviceID
  /// Milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(device: DeviceID, time: UInt64, unknown: UnknownFields = .none) {
    self.device = device
    self.time = time
    self.unknown = unknown
  }

  init(_ message: Kinvault_V1_RemovedDevice) throws(ModelError) {
    device = try message.device.id("device")
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_RemovedDevice {
    var message = Kinvault_V1_RemovedDevice()
    message.device = device.data
    message.time = time
    message.unknown = unknown
    return message
  }
}
