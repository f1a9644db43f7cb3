import HTTPTypes
import Hummingbird
import HummingbirdCore
import Log
import NIOCore
import NIOPosix
import Threads
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// What the page answers. Everything that touches the vault runs on threads of its own, since it waits for disks and locks.
struct Site: Sendable {
  let desk: Desk
  let door: Door
  let tabs: Tabs
  let work: Work
  let rules: DoorRules
  let threads: NIOThreadPool
  let log: BackgroundLog

  /// No form is longer, in bytes: a note, its fields, and what encoding adds.
  private static let formLimit = 8 << 20

  func router() -> Router<PageContext> {
    let router = Router(context: PageContext.self)
    router.middlewares.add(DoorKeeper(rules: rules, door: door, desk: desk))
    router.get("style.css") { _, _ in Response.file(PackageResources.style_css, type: "text/css") }
    router.get("page.js") { _, _ in Response.file(PackageResources.page_js, type: "text/javascript")
    }
    router.get("favicon.ico") { _, _ in Response(status: .noContent) }
    router.get("enter") { _, context in
      Response.page(
        PageFrame(texts: context.texts).entrance(wasWrong: false), status: .unauthorized)
    }
    router.post("enter", use: enter)
    router.post("unlock", use: unlock)
    router.post("lock", use: lock)
    router.get("events", use: events)
    router.post("stay", use: stay)
    router.get("news.js") { _, _ in
      Response.file(PackageResources.news_js, type: "text/javascript")
    }
    addRecords(to: router)
    addPeople(to: router)
    addHousekeeping(to: router)
    return router
  }

  // MARK: The door

  private func enter(_ request: Request, _ context: PageContext) async throws -> Response {
    let form = try await form(of: request)
    guard let visitor = door.enter(with: form["code"] ?? "") else {
      return .page(PageFrame(texts: context.texts).entrance(wasWrong: true), status: .unauthorized)
    }
    var response = Response.page(PageFrame(texts: context.texts).entered())
    response.headers[.setCookie] =
      "\(Door.cookieName)=\(visitor.cookie.text); Path=/; HttpOnly; SameSite=Strict"
    return response
  }

  private func unlock(_ request: Request, _ context: PageContext) async throws -> Response {
    let form = try await checkedForm(of: request, context)
    return try await threads.runIfActive {
      do {
        try desk.open(
          UnlockAnswers(
            way: form.given("way"),
            password: SecretBytes(copying: Array((form["password"] ?? "").utf8)),
            pin: SecretBytes(copying: Array((form["pin"] ?? "").utf8))))
        return .seeOther("/")
      } catch {
        let text =
          switch error {
          case VaultError.wrongPassword: context.texts("unlock.bad")
          case is WrongPIN: context.texts("unlock.pin.bad")
          default: context.texts.message(of: error, desk.gate)
          }
        return unlockPage(context, problem: text)
      }
    }
  }

  private func unlockPage(_ context: PageContext, problem: String?) -> Response {
    .page(
      frame(context).unlock(desk.gate.name, desk.gate.ways(), problem: problem),
      status: problem == nil ? .ok : .forbidden)
  }

  private func lock(_ request: Request, _ context: PageContext) async throws -> Response {
    _ = try await checkedForm(of: request, context)
    // At once, whatever runs: pictures that are being made, a search. What waits for these waits elsewhere.
    desk.refuse()
    tabs.tell(.locked)
    let end: @Sendable () -> Void = {
      do { try desk.end(locksMachine: true) } catch { log.failed(.ending, error) }
    }
    // Where there is no thread to be had, the browser waits for it.
    if !SystemThread.detach(end) { try await threads.runIfActive(end) }
    return .page(PageFrame(texts: context.texts).locked(), status: .unauthorized)
  }

  /// Somebody is at it, though nothing is asked for: a text that is being typed.
  private func stay(_ request: Request, _ context: PageContext) async throws -> Response {
    _ = try await checkedForm(of: request, context)
    try await threads.runIfActive { desk.noteUse() }
    return Response(status: .noContent)
  }

  // MARK: News

  /// Tells a page what happens, until it goes (server-sent events).
  private func events(_ request: Request, _ context: PageContext) -> Response {
    let body = ResponseBody { writer in
      let (events, close) = tabs.open()
      defer { close() }
      try await writer.write(
        ByteBuffer(
          string: "retry: 500\nevent: proof\ndata: \(context.visitor?.proof.text ?? "")\n\n"))
      if let news = work.report?.news {
        try await writer.write(ByteBuffer(string: "event: work\ndata: \(news)\n\n"))
      }
      try await request.body.consumeWithInboundCloseHandler { _ in
        for await event in events {
          let text =
            switch event {
            case .changed(let version): "event: changed\ndata: \(version)\n\n"
            case .locked: "event: locked\ndata:\n\n"
            case .soon: "event: soon\ndata:\n\n"
            case .work(let news): "event: work\ndata: \(news)\n\n"
            case .still: ":\n\n"
            }
          try await writer.write(ByteBuffer(string: text))
          if case .locked = event { break }
        }
      } onInboundClosed: {
        close()
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  // MARK: What all have in common

  func frame(_ context: PageContext, _ open: OpenVault? = nil) -> PageFrame {
    PageFrame(
      texts: context.texts, visitor: context.visitor, version: open?.version,
      isReadOnly: open?.vault.isReadOnly ?? false)
  }

  /// Answers with what the body makes of the vault as it is now; asks for the password where it is locked.
  ///
  /// - Parameter typed: What is shown again where the body throws.
  func show(
    _ context: PageContext, typed: NoteForm? = nil,
    _ body: @escaping @Sendable (OpenVault, PageFrame) throws -> Response
  ) async throws -> Response {
    do {
      return try await threads.runIfActive {
        if !desk.isOpen {
          try desk.open()
          if !desk.isOpen { return unlockPage(context, problem: nil) }
        }
        desk.noteUse()
        return try desk.use { open in
          open.lookAround()
          var frame = frame(context, open)
          frame.conflictCount = try open.conflictCount()
          return try body(open, frame)
        }
      }
    } catch { return problem(error, context, typed) }
  }

  /// Answers with a part of a page that is shown already, such as a picture: that is no use of its own, and what others have
  /// written is not looked for.
  func showPart(
    _ body: @escaping @Sendable (OpenVault) throws -> Response
  ) async throws -> Response {
    do { return try await threads.runIfActive { try desk.use(body) } } catch is Desk.Locked {
      return Response(status: .unauthorized)
    } catch { return Response(status: .notFound) }
  }

  /// Answers a form that asks for something and changes nothing, once its secret was checked.
  func ask(
    _ request: Request, _ context: PageContext,
    _ body: @escaping @Sendable (OpenVault, PageFrame, FormValues) throws -> Response
  ) async throws -> Response {
    let form: FormValues
    do { form = try await checkedForm(of: request, context) } catch {
      return problem(error, context)
    }
    return try await show(context, typed: NoteForm(form)) { try body($0, $1, form) }
  }

  /// Answers a form that changes something, once its secret was checked: one at a time, and on what there is now.
  func change(
    _ request: Request, _ context: PageContext,
    _ body: @escaping @Sendable (OpenVault, PageFrame, FormValues) throws -> Response
  ) async throws -> Response {
    try await ask(request, context) { open, frame, form in
      var response = Response(status: .internalServerError)
      try open.change { response = try body(open, frame, form) }
      return response
    }
  }

  /// What went wrong, as a page.
  func problem(
    _ error: any Error, _ context: PageContext, _ typed: NoteForm? = nil
  ) -> Response {
    let frame = PageFrame(texts: context.texts, visitor: context.visitor)
    switch error {
    case is Desk.Locked: return .page(frame.locked(), status: .unauthorized)
    case VaultError.notFound:
      let text = context.texts("error.notFound")
      return .page(frame.problem(text, typed: typed), status: .notFound)
    case let error as HTTPError where error.status == .contentTooLarge:
      return .page(frame.problem(context.texts("error.tooLarge")), status: error.status)
    case let error as HTTPError:
      return .page(frame.problem(context.texts("error.foreign")), status: error.status)
    default:
      let message = context.texts.message(of: error, desk.gate)
      return .page(frame.problem(message, typed: typed), status: .internalServerError)
    }
  }

  private func form(of request: Request) async throws -> FormValues {
    let body: ByteBuffer
    do { body = try await request.body.collect(upTo: Self.formLimit) } catch is NIOTooManyBytesError
    {
      throw HTTPError(.contentTooLarge)
    }
    return FormValues(String(buffer: body))
  }

  /// - Throws: `HTTPError` for a form that this page has not given out.
  private func checkedForm(
    of request: Request, _ context: PageContext
  ) async throws -> FormValues {
    let form = try await form(of: request)
    try check(form["form"], context)
    return form
  }

  func check(_ secret: String?, _ context: PageContext) throws {
    guard let visitor = context.visitor, visitor.form.matches(secret ?? "") else {
      throw HTTPError(.forbidden)
    }
  }
}
