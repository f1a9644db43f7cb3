/// The first block of a swap file of vim or Neovim (`struct block0` in vim's memline.c).
struct VimSwapHeader: Hashable {
  static let byteCount = 1008

  /// The process that made it; dead after a crash.
  var process: Int32
  /// The file that was edited, as vim wrote it.
  var path: [UInt8]

  /// Nil for what is no such block, or names no file.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count >= Self.byteCount, bytes.starts(with: "b0".utf8),
      bytes[2...].starts(with: "VIM ".utf8)
    else { return nil }
    process = bytes[24..<28].reversed().reduce(0) { $0 << 8 | Int32($1) }
    path = Array(bytes[108...].prefix { $0 != 0 })
    if path.isEmpty { return nil }
  }
}
