import VaultModel

/// What every page has around what it says.
struct PageFrame: Sendable {
  let texts: Texts
  /// Nil for whoever is not in.
  var visitor: Door.Visitor?
  /// Of the vault, by which a page learns that something has changed; nil where none is shown.
  var version: UInt64?
  var isReadOnly = false
  /// How many versions that lost wait for somebody to decide.
  var conflictCount = 0
  /// What stands above all else.
  var notices = HTML.nothing
  /// What was looked for.
  private var words = ""
  /// What a search that begins here keeps: whose records are wanted, and of which type.
  private var kept: [(name: String, value: String)] = []

  init(
    texts: Texts, visitor: Door.Visitor? = nil, version: UInt64? = nil, isReadOnly: Bool = false
  ) {
    (self.texts, self.visitor) = (texts, visitor)
    (self.version, self.isReadOnly) = (version, isReadOnly)
  }

  /// The frame around a list of what is wanted, found by these words: a search that begins there keeps both.
  func searching(_ words: String, _ wish: ListPage.Wish) -> PageFrame {
    var frame = self
    frame.words = words
    if wish.deleted { return frame }
    if let member = wish.member { frame.kept.append(("member", member.hex)) }
    if let type = wish.type { frame.kept.append(("type", type)) }
    return frame
  }

  /// The whole document. Its title says nothing, since browsers keep it.
  func document(_ main: HTML) -> String {
    tag("html", ["lang": texts.language]) {
      tag("head") {
        tag("meta", ["charset": "utf-8"])
        tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        tag("meta", ["name": "color-scheme", "content": "light dark"])
        tag("title") { texts("brand") }
        tag("link", ["rel": "stylesheet", "href": "/style.css"])
        if let visitor {
          tag("meta", ["name": "form", "content": visitor.form.text])
          tag("meta", ["name": "proof", "content": visitor.proof.text])
          tag("script", ["type": "module", "src": "/page.js"])
        }
      }
      tag(
        "body",
        [
          "data-version": version.map { String($0) }, "data-locked": texts("locked.about"),
          "data-soon": texts("locked.soon"),
        ]
      ) {
        tag("a", ["class": "skip", "href": "#main"]) { texts("skip") }
        header
        tag("main", ["id": "main"]) {
          notices
          main
        }
      }
    }.document
  }

  private var header: HTML {
    tag("header") {
      tag("a", ["class": "brand", "href": "/"]) { texts("brand") }
      if version != nil {
        post("/search", ["class": "search", "role": "search"]) {
          tag("label", ["for": "words", "class": "unseen"]) { texts("search.label") }
          tag(
            "input",
            [
              "id": "words", "type": "search", "name": "words", "autocomplete": "off",
              "placeholder": texts("search.hint"), "value": words,
            ])
          for (name, value) in kept {
            tag("input", ["type": "hidden", "name": name, "value": value])
          }
          tag("button", ["type": "submit"]) { texts("search.go") }
        }
        tag("nav", ["aria-label": texts("nav.main")]) {
          tag("a", ["href": "/"]) { texts("nav.records") }
          if !isReadOnly { tag("a", ["href": "/new"]) { texts("nav.new") } }
          tag("a", ["href": "/conflicts"]) {
            conflictCount == 0
              ? texts("nav.conflicts") : texts("nav.conflicts.count", String(conflictCount))
          }
          tag("a", ["href": "/deleted"]) { texts("nav.deleted") }
          tag("a", ["href": "/people"]) { texts("nav.people") }
          tag("a", ["href": "/journal"]) { texts("nav.journal") }
          tag("a", ["href": "/vault"]) { texts("nav.vault") }
          post("/lock") {
            tag("button", ["type": "submit", "class": "plain"]) { texts("nav.lock") }
          }
        }
        tag("p", ["id": "news", "role": "status", "class": "news", "hidden": ""]) {
          texts("news") + " "
          tag("a", ["href": ""]) { texts("news.show") }
        }
      }
    }
  }

  /// What stands in records, each a way to the others in which it stands. A form, since addresses do not have such words.
  func finding(_ values: [String]) -> HTML {
    post("/search", ["class": "find"]) {
      for (number, value) in values.enumerated() {
        if number > 0 { ", " }
        // Where there is no letter and no digit, nothing would be found.
        if value.contains(where: { $0.isLetter || $0.isNumber }) {
          tag(
            "button",
            [
              "type": "submit", "name": "words", "value": "\"\(value)\"",
              "title": texts("record.find"),
            ]
          ) { named(value) }
        } else {
          named(value)
        }
      }
    }
  }

  /// A form that changes something.
  func post(
    _ path: String, _ attributes: KeyValuePairs<String, String?> = [:],
    @HTMLBuilder _ content: () -> [HTML]
  ) -> HTML {
    var all = [(name: "method", value: "post"), (name: "action", value: path)]
    all += attributes.compactMap { name, value in value.map { (name, $0) } }
    let hidden = tag(
      "input", ["type": "hidden", "name": "form", "value": visitor?.form.text ?? ""])
    return .element("form", all, [hidden] + content())
  }
}
