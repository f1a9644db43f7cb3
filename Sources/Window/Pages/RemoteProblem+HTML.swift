extension RemoteProblem {
  /// What it means in the page's language, and behind that exactly what it is, which is in English.
  func html(_ texts: Texts, namesRemote: Bool) -> HTML {
    .group([
      tag("p", ["class": "error"]) {
        if namesRemote {
          named(remote)
          ": "
        }
        texts("remotes.problem.\(kind)")
      },
      // Where that is all there is to say, it is shown.
      texts.exactly(text, isOpen: kind == .failed),
    ])
  }
}

extension Texts {
  /// What commands would say, which is in English, for whoever wants to see it.
  func exactly(_ text: String, isOpen: Bool = false) -> HTML {
    tag("details", ["open": isOpen ? "" : nil]) {
      tag("summary") { self("exactly") }
      tag("p", ["class": "quiet", "lang": "en"]) { text }
    }
  }
}
