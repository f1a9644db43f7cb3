import BlobStore
import NIOHTTP1

/// Asking for a part of a blob, RFC 9110 section 14.
enum ByteRange {
  /// The `Range` header's value; `count` is at least 1.
  static func header(_ offset: UInt64, _ count: Int) -> String {
    let (last, overflow) = offset.addingReportingOverflow(UInt64(count) - 1)
    return "bytes=\(offset)-\(overflow ? .max : last)"
  }

  /// The part, from the answer to such a request; nothing where it begins behind the end.
  ///
  /// What a server sends is taken only as what its header says that it is. It may be more than was asked for (sabre/dav
  /// 1.8 answers `0-0` with everything), but fewer bytes only where the blob ends.
  ///
  /// - Parameters:
  ///   - path: Of the blob, for errors.
  ///   - failure: What an answer without success means.
  static func body(
    of reply: HTTPReply, about path: BlobPath, from offset: UInt64, count: Int,
    failure: (HTTPReply) -> BlobStoreError
  ) throws(BlobStoreError) -> [UInt8] {
    let header = reply.headers.first(name: "Content-Range")
    // `rclone serve s3` sends a part and calls it 200, so the header decides and not the status.
    if reply.isSuccess, header != nil || reply.status == 206 {
      let end = offset.addingReportingOverflow(UInt64(count))
      guard let sent = header.flatMap(SentRange.init), sent.count == UInt64(reply.body.count),
        sent.first <= offset,
        sent.end >= min(end.overflow ? .max : end.partialValue, sent.total ?? .max)
      else { throw another(reply, path) }
      return Array(reply.body.dropFirst(Int(clamping: offset - sent.first)).prefix(count))
    }
    switch reply.status {
    case 416:
      // `bytes */1000` says how much there is.
      if let total = header?.split(separator: "/").last.flatMap({ UInt64($0) }), offset < total {
        throw another(reply, path)
      }
      return []
    // A server without ranges sends the whole.
    case 200..<300: return Array(reply.body.dropFirst(Int(clamping: offset)).prefix(count))
    default: throw failure(reply)
    }
  }

  /// How many bytes the whole blob has, as the answer to such a request says; nil where it does not.
  static func wholeSize(from reply: HTTPReply) -> UInt64? {
    guard let header = reply.headers.first(name: "Content-Range") else {
      // A server without ranges sends the whole.
      return reply.status == 200 ? UInt64(reply.body.count) : nil
    }
    return header.split(separator: "/").last.flatMap { UInt64($0) }
  }

  private static func another(_ reply: HTTPReply, _ path: BlobPath) -> BlobStoreError {
    .unexpectedReply(
      path: path.string, status: reply.status, text: "another part than was asked for")
  }
}

extension BlobStore {
  /// What no bytes of a blob are, for which no range can ask. Throws `notFound` when it is absent.
  func noBytes(of path: BlobPath) throws(BlobStoreError) -> [UInt8] {
    guard try size(of: path) != nil else { throw .notFound(path: path.string) }
    return []
  }
}

/// What a `Content-Range` header says: `bytes 5-9/100`, or `bytes 5-9/*` where the server does not tell the size.
private struct SentRange {
  var first: UInt64
  /// Behind the last byte.
  var end: UInt64
  var total: UInt64?
  var count: UInt64 { end - first }

  /// Nil for what is none.
  init?(_ header: String) {
    let parts = header.split(separator: " ")
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let numbers = parts[1].split(whereSeparator: { $0 == "-" || $0 == "/" })
    guard numbers.count == 3, let first = UInt64(numbers[0]), let last = UInt64(numbers[1]),
      first <= last, last < .max
    else { return nil }
    self.first = first
    end = last + 1
    if numbers[2] != "*" {
      guard let total = UInt64(numbers[2]), end <= total else { return nil }
      self.total = total
    }
  }
}
