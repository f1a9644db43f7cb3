import AsyncHTTPClient
import BlobStore
import NIOHTTP1

/// One request to a server, and what may come back.
struct HTTPCall {
  var method: HTTPMethod
  /// Whole and percent-encoded.
  var url: String
  var headers: [(name: String, value: String)] = []
  var body: UnsafeRawBufferPointer?
  /// What an error names: the blob or folder that the call is about.
  var path: BlobPath
  /// A successful answer with more bytes than this is cut off.
  var limit = 1 << 20

  /// Whether it does the same when it is done twice, and is answered so that whoever asked can tell: not so with a
  /// condition that the first of the two has changed, nor where the first takes away what the second asks for.
  var isRepeatable: Bool {
    let hasCondition = headers.contains { $0.name == "If-None-Match" || $0.name == "If-Match" }
    return [.GET, .HEAD, .PROPFIND, .PUT, .DELETE, .MKCOL].contains(method) && !hasCondition
  }
}

/// What a server answered.
struct HTTPReply: Sendable {
  var status: Int
  var headers: HTTPHeaders
  /// Cut short after `errorTextLimit` unless the status says success.
  var body: [UInt8]

  static let errorTextLimit = 16 << 10

  var isSuccess: Bool { (200..<300).contains(status) }

  /// As announced by the server; nil when it says nothing that makes sense.
  var contentLength: UInt64? { headers.first(name: "Content-Length").flatMap { UInt64($0) } }
}

extension HTTPReply {
  /// The meaning of a status that has the same one in every protocol here.
  ///
  /// - Parameters:
  ///   - path: What the call was about.
  ///   - text: What the server says about it, if anything that a person could use.
  func failure(_ path: BlobPath, _ text: String = "") -> BlobStoreError {
    let path = path.string
    let words = ReplyText.oneLine(text)
    switch status {
    case 300..<400:
      let target = headers.first(name: "Location").map(ReplyText.host) ?? "another place"
      return .unexpectedReply(
        path: path, status: status,
        text: "it points to \(target), which is not followed; set the address to the right place")
    case 401 where words.isEmpty:
      return .denied(path: path, reason: "it does not take the user name or the password")
    case 401, 403: return .denied(path: path, reason: words.isEmpty ? "status \(status)" : words)
    case 404: return .notFound(path: path)
    case 408: return .timedOut(path: path)
    case 423, 429, 503: return .throttled(path: path)
    case 413:
      return .unexpectedReply(
        path: path, status: status,
        text: "it takes no file as large as this; whoever runs it can raise its limit "
          + "(nginx: client_max_body_size)")
    case 507: return .noSpace(path: path)
    default: return .unexpectedReply(path: path, status: status, text: words)
    }
  }
}

/// Text from the other side, made fit to be shown.
enum ReplyText {
  /// At most 200 characters, none of which does anything to a terminal, without a full stop: sentences end with it.
  static func oneLine(_ text: String) -> String {
    let safe = text.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
        .unassigned:
        return " "
      default: return Character(scalar)
      }
    }
    var line = String(safe).split(separator: " ").joined(separator: " ")
    while line.hasSuffix(".") { line.removeLast() }
    return line.count > 200 ? line.prefix(199) + "…" : line
  }

  /// The host of a URL: the rest may hold a token.
  static func host(_ url: String) -> String {
    guard let start = url.firstRange(of: "://") else { return "another path" }
    let rest = url[start.upperBound...].prefix { !"/?#".contains($0) }
    return oneLine(String(rest.split(separator: "@").last ?? ""))
  }
}
