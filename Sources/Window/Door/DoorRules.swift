/// What every request has to be like before anything else of it is looked at: Docs/Security.md, "What the page adds".
///
/// The page's name is a random one, made for each run and told to the browser alone. A page of somebody else that has its
/// own name point here (DNS rebinding) does not know it, nor does another user of this machine who finds the port.
struct DoorRules: Hashable, Sendable {
  /// As a browser writes it: `k….localhost:34567`.
  let host: String

  var origin: String { "http://\(host)" }

  /// Why a request is not answered.
  enum Refusal: Hashable, Sendable {
    /// It was not sent to this name.
    case otherHost
    /// A page of somebody else had it sent.
    case foreign
    case method
  }

  /// What of a request is judged.
  struct Head: Hashable, Sendable {
    var method = "GET"
    var path = "/"
    var host: String?
    var origin: String?
    /// `Sec-Fetch-Site`, which scripts cannot set; nil of a browser that does not send it.
    var fetchSite: String?
    /// `Sec-Fetch-Mode`.
    var fetchMode: String?
    /// `Sec-Fetch-Dest`: what for.
    var fetchDestination: String?
  }

  /// Where a one-time code is handed in: from a file, whose origin is none, or from this page.
  static let entrance = "/enter"

  /// What browsers ask for by themselves beside every page; there is none.
  static let icon = "/favicon.ico"

  /// Nil for what may be answered.
  func refusal(of head: Head) -> Refusal? {
    guard head.host == host else { return .otherHost }
    switch head.method {
    case "GET":
      // Who follows a link from elsewhere comes without the cookie; anything but following a link is not meant to be.
      guard isForeign(head.fetchSite) else { return fits(head) ? nil : .foreign }
      return head.fetchMode == "navigate" ? nil : .foreign
    case "POST" where head.path == Self.entrance:
      return [nil, "null", origin].contains(head.origin) ? nil : .foreign
    case "POST", "PUT":
      return head.origin == origin && !isForeign(head.fetchSite) ? nil : .foreign
    default: return .method
    }
  }

  /// Whether what is asked for is what it is wanted as: a note may have a picture whose address is that of a record, or of the
  /// news, and nobody is to have read or kept what only such a note has asked for.
  private func fits(_ head: Head) -> Bool {
    guard let destination = head.fetchDestination else { return true }
    switch head.path.split(separator: "/").last {
    case "picture", "page": return destination == "image" || destination == "document"
    case "page.js": return destination == "script"
    case "news.js": return destination == "sharedworker"
    case "style.css": return destination == "style"
    case "events": return destination == "empty"
    case "favicon.ico" where head.path == Self.icon: return destination == "image"
    case "copy": return ["document", "empty"].contains(destination)
    default: return head.fetchMode == "navigate" && destination == "document"
    }
  }

  private func isForeign(_ fetchSite: String?) -> Bool {
    ![nil, "same-origin", "none"].contains(fetchSite)
  }
}
