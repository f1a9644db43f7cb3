import CPoppler
import Glibc

/// The text layer of PDFs, by poppler.
enum PDFText {
  /// More is not given, in bytes.
  private static let limit = 4 << 20
  /// No more pages than this are looked at: a document may say that it has any number.
  private static let pageLimit: Int32 = 20_000

  /// The text in UTF-8, with a form feed after each page; nil for what is no PDF, or one that only a password opens.
  static func of(_ bytes: [UInt8]) -> [UInt8]? {
    guard let content = g_bytes_new(bytes, gsize(bytes.count)) else { return nil }
    defer { g_bytes_unref(content) }
    guard let document = poppler_document_new_from_bytes(content, nil, nil) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(document)) }
    var text: [UInt8] = []
    for number in 0..<max(0, min(pageLimit, poppler_document_get_n_pages(document))) {
      guard text.count < limit else { break }
      if let page = poppler_document_get_page(document, number) {
        append(page, to: &text)
        g_object_unref(UnsafeMutableRawPointer(page))
      }
      text.append(0x0C)
    }
    return Array(text.prefix(limit))
  }

  private static func append(_ page: OpaquePointer, to text: inout [UInt8]) {
    guard let found = poppler_page_get_text(page) else { return }
    defer { g_free(found) }
    let bytes = UnsafeRawBufferPointer(start: found, count: strnlen(found, limit))
    text.append(contentsOf: bytes)
  }
}
