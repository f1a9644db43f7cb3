import BlobStore
import NIOHTTP1

/// Why an S3 server refused, in its own code.
struct S3Failure {
  let code: String
  private let message: String
  private let reply: HTTPReply
  private let path: BlobPath

  init(_ reply: HTTPReply, _ path: BlobPath) {
    // Without a document, as after HEAD, the status has to do.
    let document =
      reply.body.isEmpty ? nil : try? XMLReply.read("Error", from: reply.body, path: path)
    code = document?.text(of: "Code") ?? ""
    message = document?.text(of: "Message") ?? ""
    self.reply = reply
    self.path = path
  }

  func error(bucket: String) -> BlobStoreError {
    switch code {
    case "NoSuchBucket": return .noSuchStore(name: "bucket \(bucket)")
    case "NoSuchKey": return .notFound(path: path.string)
    case "SlowDown", "Throttling", "RequestLimitExceeded", "ServiceUnavailable":
      return .throttled(path: path.string)
    case "RequestTimeout": return .timedOut(path: path.string)
    case "QuotaExceeded", "XMinioStorageFull", "EntityTooLarge": return .noSpace(path: path.string)
    case "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody":
      return .garbled(path: path.string, reason: "the server received other bytes than were sent")
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
      let region = reply.headers.first(name: "x-amz-bucket-region").map { " (\($0))" } ?? ""
      return .denied(
        path: path.string,
        reason:
          "the bucket is in another region\(ReplyText.oneLine(region)); say which with region=")
    default:
      return reply.failure(path, [code, message].filter { !$0.isEmpty }.joined(separator: ": "))
    }
  }
}
