import Glibc

/// Text from a plain file.
enum PlainText {
  /// The longest note, in bytes: what one chunk holds.
  private static let limit = 1 << 20

  /// - Parameter path: `-` is standard input.
  static func read(path: String) throws(CommandError) -> String {
    let isInput = path == "-"
    let descriptor = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    defer { if !isInput { close(descriptor) } }
    let bytes = try read(from: descriptor, path: path, limit: limit)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("\(path) is not UTF-8 text.")
    }
    return text
  }

  /// All bytes of a descriptor, if there are at most `limit`.
  static func read(
    from descriptor: Int32, path: String, limit: Int
  ) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(call: "read", path: path, errno: errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw .usage(
          "\(path) is longer than \(ByteCount.text(UInt64(limit))). Attach it as a file instead.")
      }
    }
  }
}
