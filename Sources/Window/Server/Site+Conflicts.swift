import HTTPTypes
import Hummingbird
import Vault
import VaultErrors
import VaultModel

/// What lost against something else, beside what is there now, and what somebody decides of it.
extension Site {
  func addConflicts(to router: Router<PageContext>) {
    router.get("conflicts") { _, context in
      try await show(context) { open, frame in
        let page = try ConflictsPage.load(open.vault, frame)
        for row in page.rows {
          open.vault.audit.note(.read, member: row.member, record: row.copy)
        }
        return .page(page.document)
      }
    }
    router.post("conflicts/:member/:record") { request, context in
      let address = try Self.address(context)
      return try await change(request, context) { try Self.decide($2, on: address, in: $0, $1) }
    }
  }

  /// - Throws: `notFound` when somebody else has decided already.
  private static func decide(
    _ form: FormValues, on address: RecordAddress, in open: OpenVault, _ frame: PageFrame
  ) throws -> Response {
    guard let member = open.vault.member(address.member),
      let conflict = try member.keptConflicts().first(where: { $0.copy.record == address.record })
    else { throw VaultError.notFound(what: "the conflict") }
    // Somebody has changed one of them since they were looked at: whoever decides looks again.
    func changed() -> Response {
      .page(frame.problem(frame.texts("conflict.changed"), back: "/conflicts"), status: .conflict)
    }
    guard form["seen"] == conflict.original?.revision.hex ?? "",
      form["copy"] == conflict.copy.revision.hex
    else { return changed() }
    let edits: [RecordEdit]
    switch form["decision"] {
    case "keep": edits = try member.edits(discarding: conflict)
    case "take": edits = try member.edits(takingBack: conflict)
    default: throw HTTPError(.badRequest)
    }
    guard try open.commitIfUnchanged(edits, to: member) else { return changed() }
    open.vault.audit.note(
      .write, member: member.id, record: conflict.mark.record, detail: "conflict")
    return .seeOther("/conflicts")
  }
}
