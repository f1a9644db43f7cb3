import Search
import VaultModel

/// What is searched is text that anybody with access has written, and what somebody typed; what is kept of it is sealed, and
/// decoded with care all the same.
extension FuzzTarget {
  static func searching() throws -> [FuzzTarget] {
    var random = SeededRandom(seed: 13)
    let mark: IndexStorage.Mark = random.id()
    let index = IndexStorage(mark: mark).encoded(by: .withPDF, image: random.bytes(40))
    let journal = IndexStorage.encodeJournal(of: mark, [])
    let texts = ["Größe \u{301}a 青霉素flu विषाणु Ёлка ß ΐ 🙂", "\"a b\" c", "\0\0\u{FEFF}"]
    return [
      FuzzTarget(
        name: "search-words", seeds: texts.map { Array($0.utf8) } + [[0xFF, 0xFE, 0x47, 0xD8]]
      ) { bytes in
        let cutter = try WordCutter()
        for text in [AttachedText.decode(bytes), String(decoding: bytes, as: UTF8.self)] {
          for word in cutter.words(of: text) {
            guard !word.bytes.isEmpty, word.range.upperBound <= text.utf8.count else {
              throw Unstable()
            }
          }
          _ = SearchQuery(text, cutter)
        }
      },
      FuzzTarget(name: "search-index", seeds: [index]) { bytes in
        let found = try IndexStorage.decode(bytes, by: .withPDF) {
          (storage, image) throws(SearchError) in
          storage.encoded(by: .withPDF, image: Array(image))
        }
        if let found, found != Array(bytes.prefix(found.count)) { throw Unstable() }
      },
      FuzzTarget(name: "search-journal", seeds: [journal]) { bytes in
        guard let found = IndexStorage.decodeJournal(bytes, of: mark) else { return }
        let again = IndexStorage.encodeJournal(of: mark, found)
        if IndexStorage.decodeJournal(again, of: mark)?.count != found.count { throw Unstable() }
      },
    ]
  }
}
