import VaultModel

/// Where in a record something was found, and a few words around it.
package struct Excerpt: Sendable {
  package enum Part: String, Sendable {
    case title, fields, note
    /// The name of an attached file.
    case file
    /// What stands in an attached file.
    case content
  }

  package var part: Part
  /// The file in which, or in whose name, it was found.
  package var file: FileName?
  /// One line; empty where there is nothing but a title or a name.
  package var text: String

  private static let bytesBefore = 40
  private static let byteCount = 160

  /// The place in the record with the most of the words: of several the note comes first, then fields and files.
  init(of record: RecordText, _ query: SearchQuery, _ cutter: WordCutter) {
    var places: [(part: Part, file: FileName?, text: String)] = [
      (.note, nil, record.note), (.fields, nil, record.fields), (.title, nil, record.title),
    ]
    for file in record.files where !file.content.isEmpty {
      places.append((.content, file.name, file.content))
    }
    places += record.files.map { (.file, $0.name, $0.name.string) }
    var best = (count: 0, first: 0, place: places[2])
    for place in places where !place.text.isEmpty {
      let words = cutter.words(of: place.text)
      let found = query.words.compactMap { word in
        word.places(in: words).map { words[$0.lowerBound].range.lowerBound }.min()
      }
      if found.count > best.count { best = (found.count, found.min() ?? 0, place) }
    }
    (part, file) = (best.place.part, best.place.file)
    switch part {
    // What it is about is said by the path that is shown beside it; so the beginning of what it says.
    case .title, .file:
      text =
        record.note.isEmpty
        ? Self.cut(record.fields, around: 0, lineEnd: " · ") : Self.cut(record.note, around: 0)
    case .fields: text = Self.cut(best.place.text, around: best.first, lineEnd: " · ")
    case .note, .content: text = Self.cut(best.place.text, around: best.first)
    }
  }

  /// Some of a text around a place in it, as one line, cut between words where there are spaces.
  private static func cut(_ text: String, around offset: Int, lineEnd: String = " ") -> String {
    let bytes = Array(text.utf8)
    var start = max(0, offset - bytesBefore)
    if start > 0 {
      let space = bytes[start..<offset].firstIndex(where: isSpace)
      start = space.map { $0 + 1 } ?? start
      while start < offset, bytes[start] & 0xC0 == 0x80 { start += 1 }
    }
    var end = min(bytes.count, start + byteCount)
    if end < bytes.count {
      let space = bytes[start..<end].lastIndex(where: isSpace)
      if let space, space > offset { end = space }
      while end > start, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    }
    let lines = String(decoding: bytes[start..<end], as: UTF8.self).split(
      whereSeparator: \.isNewline)
    let line = lines.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .filter { !$0.isEmpty }.joined(separator: lineEnd)
    guard !line.isEmpty else { return "" }
    return (start > 0 ? "… " : "") + line + (end < bytes.count ? " …" : "")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09
  }
}
