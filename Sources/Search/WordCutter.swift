import CFullText
import CSQLite

/// A word of a text, as it is compared: small letters, without accents.
package struct TextWord {
  /// UTF-8.
  package var bytes: [UInt8]
  /// Where it stands, in bytes of the text's UTF-8.
  package var range: Range<Int>
  /// Whether it stands in the same place as the word before it: the last character of a script that does not part words.
  package var isBeside: Bool

  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Cuts texts into words exactly as the index does.
package final class WordCutter {
  private let connection: Connection
  private let words: OpaquePointer

  package init() throws(SearchError) {
    connection = try Connection()
    guard let made = kv_make_words(connection.handle) else { throw .index(code: SQLITE_NOMEM) }
    words = made
  }

  deinit { kv_free_words(words) }

  /// Every word, in order.
  package func words(of text: String) -> [TextWord] {
    var text = text
    var found: [TextWord] = []
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let start = bytes.baseAddress else { return }
        withUnsafeMutablePointer(to: &found) { found in
          // It fails only where our own function does, which never does.
          _ = kv_visit_words(words, start, Int32(clamping: bytes.count), found) {
            context, word, size, start, end, isBeside in
            guard let context, let word else { return }
            let bytes = UnsafeRawBufferPointer(start: word, count: Int(size))
            context.assumingMemoryBound(to: [TextWord].self).pointee.append(
              TextWord(bytes: Array(bytes), range: Int(start)..<Int(end), isBeside: isBeside != 0))
          }
        }
      }
    }
    return found
  }
}
