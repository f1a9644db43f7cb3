/// What a WebP file says of itself: one picture, with nothing beside it.
/// https://developers.google.com/speed/webp/docs/riff_container
struct WebPHeader: Equatable {
  let width: Int
  let height: Int

  private typealias Chunk = (name: String, content: ArraySlice<UInt8>)

  /// Nil unless the file is whole, holds one lossy or lossless picture, its opacity at most beside it, and says one size.
  init?(_ bytes: [UInt8]) {
    guard let chunks = Self.chunks(of: bytes), let last = chunks.last,
      let size = Self.size(of: last)
    else { return nil }
    switch chunks.dropLast().map(\.name) {
    case []: break
    case ["VP8X"], ["VP8X", "ALPH"]:
      // Of what may be said to stand in the file only opacity.
      let canvas = chunks[0].content
      guard canvas.count == 10, canvas.first.map({ $0 & ~0x10 == 0 }) == true,
        1 + Self.number(canvas, 4..<7) == size.width, 1 + Self.number(canvas, 7..<10) == size.height
      else { return nil }
    default: return nil
    }
    (width, height) = size
  }

  private static func chunks(of bytes: [UInt8]) -> [Chunk]? {
    guard bytes.count >= 12, bytes.starts(with: Array("RIFF".utf8)),
      bytes[8..<12].elementsEqual("WEBP".utf8), number(bytes[...], 4..<8) == bytes.count - 8
    else { return nil }
    var rest = bytes[12...]
    var chunks: [Chunk] = []
    while !rest.isEmpty, chunks.count < 4 {
      guard rest.count >= 8 else { return nil }
      let count = number(rest, 4..<8)
      let content = rest.dropFirst(8)
      // With a byte behind it where its length is odd.
      guard content.count >= count + count % 2 else { return nil }
      chunks.append((String(decoding: rest.prefix(4), as: UTF8.self), content.prefix(count)))
      rest = content.dropFirst(count + count % 2)
    }
    return rest.isEmpty ? chunks : nil
  }

  private static func size(of chunk: Chunk) -> (width: Int, height: Int)? {
    let content = chunk.content
    switch chunk.name {
    case "VP8 ":
      // A key frame, which begins with these three bytes after its tag (RFC 6386, section 9.1).
      guard content.count >= 10, content.dropFirst(3).starts(with: [0x9D, 0x01, 0x2A]) else {
        return nil
      }
      return (number(content, 6..<8) & 0x3FFF, number(content, 8..<10) & 0x3FFF)
    case "VP8L":
      guard content.count >= 5, content.first == 0x2F else { return nil }
      let bits = number(content, 1..<5)
      return (1 + bits & 0x3FFF, 1 + bits >> 14 & 0x3FFF)
    default: return nil
    }
  }

  /// Little-endian, of bytes that are there.
  private static func number(_ bytes: ArraySlice<UInt8>, _ range: Range<Int>) -> Int {
    range.reversed().reduce(0) { $0 << 8 | Int(bytes[bytes.startIndex + $1]) }
  }
}
