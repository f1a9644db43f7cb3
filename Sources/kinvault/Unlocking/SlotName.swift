/// What a person calls a way to unlock.
struct SlotName {
  let text: String

  /// - Throws: `usage` for a name that is no line of 1 to 255 bytes.
  init(_ text: String) throws(CommandError) {
    let isLine = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard !text.isEmpty, text.utf8.count <= 255, isLine else {
      throw .usage("A name has 1 to 255 bytes, on one line.")
    }
    self.text = text
  }
}
