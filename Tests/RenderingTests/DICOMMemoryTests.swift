import Glibc
import Rendering
import TestSupport
import Testing

/// Files that say of themselves that they are large, and are short: no memory is taken for what is not there.
@Suite struct DICOMMemoryTests {
  /// 14,000 pixels, as JPEG and JPEG 2000 write them.
  private static let (short, long): ([UInt8], [UInt8]) = ([0x36, 0xB0], [0, 0, 0x36, 0xB0])

  /// An image that has other bytes, so far behind a mark.
  private func changed(
    _ image: [UInt8], _ mark: [UInt8], _ distance: Int, _ bytes: [UInt8]
  ) throws -> [UInt8] {
    let place = try #require(
      (0..<image.count - 40).first { image[$0] == mark[0] && image[$0 + 1] == mark[1] })
    var image = image
    let start = place + distance
    image.replaceSubrange(start..<start + bytes.count, with: bytes)
    return image
  }

  private func compressed(_ syntax: String, _ image: [UInt8]) -> [UInt8] {
    DICOM.file(DICOM.Pixels(bits: 8), syntax, fragments: [image])
  }

  private func grey(_ words: String..., as format: String) throws -> [UInt8] {
    try Image.convert(
      ["-size", "64x64", "xc:gray50", "-colorspace", "gray"] + words + ["\(format):-"])
  }

  private func largeOnesThatAreShort() throws -> [String: [UInt8]] {
    let runs: [UInt8] = DICOM.bytes(1, 4) + DICOM.bytes(64, 4) + Array(repeating: 0x81, count: 200)
    let size = Self.short + Self.short
    let jpeg = try changed(grey(as: "jpg"), [0xFF, 0xC0], 5, size)
    let progressive = try changed(grey("-interlace", "JPEG", as: "jpg"), [0xFF, 0xC2], 5, size)
    let tiles = try changed(grey(as: "j2k"), [0xFF, 0x51], 6, Self.long + Self.long)
    let whole = try changed(tiles, [0xFF, 0x51], 22, Self.long + Self.long)
    var value = DICOM.beginning(DICOM.plain) + [9, 0, 0x10, 0x10] + Array("OB".utf8) + [0, 0]
    value += DICOM.bytes(700 << 20, 4) + DICOM.bytes(of: DICOM.elements(DICOM.Pixels()))
    return [
      "run lengths": DICOM.file(
        DICOM.Pixels(width: 14_000, height: 14_000, bits: 8), DICOM.runLength, fragments: [runs]),
      "JPEG": compressed(DICOM.jpeg, jpeg), "progressive": compressed(DICOM.jpeg, progressive),
      "JPEG 2000": compressed(DICOM.jpeg2000, whole),
      "JPEG 2000 in tiles": compressed(DICOM.jpeg2000, tiles),
      "a value of 700 MiB": value,
    ]
  }

  @Test func whatIsNotThereTakesNoMemory() throws {
    let script = """
      import resource, subprocess, sys
      status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
      print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """
    let program = try Built.path(.dicom)
    for (name, bytes) in try largeOnesThatAreShort() {
      for words in [["thumbnail", "64"], ["page", "1", "256"], ["meta"]] {
        let result = try CommandRunner.run(
          "python3", ["-c", script, program] + words, input: bytes)
        let numbers = result.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2, "\(result.errors)")
        // A header is told without its window.
        if words != ["meta"] { #expect(numbers[0] == Int(EX_DATAERR), "\(name), \(words)") }
        // In KiB: with its libraries it has some 15 MiB.
        #expect(numbers[1] < 64 << 10, "\(name), \(words): \(numbers[1])")
      }
    }
  }

  @Test func aFileThatIsCutIsShownAsFarAsItGoes() throws {
    let bytes = DICOM.file(
      DICOM.Pixels(bits: 8), DICOM.quarters([50, 200, 100, 100]),
      DICOM.Element(0x28, 0x1050, "DS", "128"), DICOM.Element(0x28, 0x1051, "DS", "256"))
    let renderer = try Renderer.built()
    let found = try Pixels(renderer.page(1, of: Array(bytes.dropLast(2048)), side: 64))
    #expect(found.has([50, 50, 50, 255], at: 16, 16, within: 3))
    #expect(found.has([200, 200, 200, 255], at: 48, 16, within: 3))
    #expect(found.has([0, 0, 0, 255], at: 16, 48, within: 3))
  }

  /// GDCM 1 wrote values of unknown kind with lengths of two bytes: read as four, these are of what stands in the value.
  @Test func valuesWhoseLengthsAreWrittenShortAreRead() throws {
    let renderer = try Renderer.built()
    for text in ["12345678", "abcdefgh"] {
      let value: [UInt8] = [9, 0, 1, 0x10] + Array("UN".utf8) + [8, 0] + Array(text.utf8)
      let elements = DICOM.elements(DICOM.Pixels(bits: 8))
      var bytes = DICOM.beginning(DICOM.plain)
      bytes += DICOM.bytes(of: elements.filter { $0.group < 9 }) + value
      bytes += DICOM.bytes(of: elements.filter { $0.group > 9 })
      bytes += DICOM.Element(0x7FE0, 0x10, "OW", [UInt8](repeating: 7, count: 4096)).bytes
      #expect(try Pixels(renderer.page(1, of: bytes, side: 64)).width == 64, "\(text)")
    }
  }
}
