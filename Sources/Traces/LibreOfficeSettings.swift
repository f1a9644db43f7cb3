/// `registrymodifications.xcu`, LibreOffice's settings. Among them are the documents that were opened last, each with a
/// picture of its first page, and those that are to be given back after a crash.
///
/// An item for each document, and in a list of recent ones a second, with the document's number in the list. LibreOffice
/// adds nothing more to a list in which a number is missing, so they are numbered anew.
struct LibreOfficeSettings {
  /// An item that names a document.
  struct Document {
    fileprivate var entry: ListEntry
    /// The list that it belongs to.
    fileprivate var list: [UInt8]
    /// Where its number in the list stands.
    fileprivate var number: Range<Int>?
    /// The name of the copy in the folder `backup`.
    var copy: String?

    var path: [UInt8] { entry.path }
  }

  let documents: [Document]
  private let bytes: [UInt8]

  /// - Throws: When the file is not well-formed as far as its items go.
  init(parsing bytes: [UInt8]) throws(MalformedList) {
    self.bytes = bytes
    var scanner = XMLScanner(bytes)
    var documents: [Document] = []
    var item: Item?
    while let tag = try scanner.nextTag() {
      switch (tag.kind, String(decoding: tag.name, as: UTF8.self)) {
      case (.opening, "item"):
        guard item == nil else {
          throw MalformedList(reason: "its items are not one after the other")
        }
        let list = try scanner.value(of: "oor:path", in: tag) ?? []
        item = Item(start: tag.range.lowerBound, list: list)
      case (.opening, "node"): item?.name = try scanner.writtenValue(of: "oor:name", in: tag)
      case (.opening, "prop"): item?.property = try scanner.value(of: "oor:name", in: tag) ?? []
      case (.opening, "value"): item?.textStart = tag.range.upperBound
      case (.closing, "value"): try item?.take(textTo: tag.range.lowerBound, in: bytes)
      case (.closing, "item"):
        if let document = try item?.document(to: tag.range.upperBound, in: bytes) {
          documents.append(document)
        }
        item = nil
      default: continue
      }
    }
    guard item == nil else { throw MalformedList(reason: "its last item has no end") }
    self.documents = documents
  }

  /// The settings without some documents, by their places in `documents`; all else stays but for numbers.
  func removing(_ removed: Set<Int>) -> [UInt8] {
    var changes: [(range: Range<Int>, text: [UInt8])] = []
    var numbered: [[UInt8]: [(number: Int, place: Range<Int>)]] = [:]
    var changed: Set<[UInt8]> = []
    for (index, document) in documents.enumerated() {
      if removed.contains(index) {
        changes.append((document.entry.range, []))
        changed.insert(document.list)
      } else if let place = document.number,
        let number = Int(String(decoding: bytes[place], as: UTF8.self))
      {
        numbered[document.list, default: []].append((number, place))
      }
    }
    for list in changed {
      let kept = (numbered[list] ?? []).sorted { $0.number < $1.number }
      for (number, document) in kept.enumerated() {
        changes.append((document.place, Array("\(number)".utf8)))
      }
    }
    var result: [UInt8] = []
    var position = 0
    for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      result += bytes[position..<change.range.lowerBound] + change.text
      position = change.range.upperBound
    }
    return result + bytes[position...]
  }
}

/// An item while its tags are read.
private struct Item {
  var start: Int
  var list: [UInt8]
  var name: ArraySlice<UInt8>?
  var property: [UInt8] = []
  var textStart: Int?
  private var texts: [String: [UInt8]] = [:]

  private static let properties: Set = ["HistoryItemRef", "OriginalURL", "TempURL"]
  private static let lists = [
    "/org.openoffice.Office.Histories/", "/org.openoffice.Office.Recovery/RecoveryList",
  ]

  init(start: Int, list: [UInt8]) {
    self.start = start
    self.list = list
  }

  mutating func take(textTo end: Int, in bytes: [UInt8]) throws(MalformedList) {
    let name = String(decoding: property, as: UTF8.self)
    if let start = textStart, Self.properties.contains(name) {
      texts[name] = try XMLScanner.resolve(bytes[start..<end])
    }
    textStart = nil
  }

  /// Nil for an item that names no file.
  func document(
    to end: Int, in bytes: [UInt8]
  ) throws(MalformedList) -> LibreOfficeSettings.Document? {
    guard let name, Self.lists.contains(where: { list.starts(with: $0.utf8) }) else { return nil }
    let reference = texts["HistoryItemRef"]
    let resolved = try XMLScanner.resolve(name)
    guard let path = FileURI.path(of: reference ?? texts["OriginalURL"] ?? resolved) else {
      return nil
    }
    let copy = texts["TempURL"].flatMap(FileURI.path)?.split(separator: UInt8(ascii: "/")).last
    return LibreOfficeSettings.Document(
      entry: ListEntry(tags: start..<end, of: bytes, path: path), list: list,
      number: reference == nil ? nil : name.startIndex..<name.endIndex,
      copy: copy.map { String(decoding: $0, as: UTF8.self) })
  }
}
