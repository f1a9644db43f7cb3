/// `recently-used.xbel`, in which GTK, Qt and others note the files that were opened: the bookmarks of an XML file
/// (Desktop Bookmark Specification).
///
/// Read with a scanner of its own and no XML library: what is kept is to stay byte for byte, and a library gives no
/// positions. It knows what XML has in between: comments, CDATA, declarations, quoted values.
enum RecentFilesList {
  /// Every bookmark of a `file:` URI, in order, with the blanks before it in its line.
  ///
  /// - Throws: When the file is not well-formed as far as its bookmarks go.
  static func entries(in bytes: [UInt8]) throws(MalformedList) -> [ListEntry] {
    var scanner = XMLScanner(bytes)
    var entries: [ListEntry] = []
    var open: (start: Int, path: [UInt8]?)?
    while let tag = try scanner.nextTag() {
      guard tag.name.elementsEqual("bookmark".utf8) else { continue }
      switch (tag.kind, open) {
      case (.opening, nil):
        open = (tag.range.lowerBound, try scanner.value(of: "href", in: tag).flatMap(FileURI.path))
      case (.closing, let begun?):
        if let path = begun.path {
          entries.append(
            ListEntry(tags: begun.start..<tag.range.upperBound, of: bytes, path: path))
        }
        open = nil
      case (.empty, nil):
        if let path = try scanner.value(of: "href", in: tag).flatMap(FileURI.path) {
          entries.append(ListEntry(tags: tag.range, of: bytes, path: path))
        }
      default: throw MalformedList(reason: "its bookmarks are not one after the other")
      }
    }
    guard open == nil else { throw MalformedList(reason: "its last bookmark has no end") }
    return entries
  }
}
