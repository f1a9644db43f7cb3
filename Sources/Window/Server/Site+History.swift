import HTTPTypes
import Hummingbird
import Vault
import VaultModel

/// What a record was, and how it becomes that again.
extension Site {
  func addHistory(to record: RouterGroup<PageContext>) {
    record.get("history") { _, context in
      let address = try Self.address(context)
      return try await show(context) { open, frame in
        let shown = try ShownRecord(address, in: open.vault)
        let page = try HistoryPage.load(shown, in: open.vault, frame)
        open.vault.audit.note(.read, member: address.member, record: address.record)
        return .page(page.document)
      }
    }
    record.get("history/:revision") { _, context in
      let address = try Self.address(context)
      let revision: ContentDigest = try context.id(named: "revision")
      return try await show(context) { open, frame in
        let shown = try ShownRecord(address, in: open.vault)
        let page = try VersionPage.load(revision, of: shown, in: open.vault, frame)
        open.vault.audit.note(.read, member: address.member, record: address.record)
        return .page(page.document)
      }
    }
    record.post("history/:revision") { request, context in
      let address = try Self.address(context)
      let revision: ContentDigest = try context.id(named: "revision")
      return try await change(request, context) {
        try Self.restore(revision, of: address, $2, in: $0, $1)
      }
    }
  }

  private static func restore(
    _ revision: ContentDigest, of address: RecordAddress, _ form: FormValues, in open: OpenVault,
    _ frame: PageFrame
  ) throws -> Response {
    let shown = try ShownRecord(address, in: open.vault)
    if let refusal = shown.refusal(frame.texts) {
      return .page(frame.problem(refusal, back: address.path), status: .forbidden)
    }
    func changed() -> Response {
      let text = frame.texts("history.changedMeanwhile")
      return .page(frame.problem(text, back: address.path), status: .conflict)
    }
    // Whoever replaces it has seen what they replace.
    guard form["base"] == shown.entry.revision.hex, !shown.entry.isDeleted else {
      return changed()
    }
    let version = try VersionPage.find(revision, of: shown).revision
    var edit = try RecordRestore(shown.member).edit(of: address.record, to: version)
    edit.base = shown.entry.revision
    guard try open.commitIfUnchanged([edit], to: shown.member) else { return changed() }
    open.vault.audit.note(.restore, member: address.member, record: address.record)
    return .seeOther(address.path)
  }
}
