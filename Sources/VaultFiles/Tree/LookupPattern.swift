/// Tells someone who looks things up here and there in a file, as a database does, from someone who reads on.
struct LookupPattern {
  private var expectedOffset: UInt64 = 0
  private var jumpCount = 0

  /// This many short reads somewhere else than where the one before ended are no accident.
  private static let jumpLimit = 4
  private static let shortRead = 64 << 10

  /// Takes note of a read; true for the one that makes the pattern clear, once.
  mutating func isRecognized(byNextReadAt offset: UInt64, byteCount: Int) -> Bool {
    defer { expectedOffset = offset + UInt64(byteCount) }
    guard jumpCount < Self.jumpLimit, offset != expectedOffset, byteCount < Self.shortRead else {
      return false
    }
    jumpCount += 1
    return jumpCount == Self.jumpLimit
  }
}
