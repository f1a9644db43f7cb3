/// A piece of a page. Text and attributes are escaped as they are written, so that nothing of a record becomes markup.
indirect enum HTML: Sendable {
  case text(String)
  case element(String, [(name: String, value: String)], [HTML])
  case group([HTML])
  /// What is markup already, from a library that makes nothing else.
  case markup(String)

  static let nothing = HTML.group([])

  /// The document, as it is sent.
  var document: String {
    var out = "<!DOCTYPE html>\n"
    write(to: &out)
    return out
  }

  func write(to out: inout String) {
    switch self {
    case .text(let text): Self.escape(text, to: &out)
    case .markup(let markup): out += markup
    case .group(let parts): for part in parts { part.write(to: &out) }
    case .element(let name, let attributes, let content):
      out += "<\(name)"
      for attribute in attributes {
        out += " \(attribute.name)"
        if attribute.value.isEmpty { continue }
        out += "=\""
        Self.escape(attribute.value, to: &out)
        out += "\""
      }
      out += ">"
      if Self.void.contains(name) { return }
      for part in content { part.write(to: &out) }
      out += "</\(name)>"
    }
  }

  /// Elements without content and end.
  private static let void: Set = ["img", "input", "link", "meta", "br", "hr"]

  private static func escape(_ text: String, to out: inout String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      default: out.unicodeScalars.append(shown(scalar))
      }
    }
  }

  /// What stands for a character: the picture of a control character, which would not show and no document may have; U+FFFD
  /// where there is no picture; else the character itself, as for line feeds and tabs.
  static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\n", "\t": scalar
    case "\0"..."\u{1F}": Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
    case "\u{7F}": "\u{2421}"
    case "\u{80}"..."\u{9F}": "\u{FFFD}"
    default: scalar
    }
  }
}

@resultBuilder
enum HTMLBuilder {
  static func buildExpression(_ part: HTML) -> [HTML] { [part] }
  static func buildExpression(_ text: String) -> [HTML] { [.text(text)] }
  static func buildBlock(_ parts: [HTML]...) -> [HTML] { parts.flatMap(\.self) }
  static func buildOptional(_ parts: [HTML]?) -> [HTML] { parts ?? [] }
  static func buildEither(first parts: [HTML]) -> [HTML] { parts }
  static func buildEither(second parts: [HTML]) -> [HTML] { parts }
  static func buildArray(_ parts: [[HTML]]) -> [HTML] { parts.flatMap(\.self) }
}

/// An element. Attributes whose value is nil are left out; an empty value is one that only has to be there.
func tag(
  _ name: String, _ attributes: KeyValuePairs<String, String?> = [:],
  @HTMLBuilder _ content: () -> [HTML] = { [] }
) -> HTML {
  .element(name, attributes.compactMap { name, value in value.map { (name, $0) } }, content())
}

/// What went wrong, if anything did; it is read out.
func alert(_ text: String?) -> HTML {
  text.map { text in tag("p", ["class": "error", "role": "alert"]) { text } } ?? .nothing
}

/// The head of a table.
func tableHead(@HTMLBuilder _ names: () -> [HTML]) -> HTML {
  tag("thead") { tag("tr") { for name in names() { tag("th") { name } } } }
}

/// A name or another text that somebody wrote, which may run from right to left. What has letters run against their own
/// direction does not count: `x\u{202E}fdp.exe` would look like a PDF. What nobody would see stands in quotation marks.
func named(_ text: String) -> HTML {
  let isSeen = text.unicodeScalars.contains { scalar in
    !scalar.properties.isWhitespace && scalar.properties.generalCategory != .format
  }
  let shown = text.replacing("\u{202D}", with: "\u{FFFD}")
    .replacing("\u{202E}", with: "\u{FFFD}")
  return tag("bdi") { isSeen || text.isEmpty ? shown : "“\(shown)”" }
}
