import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// Stands before everything else: refuses what is not meant for this page, lets in only who has been let in, and says to
/// the browser what it may do with what it gets.
struct DoorKeeper: RouterMiddleware {
  let rules: DoorRules
  let door: Door
  let desk: Desk

  /// What anybody may have who knows the name: no more than how the entrance looks.
  private static let open: Set = ["/style.css", DoorRules.entrance, DoorRules.icon]

  func handle(
    _ request: Request, context: PageContext,
    next: (Request, PageContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    context.texts = Texts.for(request.headers[.acceptLanguage])
    var response: Response
    do { response = try await answer(request, context, next) } catch let error as HTTPError {
      let text = context.texts(error.status == .notFound ? "error.notFound" : "error.foreign")
      let frame = PageFrame(texts: context.texts, visitor: visitor(of: request))
      response = .page(frame.problem(text), status: error.status)
    }
    for (name, value) in Self.headers { response.headers[name] = value }
    return response
  }

  private func answer(
    _ request: Request, _ context: PageContext,
    _ next: (Request, PageContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    switch rules.refusal(of: head(of: request)) {
    // Nothing that says what this is.
    case .otherHost: return Response(status: .misdirectedRequest)
    case .method: return Response(status: .methodNotAllowed)
    case .foreign: return Response(status: .forbidden)
    case nil: break
    }
    if Self.open.contains(request.uri.path) { return try await next(request, context) }
    if desk.isLocked {
      return .page(PageFrame(texts: context.texts).locked(), status: .unauthorized)
    }
    guard let visitor = visitor(of: request) else {
      return .page(PageFrame(texts: context.texts).entrance(wasWrong: false), status: .unauthorized)
    }
    context.visitor = visitor
    return try await next(request, context)
  }

  private func visitor(of request: Request) -> Door.Visitor? {
    door.visitor(cookies: request.headers[values: .cookie])
  }

  private func head(of request: Request) -> DoorRules.Head {
    DoorRules.Head(
      method: request.method.rawValue, path: request.uri.path, host: request.head.authority,
      origin: request.headers[.origin], fetchSite: request.headers[.secFetchSite],
      fetchMode: request.headers[.secFetchMode],
      fetchDestination: request.headers[.secFetchDestination])
  }

  private static let headers: [(HTTPField.Name, String)] = [
    (
      .contentSecurityPolicy,
      "default-src 'none'; style-src 'self'; script-src 'self'; worker-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    (.xContentTypeOptions, "nosniff"), (.cacheControl, "no-store"),
    // With `no-referrer` browsers would not say either which page a form came from.
    (.referrerPolicy, "same-origin"), (.crossOriginResourcePolicy, "same-origin"),
    (.crossOriginOpenerPolicy, "same-origin"),
    // Of what a note links to, browsers else look for the address before anybody follows it.
    (.dnsPrefetchControl, "off"),
  ]
}

extension HTTPField.Name {
  static let secFetchSite = Self("Sec-Fetch-Site")!
  static let secFetchMode = Self("Sec-Fetch-Mode")!
  static let secFetchDestination = Self("Sec-Fetch-Dest")!
  static let referrerPolicy = Self("Referrer-Policy")!
  static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
  static let dnsPrefetchControl = Self("X-DNS-Prefetch-Control")!
  /// What a script says in the place of a form's secret.
  static let formSecret = Self("X-Kinvault-Form")!
}

extension Response {
  static func page(_ document: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "text/html; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: document)))
  }

  static func file(_ bytes: [UInt8], type: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// Leads to another page, by GET.
  static func seeOther(_ path: String) -> Response {
    Response(status: .seeOther, headers: [.location: path])
  }
}
