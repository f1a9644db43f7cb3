import Rendering
import Vault
import VaultErrors
import VaultModel

/// The text of attached PDFs. Each content is opened once: what came of it, also nothing, is kept sealed in the member's
/// `DerivedStore`.
enum PDFText {
  /// The digit is another one when something else is taken of a PDF: then all are opened again.
  private static let mark = Array("KVT1".utf8)

  /// A PDF's text, empty for one that has none, is too large or cannot be opened.
  static func read(
    _ item: Item, of member: Member, _ renderer: Renderer
  ) throws(VaultError) -> ContentHere<String> {
    guard item.size <= UInt64(Renderer.inputLimit) else { return .here("") }
    let source = DerivedContent(.text, of: item)
    if let kept = try member.derived.load(source), kept.starts(with: mark) {
      return .here(String(decoding: kept.dropFirst(mark.count), as: UTF8.self))
    }
    if renderer.isKnownUnavailable(for: .pdf) { return .lacking(nil) }
    let bytes: [UInt8]
    switch try member.beginningHere(of: item, byteCount: Renderer.inputLimit) {
    case .here(let content): bytes = content
    case .lacking(let object): return .lacking(object)
    }
    let text: String
    switch renderer.text(ofPDF: bytes) {
    case .bytes(let answer): text = Self.text(of: answer)
    case .nothing: text = ""
    case .unavailable: return .lacking(nil)
    }
    try member.derived.store(mark + Array(text.utf8), as: source)
    return .here(text)
  }

  /// Whoever made the PDF may have had it say anything.
  private static func text(of answer: [UInt8]) -> String {
    guard !answer.contains(0) else { return "" }
    return String(decoding: answer, as: UTF8.self).cut(to: AttachedText.byteLimit)
  }
}

extension String {
  /// No more than so many bytes of its beginning.
  func cut(to byteCount: Int) -> String {
    guard utf8.count > byteCount else { return self }
    var bytes = Array(utf8.prefix(byteCount + 1))
    // Back to the beginning of the character that is cut.
    while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    return String(decoding: bytes, as: UTF8.self)
  }
}
