import VaultModel

/// What a member's index is kept as: the bytes of Docs/Format.md, "What is derived". Little-endian, as our machines are.
package struct IndexStorage {
  /// Tells an index from those that came before and after it, whose changes are not its own; 16 bytes.
  package typealias Mark = RecordID

  /// Of which revision of which record a text was taken.
  package struct Row: Hashable, Sendable {
    var record: RecordID
    var revision: ContentDigest
  }

  /// A text that has come since the index was kept.
  package struct Addition: Sendable {
    var row: Row
    var lacking: ContentDigest?
    var text: RecordText
  }

  /// How words are cut and what is taken of a record: what was kept by another rule is made anew.
  package enum Rule: UInt8 {
    /// As on a machine that cannot open PDFs.
    case withoutPDF = 0x31
    case withPDF = 0x32

    fileprivate var indexMark: [UInt8] { Array("KVS".utf8) + [rawValue] }
  }

  private static let journalMark = Array("KVJ1".utf8)

  // MARK: The index

  package var mark: Mark
  var rows: [Row]
  /// Texts that lack something, by their row from 0 on, with the object that they lack.
  var lacking: [Int: ContentDigest]
  var vocabulary: Vocabulary

  /// Of an index without a text.
  package init(mark: Mark) {
    self.init(mark: mark, rows: [], lacking: [:], vocabulary: Vocabulary())
  }

  init(mark: Mark, rows: [Row], lacking: [Int: ContentDigest], vocabulary: Vocabulary) {
    (self.mark, self.rows, self.lacking, self.vocabulary) = (mark, rows, lacking, vocabulary)
  }

  /// - Parameter image: Of the `TextIndex`.
  package func encoded(by rule: Rule, image: [UInt8]) -> [UInt8] {
    var bytes = rule.indexMark
    bytes.reserveCapacity(100 + rows.count * 48 + vocabulary.bytes.count + image.count)
    bytes += mark.bytes
    bytes.append(number: rows.count)
    for row in rows { bytes.append(row) }
    bytes.append(number: lacking.count)
    for (row, object) in lacking.sorted(by: { $0.key < $1.key }) {
      bytes.append(number: row)
      bytes += object.bytes
    }
    bytes.append(number: vocabulary.bytes.count)
    bytes += vocabulary.bytes
    bytes.append(number: image.count)
    return bytes + image
  }

  /// Calls `body` with the index and the image of its words; nil where the bytes are not as they are written by this rule.
  package static func decode<Value>(
    _ bytes: [UInt8], by rule: Rule,
    _ body: (IndexStorage, UnsafeRawBufferPointer) throws(SearchError) -> Value
  ) throws(SearchError) -> Value? {
    var reader = StorageReader(bytes)
    guard reader.take(4) == rule.indexMark[...], let mark = reader.id(Mark.self),
      let rowCount = reader.count(of: 48)
    else { return nil }
    var storage = IndexStorage(mark: mark, rows: [], lacking: [:], vocabulary: Vocabulary())
    storage.rows.reserveCapacity(rowCount)
    for _ in 0..<rowCount {
      guard let row = reader.row() else { return nil }
      storage.rows.append(row)
    }
    guard let lackingCount = reader.count(of: 40) else { return nil }
    var next = 0
    for _ in 0..<lackingCount {
      guard let row = reader.number(), let object = reader.id(ContentDigest.self),
        (next..<rowCount).contains(row)
      else { return nil }
      storage.lacking[row] = object
      next = row + 1
    }
    guard let terms = reader.count(of: 1).flatMap({ reader.take($0) }),
      let image = reader.count(of: 1).flatMap({ reader.take($0) })
    else { return nil }
    storage.vocabulary = Vocabulary(Array(terms))
    let result = image.withUnsafeBytes { image -> Result<Value, SearchError> in
      do throws(SearchError) { return .success(try body(storage, image)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  // MARK: The journal

  package static func encodeJournal(of mark: Mark, _ additions: [Addition]) -> [UInt8] {
    var bytes = journalMark + mark.bytes
    bytes.append(number: additions.count)
    for addition in additions {
      bytes.append(addition.row)
      bytes += (addition.lacking ?? .zero).bytes
      bytes.append(addition.text.title)
      bytes.append(addition.text.fields)
      bytes.append(addition.text.note)
      bytes.append(number: addition.text.files.count)
      for file in addition.text.files {
        bytes.append(number: file.name.byteCount)
        bytes += file.name.bytes
        bytes.append(file.content)
      }
    }
    return bytes
  }

  /// Nil where it is of another index, or not as it is written.
  package static func decodeJournal(_ bytes: [UInt8], of mark: Mark) -> [Addition]? {
    var reader = StorageReader(bytes)
    guard reader.take(journalMark.count) == journalMark[...], reader.id(Mark.self) == mark,
      let count = reader.count(of: 100)
    else { return nil }
    var additions: [Addition] = []
    for _ in 0..<count {
      guard let row = reader.row(), let lacking = reader.id(ContentDigest.self),
        let text = reader.text()
      else { return nil }
      additions.append(
        Addition(row: row, lacking: lacking == .zero ? nil : lacking, text: text))
    }
    return additions
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: Int) {
    Swift.withUnsafeBytes(of: UInt64(number).littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(_ row: IndexStorage.Row) {
    row.record.storage.withUnsafeBytes { append(contentsOf: $0) }
    row.revision.storage.withUnsafeBytes { append(contentsOf: $0) }
  }

  fileprivate mutating func append(_ text: String) {
    append(number: text.utf8.count)
    append(contentsOf: text.utf8)
  }
}

/// Takes one thing after the other off the front of bytes.
private struct StorageReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= bytes.count - position else { return nil }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func number() -> Int? {
    guard let part = take(8) else { return nil }
    let value = part.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    return Int(exactly: value)
  }

  /// A number of things that have at least so many bytes each, if there is room for them.
  mutating func count(of size: Int) -> Int? {
    guard let count = number(), count >= 0, count <= (bytes.count - position) / size else {
      return nil
    }
    return count
  }

  mutating func id<ID: FixedBytes>(_ type: ID.Type) -> ID? { take(ID.byteCount).flatMap { ID($0) } }

  mutating func row() -> IndexStorage.Row? {
    take(RecordID.byteCount + ContentDigest.byteCount)?.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return IndexStorage.Row(
        record: RecordID(storage: Bytes16(loadingFrom: start)),
        revision: ContentDigest(storage: Bytes32(loadingFrom: start + RecordID.byteCount)))
    }
  }

  mutating func string() -> String? {
    guard let count = number(), let part = take(count) else { return nil }
    return String(decoding: part, as: UTF8.self)
  }

  mutating func text() -> RecordText? {
    guard let title = string(), let fields = string(), let note = string(),
      let fileCount = count(of: 16)
    else { return nil }
    var text = RecordText(title: title)
    (text.fields, text.note) = (fields, note)
    for _ in 0..<fileCount {
      guard let nameCount = number(), let name = take(nameCount).flatMap({ FileName($0) }),
        let content = string()
      else { return nil }
      text.files.append(RecordText.File(name: name, content: content))
    }
    return text
  }
}
