/// What those see who are not in, or before there is a vault to be shown.
extension PageFrame {
  /// Asks for a code. Says nothing of the vault.
  func entrance(wasWrong: Bool) -> String {
    document(
      tag("section", ["class": "door"]) {
        tag("h1") { texts("enter.title") }
        tag("p") { texts("enter.about") }
        if wasWrong { alert(texts("enter.bad")) }
        post(DoorRules.entrance) {
          tag("label", ["for": "code"]) { texts("enter.code") }
          tag(
            "input",
            [
              "id": "code", "name": "code", "required": "", "autofocus": "", "autocomplete": "off",
              "spellcheck": "false", "size": "14",
            ])
          tag("button", ["type": "submit"]) { texts("enter.go") }
        }
      })
  }

  /// Leads on to the vault. A redirection would not do: whoever comes from a file comes without the cookie.
  func entered() -> String {
    tag("html", ["lang": texts.language]) {
      tag("head") {
        tag("meta", ["charset": "utf-8"])
        tag("title") { texts("brand") }
        tag("meta", ["http-equiv": "refresh", "content": "0; url=/"])
        tag("link", ["rel": "stylesheet", "href": "/style.css"])
      }
      tag("body") { tag("main") { tag("a", ["href": "/"]) { texts("enter.go.on") } } }
    }.document
  }

  /// Asks for the password, or for what another way needs.
  ///
  /// - Parameters:
  ///   - name: What the vault is called.
  ///   - ways: Those that are at hand besides the password.
  ///   - problem: Why it did not open; nil for the first time.
  func unlock(_ name: String, _ ways: [UnlockWay], problem: String?) -> String {
    document(
      tag("section", ["class": "door"]) {
        tag("h1") { texts("unlock.title") }
        tag("p") { named(name) }
        alert(problem)
        post("/unlock") {
          tag("label", ["for": "password"]) { texts("unlock.password") }
          tag(
            "input",
            [
              "id": "password", "type": "password", "name": "password", "required": "",
              "autofocus": "", "autocomplete": "off",
            ])
          tag("button", ["type": "submit"]) { texts("unlock.go") }
        }
        for way in ways { unlock(by: way) }
      })
  }

  private func unlock(by way: UnlockWay) -> HTML {
    func secret(_ name: String) -> HTML {
      let id = "\(name)-\(way.id)"
      return .group([
        tag("label", ["for": id]) { texts("unlock.\(name)") },
        tag(
          "input",
          [
            "id": id, "type": "password", "name": name, "required": "", "autocomplete": "off",
          ]),
      ])
    }
    return tag("section", ["class": "way"]) {
      tag("h2") { named(way.name) }
      post("/unlock") {
        tag("input", ["type": "hidden", "name": "way", "value": way.id])
        if way.asksForPassword { secret("password") }
        if way.asksForPIN { secret("pin") }
        if way.asksForTouch { tag("p", ["class": "quiet"]) { texts("unlock.touch") } }
        tag("button", ["type": "submit"]) {
          texts("unlock.by")
          " "
          named(way.name)
        }
      }
    }
  }

  func locked() -> String {
    document(
      tag("section", ["class": "door"]) {
        tag("h1") { texts("locked.title") }
        tag("p") { texts("locked.about") }
      })
  }

  /// - Parameters:
  ///   - back: Where to go on.
  ///   - typed: What a form had that can no longer be shown, so that it is not lost.
  func problem(_ text: String, back: String? = nil, typed: NoteForm? = nil) -> String {
    document(
      tag("section") {
        tag("h1") { texts("error.title") }
        alert(text)
        if let typed, !typed.lines.isEmpty || !typed.text.isEmpty {
          tag("section", ["class": "theirs"]) {
            tag("h2") { texts("error.typed") }
            typed.html(texts)
          }
        }
        tag("p") {
          tag("a", ["href": back ?? "/"]) { texts(back == nil ? "nav.records" : "error.back") }
        }
      })
  }
}
