/// Texts inside a PNG picture (PNG specification, 11.3.4.3 tEXt), found without decoding the picture.
///
/// Whoever can write into the cache chooses these bytes: however long a chunk says that it is, no more is read of it
/// than a URI may have, and the number of chunks that are looked at is bounded.
enum PNGText {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  private static let chunkLimit = 10_000
  /// In most files all texts are within so many bytes.
  private static let headByteCount = 4096

  /// The text under a key; nil where there is none, or no whole PNG file.
  ///
  /// - Parameter read: So many bytes from an offset on; fewer only at the end of the file.
  static func value<Failure: Error>(
    of key: String, read: (_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> [UInt8]? {
    let head = try read(0, headByteCount)
    guard head.starts(with: signature) else { return nil }
    func bytes(_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8] {
      if offset + UInt64(count) <= UInt64(head.count) {
        return Array(head[Int(offset)..<Int(offset) + count])
      }
      return try read(offset, count)
    }

    let start = Array(key.utf8) + [0]
    var offset = UInt64(signature.count)
    for _ in 0..<chunkLimit {
      let header = try bytes(offset, 8)
      guard header.count == 8 else { return nil }
      let length = header[..<4].reduce(0) { $0 << 8 | Int($1) }
      let type = header[4...]
      if type.elementsEqual("IEND".utf8) { return nil }
      if type.elementsEqual("tEXt".utf8), length >= start.count,
        length <= start.count + FileURI.byteLimit
      {
        let text = try bytes(offset + 8, length)
        if text.count == length, text.starts(with: start) {
          return Array(text.dropFirst(start.count))
        }
      }
      // Length, type and checksum stand around the data. 2^32 times the limit is no overflow.
      offset += UInt64(length) + 12
    }
    return nil
  }
}
