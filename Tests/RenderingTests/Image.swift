import TestSupport
import Testing

@testable import Rendering

/// Images of every kind, made and looked at by ImageMagick.
enum Image {
  /// As ImageMagick calls them.
  static let formats = ["jpg", "png", "webp", "gif", "tiff", "heic"]

  /// What `convert` makes of these words.
  static func made(_ words: String..., as format: String) throws -> [UInt8] {
    try convert(words + ["\(format):-"])
  }

  /// 640 x 400 from red to blue, with a white corner at the top left.
  static func sample(as format: String, _ more: String...) throws -> [UInt8] {
    let drawing = ["-fill", "white", "-draw", "rectangle 0,0 100,100"]
    return try convert(
      ["-size", "640x400", "gradient:red-blue"] + drawing + more + ["\(format):-"])
  }

  /// Four quarters of other colours: red and green, below them blue and white.
  static func quarters(_ width: Int, _ height: Int, as format: String, _ more: [String]) throws
    -> [UInt8]
  {
    let (right, bottom) = (width / 2, height / 2)
    func rectangle(_ colour: String, _ x: Int, _ y: Int) -> [String] {
      ["-fill", colour, "-draw", "rectangle \(x),\(y) \(x + right - 1),\(y + bottom - 1)"]
    }
    return try convert(
      ["-size", "\(width)x\(height)", "xc:white"] + rectangle("red", 0, 0)
        + rectangle("lime", right, 0) + rectangle("blue", 0, bottom) + more + ["\(format):-"])
  }

  static func convert(_ words: [String], _ input: [UInt8] = []) throws -> [UInt8] {
    let result = try CommandRunner.run("convert", words, input: input)
    try #require(result.status == 0, "convert \(words): \(result.errors)")
    try #require(!result.standardOutput.isEmpty)
    return result.standardOutput
  }

  /// A JPEG with another segment behind its beginning.
  static func jpeg(_ bytes: [UInt8], with marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count + 2
    return bytes[..<2] + [0xFF, marker, UInt8(count >> 8), UInt8(count & 0xFF)] + content
      + bytes[2...]
  }

  /// EXIF of a camera that says how it was held, and where.
  static func exif(orientation: UInt8, _ place: String = "") -> [UInt8] {
    Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0] + [
      0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0,
    ]
      + [0, 0, 0, 0] + Array(place.utf8)
  }

  /// A profile (ICC, version 2) in which red and blue have changed places.
  static var swappingProfile: [UInt8] {
    func number(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    func place(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
      Array("XYZ \0\0\0\0".utf8) + [x, y, z].flatMap { number(Int(($0 * 65536).rounded())) }
    }
    let red = place(0.1431, 0.0606, 0.7141)
    let blue = place(0.4361, 0.2225, 0.0139)
    let curve = Array("curv\0\0\0\0".utf8) + number(1) + [2, 0x33, 0, 0]
    let tags: [(String, [UInt8])] = [
      ("wtpt", place(0.9642, 1, 0.8249)), ("rXYZ", red), ("gXYZ", place(0.3851, 0.7169, 0.0971)),
      ("bXYZ", blue), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
    ]
    var table = number(tags.count)
    var content: [UInt8] = []
    let start = 128 + 4 + 12 * tags.count
    for (name, value) in tags {
      table += Array(name.utf8) + number(start + content.count) + number(value.count)
      content += value
    }
    var header = number(start + content.count) + number(0) + number(0x0210_0000)
    header += Array("mntrRGB XYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
    header += [UInt8](repeating: 0, count: 68 - header.count)
    header += number(0xF6D6) + number(0x10000) + number(0xD32D)
    header += [UInt8](repeating: 0, count: 128 - header.count)
    return header + table + content
  }

  /// A PNG that says that it is of another size.
  static func png(_ bytes: [UInt8], declaring width: UInt32, _ height: UInt32) -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    var bytes = bytes
    bytes.replaceSubrange(16..<24, with: number(width) + number(height))
    var check = UInt32.max
    for byte in bytes[12..<29] {
      check ^= UInt32(byte)
      for _ in 0..<8 { check = check >> 1 ^ (check & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    bytes.replaceSubrange(29..<33, with: number(~check))
    return bytes
  }
}

/// A picture that was answered, as its pixels.
struct Pixels: CustomStringConvertible {
  let width: Int
  let height: Int
  private let values: [UInt8]

  init(_ answer: Renderer.Answer) throws {
    guard case .bytes(let bytes) = answer else {
      Issue.record("there is no picture: \(answer)")
      throw CancellationError()
    }
    let header = try #require(WebPHeader(bytes))
    (width, height) = (header.width, header.height)
    values = try Image.convert(["webp:-", "-depth", "8", "rgba:-"], bytes)
    try #require(values.count == width * height * 4)
  }

  /// Red, green, blue and opacity.
  subscript(x: Int, y: Int) -> [UInt8] {
    Array(values[4 * (y * width + x)..<4 * (y * width + x) + 4])
  }

  /// Whether a pixel is nearly of this colour.
  func has(_ colour: [Int], at x: Int, _ y: Int, within limit: Int = 24) -> Bool {
    zip(self[x, y], colour).allSatisfy { abs(Int($0) - $1) <= limit }
  }

  /// Red, green and blue of one of 4 x 4 parts.
  func average(row: Int, column: Int) -> [Double] {
    var sums = [0, 0, 0]
    let rows = row * height / 4..<(row + 1) * height / 4
    let columns = column * width / 4..<(column + 1) * width / 4
    for y in rows {
      for x in columns {
        for value in 0..<3 { sums[value] += Int(values[4 * (y * width + x) + value]) }
      }
    }
    return sums.map { Double($0) / Double(rows.count * columns.count) }
  }

  /// How many pixels are nearly black.
  var blackCount: Int {
    stride(from: 0, to: values.count, by: 4).count { values[$0..<$0 + 3].allSatisfy { $0 < 80 } }
  }

  var description: String { "\(width)x\(height), in the middle \(self[width / 2, height / 2])" }
}
