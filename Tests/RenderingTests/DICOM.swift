/// DICOM files by hand: explicit elements in little-endian order, if nothing else is said.
enum DICOM {
  static let plain = "1.2.840.10008.1.2.1"
  static let deflated = "1.2.840.10008.1.2.1.99"
  static let jpeg = "1.2.840.10008.1.2.4.50"
  static let jpeg2000 = "1.2.840.10008.1.2.4.91"
  static let runLength = "1.2.840.10008.1.2.5"

  struct Element {
    let group: UInt16
    let number: UInt16
    let kind: String
    let value: [UInt8]

    init(_ group: UInt16, _ number: UInt16, _ kind: String, _ value: [UInt8]) {
      (self.group, self.number, self.kind, self.value) = (group, number, kind, value)
    }

    init(_ group: UInt16, _ number: UInt16, _ kind: String, _ text: String) {
      self.init(group, number, kind, Array(text.utf8))
    }

    /// Binary numbers of two bytes.
    init(_ group: UInt16, _ number: UInt16, _ words: Int...) {
      self.init(group, number, "US", words.flatMap { DICOM.bytes($0, 2) })
    }

    /// A sequence.
    init(_ group: UInt16, _ number: UInt16, items: [[Element]]) {
      let value = items.flatMap { item -> [UInt8] in
        let content = DICOM.bytes(of: item)
        return [0xFE, 0xFF, 0x00, 0xE0] + DICOM.bytes(content.count, 4) + content
      }
      self.init(group, number, "SQ", value)
    }

    var bytes: [UInt8] {
      let isText = !["OB", "OW", "SQ", "UN", "UI"].contains(kind)
      let value = value + (value.count % 2 == 0 ? [] : [isText ? 0x20 : 0])
      let isLong = ["OB", "OW", "SQ", "UN"].contains(kind)
      return DICOM.bytes(Int(group), 2) + DICOM.bytes(Int(number), 2) + Array(kind.utf8)
        + (isLong ? [0, 0] + DICOM.bytes(value.count, 4) : DICOM.bytes(value.count, 2)) + value
    }
  }

  static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  static func bytes(of elements: [Element]) -> [UInt8] {
    elements.sorted { ($0.group, $0.number) < ($1.group, $1.number) }.flatMap(\.bytes)
  }

  /// What stands before the elements, with the mark at byte 128.
  static func beginning(_ syntax: String) -> [UInt8] {
    let meta = bytes(of: [
      Element(2, 1, "OB", [0, 1]), Element(2, 2, "UI", "1.2.840.10008.5.1.4.1.1.7"),
      Element(2, 3, "UI", "1.2.3"), Element(2, 0x10, "UI", syntax),
    ])
    return [UInt8](repeating: 0, count: 128) + Array("DICM".utf8)
      + Element(2, 0, "UL", bytes(meta.count, 4)).bytes + meta
  }

  /// How the pixels of a file are.
  struct Pixels {
    var width = 64
    var height = 64
    var samples = 1
    var bits = 16
    var isSigned = false
    var colours = "MONOCHROME2"
  }

  static func elements(_ pixels: Pixels) -> [Element] {
    [
      Element(8, 0x16, "UI", "1.2.840.10008.5.1.4.1.1.7"), Element(0x28, 2, pixels.samples),
      Element(0x28, 4, "CS", pixels.colours), Element(0x28, 0x10, pixels.height),
      Element(0x28, 0x11, pixels.width), Element(0x28, 0x100, pixels.bits),
      Element(0x28, 0x101, pixels.bits), Element(0x28, 0x102, pixels.bits - 1),
      Element(0x28, 0x103, pixels.isSigned ? 1 : 0),
    ]
  }

  /// A file whose pixels are not compressed.
  static func file(_ pixels: Pixels, _ data: [UInt8], _ more: Element...) -> [UInt8] {
    beginning(plain)
      + bytes(of: elements(pixels) + more + [Element(0x7FE0, 0x10, "OW", data)])
  }

  /// A file whose pixels are compressed, in these fragments, the first of which is the table of where frames begin.
  static func file(
    _ pixels: Pixels, _ syntax: String, fragments: [[UInt8]], table: [Int] = [], _ more: Element...
  ) -> [UInt8] {
    func item(_ content: [UInt8]) -> [UInt8] {
      let content = content + (content.count % 2 == 0 ? [] : [0])
      return [0xFE, 0xFF, 0x00, 0xE0] + bytes(content.count, 4) + content
    }
    let begins: [UInt8] = [0xE0, 0x7F, 0x10, 0x00] + Array("OB".utf8) + [0, 0, 255, 255, 255, 255]
    return beginning(syntax) + bytes(of: elements(pixels) + more) + begins
      + item(table.flatMap { bytes($0, 4) }) + fragments.flatMap(item)
      + [0xFE, 0xFF, 0xDD, 0xE0, 0, 0, 0, 0]
  }

  /// Four quarters of the values: above left and right, below left and right.
  static func quarters<Value>(_ values: [Value], width: Int = 64, height: Int = 64) -> [Value] {
    (0..<width * height).map { place in
      values[(place / width < height / 2 ? 0 : 2) + (place % width < width / 2 ? 0 : 1)]
    }
  }

  static func words(_ values: [Int]) -> [UInt8] { values.flatMap { bytes($0, 2) } }

  /// A frame in run lengths (PS3.5, annex G) of bytes that stand for themselves and of such that are repeated.
  static func runLengths(_ planes: [[UInt8]]) -> [UInt8] {
    var segments: [[UInt8]] = []
    for plane in planes {
      var segment: [UInt8] = []
      var place = 0
      while place < plane.count {
        let run = min(128, plane[place...].prefix { $0 == plane[place] }.count)
        segment += run > 1 ? [UInt8(257 - run), plane[place]] : [0, plane[place]]
        place += run
      }
      segments.append(segment + (segment.count % 2 == 0 ? [] : [0x80]))
    }
    var header = bytes(segments.count, 4)
    var start = 64
    for segment in segments {
      header += bytes(start, 4)
      start += segment.count
    }
    return header + [UInt8](repeating: 0, count: 64 - header.count) + segments.joined()
  }
}
