import BlobStore
import CExpat

/// XML from a server that may mean no good.
package enum XMLReply {
  /// How deep elements may stand in each other; the answers of these protocols need 6.
  static let depthLimit = 64
  /// One element for so many bytes, since `<a/>` takes up far more memory than its four. Answers have one for 25 or more.
  static let bytesPerElement = 16

  /// The outermost element of a document, which has to have this name. Throws `unexpectedReply` for anything else, and
  /// for one that declares a document type: no answer of these protocols needs one, and entities that grow without end
  /// come from there.
  package static func read(
    _ name: String, from bytes: [UInt8], path: BlobPath
  ) throws(BlobStoreError) -> XMLElement {
    let reading = XMLReading(elementLimit: 1024 + bytes.count / bytesPerElement)
    // A NUL is in all markup of UTF-16, which expat would read by itself.
    guard !bytes.contains(0), let element = reading.run(bytes), element.name == name else {
      throw .unexpectedReply(
        path: path.string, status: 0,
        text: reading.hasDocumentType
          ? "XML with a document type in it" : "not the XML that belongs here")
    }
    return element
  }
}

/// One document on its way through expat, which loads nothing from elsewhere by itself.
private final class XMLReading {
  private var elementsLeft: Int
  /// What is not closed yet, the outermost first.
  private var open: [XMLElement] = []
  private var root: XMLElement?
  private var isRefused = false
  private(set) var hasDocumentType = false

  init(elementLimit: Int) {
    elementsLeft = elementLimit
  }

  /// Nil when it is not well-formed, or refused here.
  func run(_ bytes: [UInt8]) -> XMLElement? {
    // Of names in a namespace, what stands behind the last space is the name without it. The encoding counts whatever
    // the document says of itself.
    guard let parser = XML_ParserCreateNS("UTF-8", XML_Char(UInt8(ascii: " "))) else { return nil }
    defer { XML_ParserFree(parser) }
    // `self` outlives the parser: nothing here is kept.
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
      let reading = XMLReading.at(data)
      reading.hasDocumentType = true
      reading.isRefused = true
    }
    XML_SetElementHandler(
      parser, { data, name, _ in XMLReading.at(data).begin(name) },
      { data, _ in XMLReading.at(data).end() })
    XML_SetCharacterDataHandler(parser) { data, text, count in
      XMLReading.at(data).add(text, count)
    }
    // In pieces, so that no more of a refused document is looked at.
    var rest = bytes[...]
    repeat {
      let piece = rest.prefix(1 << 16)
      rest = rest.dropFirst(piece.count)
      let status = piece.withUnsafeBytes {
        XML_Parse(
          parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count),
          rest.isEmpty ? 1 : 0)
      }
      guard status == XML_STATUS_OK, !isRefused else { return nil }
    } while !rest.isEmpty
    return root
  }

  private static func at(_ data: UnsafeMutableRawPointer?) -> XMLReading {
    guard let data else { preconditionFailure("expat forgot whom it reads for") }
    return Unmanaged<XMLReading>.fromOpaque(data).takeUnretainedValue()
  }

  private func begin(_ name: UnsafePointer<XML_Char>?) {
    elementsLeft -= 1
    if elementsLeft < 0 || open.count == XMLReply.depthLimit { isRefused = true }
    guard !isRefused, let name else { return }
    let text = String(cString: name)
    let local = text.utf8.lastIndex(of: UInt8(ascii: " ")).map { text[text.index(after: $0)...] }
    open.append(XMLElement(name: local.map(String.init) ?? text))
  }

  private func end() {
    guard !isRefused, let element = open.popLast() else { return }
    if open.isEmpty {
      root = element
    } else {
      open[open.count - 1].add(element)
    }
  }

  private func add(_ text: UnsafePointer<XML_Char>?, _ count: Int32) {
    guard !isRefused, !open.isEmpty else { return }
    let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
    open[open.count - 1].add(String(decoding: bytes, as: UTF8.self))
  }
}
