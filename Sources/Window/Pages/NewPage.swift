import Notes
import Vault
import VaultModel

/// The form by which a record is made: first whose and of which type, then its fields.
struct NewPage {
  let frame: PageFrame
  /// Those who may be written to.
  private let members: [(id: MemberID, name: String)]
  /// Of all, those as well who may not be written to any more.
  private let names: [MemberID: String]
  /// Nil as long as nobody has chosen one.
  var member: MemberID?
  /// Nil for one of people's own, which is typed.
  var type: RecordType? = .note
  var ownType = ""
  var date = LocalTimeText.today()
  var title = ""
  /// Nil for the usual fields.
  var form: NoteForm?
  var problem: String?

  /// What stands in an address in the place of one of people's own, which browsers are not to keep.
  private static let otherType = "other"

  private var texts: Texts { frame.texts }

  init(_ vault: Vault, _ frame: PageFrame) {
    self.frame = frame
    let shownNames = vault.shownNames
    let all = vault.members.map { (member: $0, name: (shownNames[$0.id] ?? $0.name).string) }
    names = Dictionary(all.map { ($0.member.id, $0.name) }) { first, _ in first }
    members = all.filter { $0.member.mayWrite }.map { ($0.member.id, $0.name) }
  }

  var document: String {
    frame.document(
      tag("article") {
        tag("h1") { texts("new.title") }
        if let member, let name = names[member], hasFields {
          fields(of: member, name)
        } else if members.isEmpty {
          tag("p") { texts("new.none") }
        } else {
          choice
        }
      })
  }

  /// What was typed is shown, whether it may be added or not.
  private var hasFields: Bool { form != nil || members.contains { $0.id == member } }

  private var choice: HTML {
    tag("form", ["method": "get", "action": "/new", "class": "edit"]) {
      tag("label", ["for": "member"]) { texts("new.member") }
      tag("select", ["id": "member", "name": "member"]) {
        for member in members { tag("option", ["value": member.id.hex]) { member.name } }
      }
      tag("label", ["for": "type"]) { texts("new.type") }
      tag("select", ["id": "type", "name": "type"]) {
        for type in RecordType.allCases {
          tag("option", ["value": type.rawValue]) { texts.type(type.rawValue) }
        }
        tag("option", ["value": Self.otherType]) { texts("new.otherType") }
      }
      tag("p", ["class": "actions"]) {
        tag("button", ["type": "submit"]) { texts("new.next") }
      }
    }
  }

  private func fields(of member: MemberID, _ name: String) -> HTML {
    var form = self.form ?? NoteForm(new: type ?? .note, date: date)
    // They stand above.
    form.lines.removeAll { ["type", "date"].contains($0.name) }
    return frame.post("/new", ["class": "edit"]) {
      tag("p", ["class": "about"]) {
        named(name)
        if let type { " · " + texts.type(type.rawValue) }
      }
      alert(problem)
      tag("input", ["type": "hidden", "name": "member", "value": member.hex])
      if let type {
        tag("input", ["type": "hidden", "name": "type", "value": type.rawValue])
      } else {
        OwnTypeField(texts: texts, label: texts("new.type"), value: ownType, isRequired: true).html
      }
      tag("label", ["for": "title"]) { texts("new.name") }
      tag(
        "input",
        [
          "id": "title", "name": "title", "value": title, "required": "", "autocomplete": "off",
          "dir": "auto",
        ])
      tag("label", ["for": "date"]) { texts("new.date") }
      tag(
        "input",
        [
          "id": "date", "name": "date", "value": date, "autocomplete": "off",
          "inputmode": "numeric",
        ])
      NoteFields(texts: texts, form: form).html
      tag("p", ["class": "actions"]) {
        tag("button", ["type": "submit"]) { texts("new.create") }
      }
    }
  }
}
