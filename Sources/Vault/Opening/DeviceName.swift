/// What a device, or a person, may be called.
package enum DeviceName {
  private static let byteLimit = 255

  /// Whether the name has 1 to 255 bytes, on one line, with nothing in it that does not show.
  package static func isGood(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= byteLimit
      && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
