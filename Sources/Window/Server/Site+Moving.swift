import HTTPTypes
import Hummingbird
import Vault
import VaultErrors
import VaultModel

/// A record moves to another folder, of its member or of another one.
extension Site {
  func addMoving(to record: RouterGroup<PageContext>) {
    record.get("move") { _, context in
      let address = try Self.address(context)
      return try await showForm(of: address, context) { shown, open, frame in
        MovePage(shown, in: open.vault, frame).document
      }
    }
    record.post("move") { request, context in
      let address = try Self.address(context)
      return try await change(request, context) { try Self.move(address, $2, in: $0, $1) }
    }
  }

  private static func move(
    _ address: RecordAddress, _ form: FormValues, in open: OpenVault, _ frame: PageFrame
  ) throws -> Response {
    let shown = try ShownRecord(address, in: open.vault)
    var page = MovePage(shown, in: open.vault, frame)
    guard address.record != .root, let place = page.place(form["place"]),
      let target = open.vault.member(place.member), shown.member.mayWrite
    else { throw VaultError.notFound(what: "the place") }
    func again(_ problem: String) -> Response {
      page.problem = frame.texts(problem)
      return .page(page.document, status: .conflict)
    }
    if shown.entry.isDeleted {
      let text = frame.texts("record.deletedNow")
      return .page(frame.problem(text, back: address.path), status: .conflict)
    }
    // Whoever moves it has seen what they move.
    guard form["base"] == shown.entry.revision.hex else { return again("move.changed") }
    if target === shown.member, place.parent == shown.entry.parent {
      return .seeOther(address.path)
    }
    do throws(VaultError) {
      return .seeOther(try move(shown, to: place, of: target, in: open).path)
    } catch {
      switch error {
      case .alreadyExists: return again("edit.taken")
      case .changedMeanwhile: return again("move.changed")
      default: throw error
      }
    }
  }

  /// Moves a record as it is shown to a place that is another one.
  ///
  /// - Returns: Where the record is then.
  /// - Throws: `alreadyExists` where something in the folder has its title; `changedMeanwhile` where the record is another one
  ///   by now.
  private static func move(
    _ shown: ShownRecord, to place: MovePage.Place, of target: Member, in open: OpenVault
  ) throws(VaultError) -> RecordAddress {
    let entry = shown.entry
    let parent: RecordID
    if let known = place.parent {
      parent = known
    } else {
      parent = try open.folder(for: entry, in: target)
    }
    guard target === shown.member else {
      let new = try open.move(entry.record, of: shown.member, into: parent, of: target)
      return RecordAddress(member: target.id, record: new)
    }
    if try target.hasAnything(named: entry.title, in: parent) {
      throw .alreadyExists(what: entry.title.string)
    }
    var edit = RecordEdit(record: entry.record)
    edit.place = RecordPlace(parent: parent, title: entry.title, isDeleted: false)
    edit.base = entry.revision
    try open.commit([edit], to: target)
    open.vault.audit.note(.write, member: target.id, record: entry.record, detail: "moved")
    return shown.address
  }
}
