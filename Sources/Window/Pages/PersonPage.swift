import Vault
import VaultModel

/// Another person: how sure it is whose their keys are, and the words that both compare.
struct PersonPage {
  let frame: PageFrame
  let person: KnownPerson
  let names: PersonNames
  /// Nil until somebody asks for them: they take a second.
  var words: [String]?
  var problem: String?

  private var texts: Texts { frame.texts }

  var document: String {
    frame.document(
      .group([
        tag("h1") { named(names.name(of: person.id)) },
        tag("p") { names.verification(of: person) },
        alert(problem),
        words.map(comparison) ?? asking,
        tag("p") { tag("a", ["href": "/people"]) { texts("people.back") } },
      ]))
  }

  private var asking: HTML {
    guard !person.isSelf else { return .nothing }
    return frame.post("/people/\(person.id.hex)/words") {
      tag("p") { texts("words.about") }
      tag("button", ["type": "submit"]) { texts("words.show") }
    }
  }

  private func comparison(_ words: [String]) -> HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { texts("words.title") }
      tag("p", ["class": "words", "lang": "en"]) { words.joined(separator: "  ") }
      tag("p") { texts("words.how") }
      if !frame.isReadOnly {
        frame.post("/people/\(person.id.hex)/verified", ["class": "edit"]) {
          tag("label", ["for": "name"]) { texts("words.name") }
          tag("input", ["id": "name", "name": "name", "value": person.name, "autocomplete": "off"])
          tag("p", ["class": "actions"]) {
            tag("button", ["type": "submit"]) { texts("words.same") }
            tag("a", ["href": "/people"]) { texts("words.differ") }
          }
        }
      }
    }
  }
}

/// What one hands over to somebody who is to join.
struct InvitationPage {
  let frame: PageFrame
  let invitation: Invitation

  private var texts: Texts { frame.texts }

  var document: String {
    frame.document(
      tag("section") {
        tag("h1") { texts("invitation.title") }
        tag("p") { texts("invitation.about") }
        tag("label", ["for": "invitation"]) { texts("invitation.text") }
        tag("textarea", ["id": "invitation", "rows": "5", "readonly": ""]) { invitation.text }
        tag("p", ["class": "quiet"]) { texts("invitation.then") }
        tag("p") { tag("a", ["href": "/people"]) { texts("people.back") } }
      })
  }
}

/// Asks whether something is shared with somebody whose keys nothing but the folder vouches for, or whose invitation somebody
/// else has answered as well.
struct DoubtPage {
  let frame: PageFrame
  let name: String
  let person: PersonID
  let isContested: Bool
  let member: MemberID
  let role: String
  let until: String

  private var texts: Texts { frame.texts }

  var document: String {
    frame.document(
      tag("section") {
        tag("h1") { texts("people.share") }
        alert(texts(isContested ? "people.answeredTwice" : "people.unverified", name))
        tag("p") { tag("a", ["href": "/people/\(person.hex)"]) { texts("words.first") } }
        frame.post("/access/\(member.hex)/share") {
          for (key, value) in [
            ("person", person.hex), ("role", role), ("until", until), ("sure", "yes"),
          ] { tag("input", ["type": "hidden", "name": key, "value": value]) }
          tag("button", ["type": "submit", "class": "grave"]) { texts("people.share.sure") }
        }
      })
  }
}
