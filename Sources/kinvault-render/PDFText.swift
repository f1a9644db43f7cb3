/// The text layer of PDFs.
enum PDFText {
  /// More is not given, in bytes.
  private static let limit = 4 << 20
  /// No more pages than this are looked at: a document may say that it has any number.
  private static let pageLimit: Int32 = 20_000

  /// The text in UTF-8, with a form feed after each page; nil for what is no PDF, or one that only a password opens.
  static func of(_ bytes: [UInt8]) -> [UInt8]? {
    guard let document = PDFDocument(bytes) else { return nil }
    var text: [UInt8] = []
    for index in 0..<min(pageLimit, document.pageCount) {
      guard text.count < limit else { break }
      text += document.text(ofPage: index, limit: limit) ?? []
      text.append(0x0C)
    }
    return Array(text.prefix(limit))
  }
}
