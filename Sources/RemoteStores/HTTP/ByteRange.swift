import BlobStore

/// Asking for a part of a blob, RFC 9110 section 14.
enum ByteRange {
  /// The `Range` header's value; `count` is at least 1.
  static func header(_ offset: UInt64, _ count: Int) -> String {
    let (last, overflow) = offset.addingReportingOverflow(UInt64(count) - 1)
    return "bytes=\(offset)-\(overflow ? .max : last)"
  }

  /// The part, from the answer to such a request; nothing where it begins behind the end.
  ///
  /// - Parameter failure: What an answer without success means.
  static func body(
    of reply: HTTPReply, from offset: UInt64, count: Int,
    failure: (HTTPReply) -> BlobStoreError
  ) throws(BlobStoreError) -> [UInt8] {
    // `rclone serve s3` sends a part and calls it 200, so the header decides and not the status.
    if reply.isSuccess, let range = reply.headers.first(name: "Content-Range") {
      guard range.hasPrefix("bytes \(offset)-"), reply.body.count <= count else {
        throw .unexpectedReply(
          path: "", status: reply.status, text: "another part than was asked for")
      }
      return reply.body
    }
    switch reply.status {
    case 416: return []
    // A server without ranges sends the whole.
    case 200..<300: return Array(reply.body.dropFirst(Int(clamping: offset)).prefix(count))
    default: throw failure(reply)
    }
  }
}
