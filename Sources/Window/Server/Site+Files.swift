import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import Pictures
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

extension Site {
  func addFiles(to record: RouterGroup<PageContext>) {
    record.put("files", use: upload)
    record.post("files", use: attach)
    record.get("files/:file") { request, context in
      let (address, name) = (try Self.address(context), try Self.fileName(context))
      let wish = FileView.Wish(FormValues(request.uri.query ?? ""))
      return try await show(context) { open, frame in
        let view = try FileView.load(name, wish, of: address, in: open, frame)
        open.vault.audit.note(.read, member: address.member, record: address.record, name: name)
        return .page(view.document)
      }
    }
    record.get("files/:file/picture") { request, context in
      let isLarge = FormValues(request.uri.query ?? "")["size"] == "large"
      return try await picture(isLarge ? .large : .small, fetching: isLarge, context)
    }
    record.get("files/:file/page") { request, context in
      let values = FormValues(request.uri.query ?? "")
      let number = values["number"].flatMap { Int($0) } ?? 1
      let side = values["side"].flatMap { Int($0) } ?? 1280
      let view =
        FileView.Wish(values).window.map { PictureView.frame(number, side: side, window: $0) }
        ?? PictureView.page(number, side: side)
      guard let view else { throw HTTPError(.notFound) }
      return try await picture(view, fetching: true, context)
    }
    record.get("files/:file/copy") { _, context in
      let (address, name) = (try Self.address(context), try Self.fileName(context))
      return try await show(context) { open, _ in try copy(of: name, address, open) }
    }
  }

  static func fileName(_ context: PageContext) throws -> FileName {
    guard let name = context.parameters.get("file").flatMap(RecordAddress.fileName) else {
      throw HTTPError(.notFound)
    }
    return name
  }

  /// Attaches what comes, under the name that the address says. Answers scripts: in plain text, what went wrong.
  private func upload(_ request: Request, _ context: PageContext) async throws -> Response {
    let texts = context.texts
    do {
      try check(request.headers[.formSecret], context)
      guard let text = FormValues(request.uri.query ?? "")["name"], let name = FileName(text),
        name != .record
      else { throw Upload.BadName() }
      let address = try Self.address(context)
      let upload = try await threads.runIfActive {
        try desk.use { try Upload.begin(name, to: address, in: $0) }
      }
      for try await part in request.body {
        try await threads.runIfActive {
          desk.noteUse()
          // While nobody is locked out, that is.
          try desk.use { _ in try part.withUnsafeReadableBytes { try upload.add($0) } }
        }
      }
      let size = request.headers[.contentLength].flatMap { UInt64($0) }
      try await threads.runIfActive {
        try desk.use { open in try open.change { try upload.finish(size: size, in: open) } }
      }
      return .said(texts("upload.done"), .created)
    } catch is Desk.Locked {
      return .said(texts("locked.title"), .unauthorized)
    } catch let error as HTTPError {
      return .said(texts("error.foreign"), error.status)
    } catch {
      if let (text, status) = Self.refusal(error, texts) { return .said(text, status) }
      return .said(texts.message(of: error, desk.gate), .internalServerError)
    }
  }

  /// Why a file is not attached, and the status that says so; nil for what is no reason of uploads.
  private static func refusal(
    _ error: any Error, _ texts: Texts
  ) -> (text: String, status: HTTPResponse.Status)? {
    switch error {
    case let error as Upload.NameTaken: (texts("upload.taken", error.name), .conflict)
    case is Upload.BadName: (texts("upload.badName"), .badRequest)
    case VaultError.viewersOnlyRead: (texts("record.viewer"), .forbidden)
    case is Upload.Cut, is MultipartReader.Malformed: (texts("upload.broken"), .badRequest)
    default: nil
    }
  }

  /// Attaches the files of a form, as browsers send it where scripts may not run.
  private func attach(_ request: Request, _ context: PageContext) async throws -> Response {
    let address = try Self.address(context)
    do {
      guard var reader = MultipartReader(contentType: request.headers[.contentType] ?? "") else {
        throw HTTPError(.badRequest)
      }
      var form = FilesForm(address: address, site: self, visitor: context)
      for try await part in request.body {
        let pieces = try reader.add(part.readableBytesView)
        form = try await threads.runIfActive { [form] in
          var form = form
          for piece in pieces { try form.take(piece) }
          return form
        }
      }
      guard reader.isOver else { throw Upload.Cut() }
    } catch {
      guard let (text, status) = Self.refusal(error, context.texts) else {
        return problem(error, context)
      }
      return .page(frame(context).problem(text, back: address.path), status: status)
    }
    return .seeOther(address.path)
  }

  /// A picture of a file, made by a program that can do nothing else (`Renderer`); the file itself never gets to the browser as a picture.
  private func picture(
    _ view: PictureView, fetching: Bool, _ context: PageContext
  ) async throws -> Response {
    let (address, name) = (try Self.address(context), try Self.fileName(context))
    return try await showPart { open in
      let shown = try ShownRecord(address, in: open.vault)
      guard let item = try shown.member.item(named: name, in: address.record),
        case .here(let bytes) = try open.pictures.picture(
          view, of: item, of: shown.member, fetching: fetching)
      else { return Response(status: .notFound) }
      if view != .small {
        open.vault.audit.note(.read, member: address.member, record: address.record, name: name)
      }
      return Response.file(bytes, type: "image/webp")
    }
  }

  /// The file itself, for whoever wants a copy outside of the vault: as bytes of no kind, which a browser saves.
  private func copy(
    of name: FileName, _ address: RecordAddress, _ open: OpenVault
  ) throws -> Response {
    let member = try ShownRecord(address, in: open.vault).member
    guard let item = try member.item(named: name, in: address.record),
      item.content != .none || item.size == 0
    else { throw VaultError.notFound(what: "the file") }
    if case .symlink = item.content { throw VaultError.notFound(what: "the file") }
    let parts = try FileParts.load(of: item, in: member)
    // What cannot be had is told before a browser is promised a file.
    let first = try parts.count == 0 ? [] : parts.part(0)
    open.vault.audit.note(
      .export, member: member.id, record: address.record, name: name, detail: "page")
    let size = Int(clamping: item.size)
    let body = ResponseBody(contentLength: size) { writer in
      for number in 0..<parts.count {
        // Locked in the middle, it breaks off.
        let part = try await threads.runIfActive {
          desk.noteUse()
          return try desk.use { _ in number == 0 ? first : try parts.part(number) }
        }
        try await writer.write(ByteBuffer(bytes: part))
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "application/octet-stream", .contentLength: String(size),
        // RFC 8187.
        .contentDisposition: "attachment; filename*=UTF-8''\(FormValues.encoded(name.string))",
      ], body: body)
  }
}

extension Response {
  /// A sentence for a script.
  static func said(_ text: String, _ status: HTTPResponse.Status) -> Response {
    Response(
      status: status, headers: [.contentType: "text/plain; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: text)))
  }
}
