import CCMark
import Glibc

/// Notes are Markdown, as people write it: shown by libcmark, which leaves out HTML and addresses that could run something.
enum Markdown {
  static func html(of text: String) -> HTML {
    let bytes = Array(text.utf8)
    let options = CMARK_OPT_VALIDATE_UTF8 | CMARK_OPT_HARDBREAKS
    guard let made = cmark_markdown_to_html(bytes, bytes.count, options) else { return .text(text) }
    defer { free(made) }
    return .markup(String(cString: made))
  }
}
