import HTTPTypes
import Hummingbird
import HummingbirdCore
import Log
import Notes
import Vault
import VaultCrypto
import VaultErrors
import VaultFiles
import VaultModel
import VaultPlain

extension Site {
  func addRecords(to router: Router<PageContext>) {
    addLists(to: router)
    addNotices(to: router)
    addNew(to: router)
    addConflicts(to: router)
    let record = router.group("records/:member/:record")
    addRecord(to: record)
    addEditing(to: record)
    addDeleting(to: record)
    addMoving(to: record)
    addHistory(to: record)
    addFiles(to: record)
  }

  private func addLists(to router: Router<PageContext>) {
    router.get("/") { request, context in
      let wish = ListPage.Wish(query: request.uri.query ?? "")
      return try await show(context) { open, frame in
        var frame = frame
        do throws(VaultError) { frame.notices = try Notices.load(open, frame).html } catch {
          // The records are shown all the same.
          log.failed(.audit, error)
        }
        return .page(try Self.list(wish, in: open, frame).document)
      }
    }
    router.get("deleted") { request, context in
      var wish = ListPage.Wish(query: request.uri.query ?? "")
      wish.deleted = true
      return try await show(context) { [wish] in
        .page(try ListPage.load($0, wish, $1).document)
      }
    }
    router.post("search", use: search)
  }

  private func addNew(to router: Router<PageContext>) {
    router.get("new") { request, context in
      let wish = FormValues(request.uri.query ?? "")
      return try await show(context) { open, frame in
        var page = NewPage(open.vault, frame)
        page.member = wish["member"].flatMap { MemberID(hex: $0) }
        if let type = wish["type"] { page.type = RecordType(rawValue: type) }
        return .page(page.document)
      }
    }
    router.post("new") { try await change($0, $1, add) }
  }

  private func addRecord(to record: RouterGroup<PageContext>) {
    record.get { _, context in
      let address = try Self.address(context)
      return try await show(context) { open, frame in
        let page = try RecordPage.load(address, in: open, frame)
        open.vault.audit.note(.read, member: address.member, record: address.record)
        return .page(page.document)
      }
    }
  }

  /// Shows a form that changes a record; in its place the record itself where that is deleted, and why where this person may not
  /// change it.
  func showForm(
    of address: RecordAddress, _ context: PageContext,
    _ document: @escaping @Sendable (ShownRecord, OpenVault, PageFrame) throws -> String
  ) async throws -> Response {
    try await show(context) { open, frame in
      let shown = try ShownRecord(address, in: open.vault)
      if shown.entry.isDeleted { return .seeOther(address.path) }
      if let refusal = shown.refusal(frame.texts) {
        return .page(frame.problem(refusal), status: .forbidden)
      }
      return .page(try document(shown, open, frame))
    }
  }

  private func addEditing(to record: RouterGroup<PageContext>) {
    record.get("edit") { _, context in
      let address = try Self.address(context)
      return try await showForm(of: address, context) { shown, open, frame in
        let note = try NoteReading.load(of: address.record, in: shown.member)
        open.vault.audit.note(.read, member: address.member, record: address.record)
        let form = NoteForm(RecordDocument(note.bytes))
        return EditPage(frame: frame, shown: shown, form: form, base: note.revision).document
      }
    }
    record.post("edit") { request, context in
      let address = try Self.address(context)
      return try await change(request, context) { try Self.save($2, to: address, in: $0, $1) }
    }
  }

  private func addDeleting(to record: RouterGroup<PageContext>) {
    record.post("delete") { request, context in
      let address = try Self.address(context)
      return try await change(request, context) { open, frame, form in
        let shown = try ShownRecord(address, in: open.vault)
        let member = shown.member
        func changed() -> Response {
          let text = frame.texts("record.changedMeanwhile")
          return .page(frame.problem(text, back: address.path), status: .conflict)
        }
        // Whoever deletes it has seen what they delete.
        guard form["base"] == shown.entry.revision.hex else { return changed() }
        let edits = try member.edits(deleting: address.record)
        guard try open.commitIfUnchanged(edits, to: member) else { return changed() }
        open.vault.audit.note(.delete, member: member.id, record: address.record)
        return .seeOther("/")
      }
    }
    record.post("restore") { request, context in
      let address = try Self.address(context)
      return try await change(request, context) { open, frame, _ in
        let member = try ShownRecord(address, in: open.vault).member
        let undeletion = try RecordRestore(member).undeletion(of: address.record)
        guard undeletion.isOfAny else { throw VaultError.notFound(what: "the deleted record") }
        try open.commit(undeletion.edits, to: member)
        open.vault.audit.note(.restore, member: member.id, record: address.record)
        if undeletion.left.isEmpty { return .seeOther(address.path) }
        let paths = undeletion.left.map { member.displayPath(of: $0.record) }
        let text = frame.texts("record.restore.left", paths.joined(separator: ", "))
        return .page(frame.problem(text, back: address.path))
      }
    }
  }

  static func address(_ context: PageContext) throws -> RecordAddress {
    RecordAddress(
      member: try context.id(named: "member"), record: try context.id(named: "record"))
  }

  // MARK: Searching

  /// The words come in a form, and the address that answers has a name for them. Only the results where a script asks as
  /// somebody types.
  private func search(_ request: Request, _ context: PageContext) async throws -> Response {
    let isPart = request.headers[.formSecret] != nil
    return try await ask(request, context) { open, frame, form in
      let words = form["words"]?.trimmed ?? ""
      var wish = ListPage.Wish(form)
      wish.find = words.isEmpty ? nil : open.name(ofSought: words)
      guard isPart else { return .seeOther("/" + wish.query) }
      var results = ""
      try Self.list(wish, in: open, frame).results.write(to: &results)
      return .page(results)
    }
  }

  /// What was looked for, or all there is where nothing was, or nothing that is still known.
  private static func list(
    _ wish: ListPage.Wish, in open: OpenVault, _ frame: PageFrame
  ) throws -> ListPage {
    guard let words = wish.find.flatMap(open.sought) else {
      var wish = wish
      wish.find = nil
      return try ListPage.load(open, wish, frame)
    }
    open.vault.audit.note(.search)
    return try ListPage.load(open, finding: words, wish, frame)
  }

  // MARK: Changing

  @Sendable
  private func add(_ open: OpenVault, _ frame: PageFrame, _ form: FormValues) throws -> Response {
    var page = NewPage(open.vault, frame)
    guard let member = form["member"].flatMap({ MemberID(hex: $0) }).flatMap(open.vault.member)
    else { throw VaultError.notFound(what: "the member") }
    page.member = member.id
    page.type = form["type"].flatMap { RecordType(rawValue: $0) }
    page.ownType = form["own"]?.trimmed ?? ""
    page.title = form["title"] ?? ""
    page.date = RecordDate.reading((form["date"] ?? "").trimmed)
    let sent = NoteForm(form)
    page.form = sent
    func again(_ problem: String) -> Response {
      page.problem = frame.texts(problem)
      return .page(page.document, status: .unprocessableContent)
    }
    guard page.date.isEmpty || RecordDate.isWritten(page.date) else { return again("edit.badDate") }
    guard let title = FileName(date: page.date, title: page.title.trimmedEnd) else {
      return again("edit.badTitle")
    }
    let typeName = page.type?.rawValue ?? frame.texts.recordType(typed: page.ownType)
    if typeName.isEmpty { return again("edit.badType") }
    let type = RecordType(rawValue: typeName)
    var (parent, edits) = type.map { member.place(for: $0) } ?? (parent: .root, edits: [])
    guard member.child(named: title, of: parent) == nil else { return again("edit.taken") }
    let (note, bytes) = Self.newNote(sent, type: typeName, date: page.date)
    if let problem = note.problem(bytes, before: nil) { return again(problem) }
    var edit = RecordEdit(new: .random(), titled: title, in: parent)
    do throws(VaultError) {
      edit.items[.record] = try Self.note(bytes, in: member)
      edits.append(edit)
      try open.commit(edits, to: member)
    } catch {
      // What was typed is in the form still.
      page.problem = frame.texts.failure(error) ?? error.message
      return .page(page.document, status: .internalServerError)
    }
    open.vault.audit.note(.create, member: member.id, record: edit.record)
    return .seeOther(RecordAddress(member: member.id, record: edit.record).path)
  }

  /// A new record's note as it was sent, with its type among the fields, and its date unless that is empty; and its bytes.
  private static func newNote(
    _ sent: NoteForm, type: String, date: String
  ) -> (form: NoteForm, bytes: [UInt8]) {
    var note = sent
    var usual = FrontMatter(type: type, date: date)
    if date.isEmpty {
      usual.fields.removeAll { $0.name == "date" }
    } else {
      note.lines.insert(NoteForm.Line(name: "date", value: date), at: 0)
    }
    note.lines.insert(NoteForm.Line(name: "type", value: type), at: 0)
    return (note, note.applied(to: RecordDocument(usual.document(text: ""))))
  }

  /// The item of a note with this content, for a commit.
  private static func note(_ content: [UInt8], in member: Member) throws(VaultError) -> Item {
    var files = FileImport(into: member, mediaType: { MediaType.of($0, mode: $1) })
    do throws(PlainFileError) {
      return try files.item(forContent: content, named: .record, modified: .now)
    } catch {
      guard case .vault(let failure) = error else {
        preconditionFailure("no plain file is read")
      }
      throw failure
    }
  }

  /// Saves a note; shows its form again where it cannot be saved, beside what is there where its writer has not seen that.
  private static func save(
    _ form: FormValues, to address: RecordAddress, in open: OpenVault, _ frame: PageFrame
  ) throws -> Response {
    let shown = try ShownRecord(address, in: open.vault)
    let member = shown.member
    let now = try NoteReading.load(of: address.record, in: member)
    let sent = sentEdit(form, of: now, in: member, frame.texts)
    var page = EditPage(
      frame: frame, shown: shown, form: sent.note, base: sent.seen ?? now.revision, name: sent.name)
    func again(_ problem: String, _ status: HTTPResponse.Status) -> Response {
      page.problem = problem
      return .page(page.document, status: status)
    }
    if let refusal = shown.refusal(frame.texts) { return again(refusal, .forbidden) }
    if shown.entry.isDeleted { return again(frame.texts("edit.deleted"), .conflict) }
    func besideTheirs(_ theirs: NoteReading) -> Response {
      open.vault.audit.note(.read, member: address.member, record: address.record)
      page.theirs = NoteForm(RecordDocument(theirs.bytes))
      page.base = theirs.revision
      return .page(page.document, status: .conflict)
    }
    guard let base = sent.base, base.isSame(as: now) else { return besideTheirs(now) }
    page.base = now.revision
    do throws(VaultError) {
      switch try edit(of: shown, from: now, to: sent.note, named: sent.name) {
      case .failure(let problem):
        return again(frame.texts(problem.key), .unprocessableContent)
      case .success(nil): break
      case .success(let edit?):
        try open.commit([edit], to: member)
        open.vault.audit.note(.write, member: member.id, record: address.record, name: .record)
      }
    } catch {
      if case .changedMeanwhile = error {
        open.lookAround(isDue: true)
        return besideTheirs(try NoteReading.load(of: address.record, in: member))
      }
      return again(frame.texts.failure(error) ?? error.message, .internalServerError)
    }
    return .seeOther(address.path)
  }

  /// What came in the form by which a record is changed.
  private struct SentEdit {
    let note: NoteForm
    /// The revision that its writer has seen.
    let seen: ContentDigest?
    /// That revision; nil where it is gone.
    let base: NoteReading?
    /// What the record is to be called; nil where nobody wishes it to be called otherwise.
    let name: String?
  }

  /// - Parameter now: What the record's note is by now.
  private static func sentEdit(
    _ form: FormValues, of now: NoteReading, in member: Member, _ texts: Texts
  ) -> SentEdit {
    var note = NoteForm(form)
    note.readDate(before: NoteForm(RecordDocument(now.bytes)))
    if let own = form["own"]?.trimmed, !own.isEmpty {
      note.takeType(texts.recordType(typed: own))
    }
    let seen = form["base"].flatMap { ContentDigest(hex: $0) }
    // A revision that is gone is another one than the one that is there.
    let base = seen.flatMap { try? NoteReading.load(of: now.record, at: $0, in: member) }
    // A name that was left as it was shown is no wish: the record may be called otherwise by now.
    let name = form["name"].flatMap { $0 == base?.title.string ? nil : $0 }
    return SentEdit(note: note, seen: seen, base: base, name: name)
  }

  /// What cannot be saved as it was sent: the text that says why.
  private struct BadForm: Error { let key: String }

  /// What saving the form changes; nil where that is nothing.
  private static func edit(
    of shown: ShownRecord, from now: NoteReading, to sent: NoteForm, named name: String?
  ) throws(VaultError) -> Result<RecordEdit?, BadForm> {
    var edit = RecordEdit(record: now.record)
    let bytes = sent.applied(to: RecordDocument(now.bytes))
    if let problem = sent.problem(bytes, before: NoteForm(RecordDocument(now.bytes))) {
      return .failure(BadForm(key: problem))
    }
    if bytes != now.bytes {
      edit = now.edit(replacingBy: try note(bytes, in: shown.member))
    }
    switch try place(named: name, of: shown) {
    case .success(let place): edit.place = place
    case .failure(let problem): return .failure(problem)
    }
    if edit.place == nil, edit.items.isEmpty { return .success(nil) }
    // What another process has made of it since is never replaced unseen.
    edit.base = now.revision
    return .success(edit)
  }

  /// Where the record stands when it is called so; nil where that is what it is called.
  private static func place(
    named text: String?, of shown: ShownRecord
  ) throws(VaultError) -> Result<RecordPlace?, BadForm> {
    let entry = shown.entry
    guard let text, text != entry.title.string, let parent = entry.parent else {
      return .success(nil)
    }
    guard let name = FileName(date: "", title: text.trimmedEnd) else {
      return .failure(BadForm(key: "edit.badTitle"))
    }
    guard try !shown.member.hasAnything(named: name, in: parent) else {
      return .failure(BadForm(key: "edit.taken"))
    }
    return .success(RecordPlace(parent: parent, title: name, isDeleted: false))
  }
}

extension ListPage.Wish {
  init(query: String) { self.init(FormValues(query)) }

  init(_ values: FormValues) {
    member = values.given("member").flatMap { MemberID(hex: $0) }
    type = values.given("type")
    find = values.given("find")
    offset = values["from"].flatMap { Int($0) }.map { min(max(0, $0), 10_000_000) } ?? 0
  }
}
