import Foundation
import Glibc
import Rendering
import SystemPackage
import TestSupport
import Testing

/// Files in the shapes by which programs that open such files were taken over or stopped (`hostile-shapes.py`), and real ones that
/// were damaged: they end nothing but the program that opens them, and in its time.
@Suite struct HostileShapesTests {
  /// With as much time as it has for people: a busy machine makes no shape another one.
  private let renderer: Renderer

  init() throws { renderer = try Renderer.built() }

  /// What came of one thing that was asked. It must be there, and in time.
  private func ask(
    _ name: String, in limit: Duration = Renderer.timeLimit, _ question: () -> Renderer.Answer
  ) -> Renderer.Answer {
    let began = SuspendingClock.now
    let answer = question()
    #expect(answer != .unavailable, "\(name)")
    // On a machine that does other things, too.
    #expect(SuspendingClock.now - began < limit + .seconds(60), "\(name)")
    return answer
  }

  /// The shapes of a family, by their names.
  private func shapes(_ family: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = try TemporaryFolder()
    let script = DICOMFiles.root.appending(path: "Tests/RenderingTests/hostile-shapes.py")
    let made = try CommandRunner.run("python3", [script.path, folder.path.string, family])
    try #require(made.status == 0, "\(made.errors)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path.string).sorted().map {
      ($0, [UInt8](try Data(contentsOf: URL(filePath: folder.appending($0).string))))
    }
  }

  // MARK: Shapes

  /// Nothing ends these but their time: they would take most of the test's.
  private static let endless: Set = [
    "pdf-content-of-gibibytes", "pdf-jbig2-generic-huge", "pdf-tiles-of-small-steps",
  ]

  /// These take seconds, most as they are as large as an image may be, and are asked for one picture.
  private static let large: Set = [
    "dicom-as-many-pixels-as-may-be", "dicom-many-colours", "pdf-mask-of-itself",
    "webp-lossless-as-large-as-may-be",
  ]

  /// How many of a family's shapes are shown all the same, and of how many there is nothing, at least: libraries change, and a
  /// shape that no decoder reaches proves nothing.
  @Test(
    arguments: [
      ("png", 15, 10), ("jpeg", 15, 15), ("webp", 8, 15), ("gif", 9, 10), ("tiff", 30, 25),
      ("heif", 9, 30), ("pdf", 150, 10), ("dicom", 50, 40),
    ])
  func shapesEndNothingButTheProgram(_ family: String, _ shown: Int, _ refused: Int) throws {
    let window = try #require(GreyWindow(centre: 40, width: 400))
    var pictures: Set<String> = []
    var others: Set<String> = []
    let shapes = try shapes(family)
    for (name, bytes) in shapes where !Self.endless.contains(name) {
      let thumbnail = ask(name) { renderer.thumbnail(of: bytes, side: 64) }
      if thumbnail == .nothing { others.insert(name) } else { pictures.insert(name) }
      if Self.large.contains(name) { continue }
      _ = ask(name) { renderer.pageCount(of: bytes) }
      let isDICOM = ForeignFormat(of: bytes) == .dicom
      if isDICOM {
        _ = ask(name) { renderer.page(1, of: bytes, side: 512, window: window) }
      } else if thumbnail != .nothing {
        _ = ask(name) { renderer.page(1, of: bytes, side: 512) }
      }
      if family == "tiff" { _ = ask(name) { renderer.page(60_000, of: bytes, side: 16) } }
      if isDICOM { _ = ask(name) { renderer.header(ofDICOM: bytes) } }
      if family == "pdf" { _ = ask(name) { renderer.text(ofPDF: bytes) } }
    }
    #expect(pictures.count >= shown && others.count >= refused, "\(pictures.count) \(others.count)")
    let own = { (names: Set<String>) in names.filter { $0.hasPrefix("\(family)-") } }
    #expect(own(Self.harmless).subtracting(pictures) == [])
    #expect(own(Self.broken).subtracting(others) == [])
    try expectEnds(shapes)
    try expectGoodFilesOpen()
  }

  /// A program that has little time for what would take all of it, or all of its stack.
  private func expectEnds(_ shapes: [(name: String, bytes: [UInt8])]) throws {
    let limit = Duration.seconds(8)
    let brief = try Renderer.built(timeLimit: limit)
    for (name, bytes) in shapes where Self.endless.contains(name) {
      let answer = ask(name, in: limit) { brief.thumbnail(of: bytes, side: 256) }
      #expect(answer == .nothing, "\(name)")
    }
    for (name, bytes) in shapes where name == "dicom-sequences-10000-deep" {
      let program = try Built.path(.dicom)
      let result = try CommandRunner.run(program, ["thumbnail", "64"], input: bytes)
      #expect(result.end == .signalled(SIGSEGV), "\(name)")
    }
  }

  private func expectGoodFilesOpen() throws {
    for format in ["png", "heic"] {
      let small = try Pixels(renderer.thumbnail(of: Image.sample(as: format), side: 64))
      #expect(small.width == 64 && small.height == 40)
    }
    #expect(renderer.text(ofPDF: PDF.of(["Word"])) == .bytes(Array("Word\u{C}".utf8)))
    let grey = DICOM.file(DICOM.Pixels(bits: 8), [UInt8](repeating: 7, count: 4096))
    #expect(try Pixels(renderer.thumbnail(of: grey, side: 64)).width == 64)
  }

  /// What is whole, or has something beside its picture that does not matter.
  private static let harmless: Set = [
    "png-whole", "png-exif-loop", "png-exif-beyond", "png-exif-of-65535-entries",
    "png-interlaced-pixel", "png-text-of-a-gibibyte", "png-profile-of-another-space",
    "png-profile-of-tags-beyond", "png-texts-of-many", "jpeg-whole", "jpeg-colours", "jpeg-cmyk",
    "jpeg-exif-loop", "jpeg-exif-turned-65535", "jpeg-exif-empty", "jpeg-profile-of-255-parts",
    "jpeg-profile-without-a-part", "jpeg-huge-and-empty", "jpeg-comments-of-many", "webp-whole",
    "webp-exif-loop", "webp-exif-of-a-byte", "webp-profile-beyond", "webp-frames-of-many",
    "webp-lossless-transforms", "gif-whole", "gif-interlaced-rows", "gif-interlaced-one-row",
    "gif-frame-outside",
    "gif-transparent-beyond-palette", "gif-index-beyond-palette", "gif-screen-of-65535",
    "gif-extensions-of-many", "tiff-whole", "tiff-whole-from-above", "tiff-palette", "tiff-jpeg",
    "tiff-directories-in-a-loop", "tiff-turned-65535", "tiff-profile-of-tags-beyond",
    "tiff-logluv-bomb", "tiff-deflate-bomb", "heif-whole", "heif-grid", "heif-overlay",
    "heif-cropped", "heif-profile-beyond", "heif-turned-100-times", "pdf-whole", "pdf-cff",
    "pdf-truetype", "pdf-type1", "pdf-jpx", "pdf-jbig2-symbols", "pdf-jbig2-generic",
    "pdf-shading", "pdf-function", "pdf-outline-in-a-loop", "pdf-note-of-itself",
    "pdf-cff-subroutine-of-itself", "pdf-type1-subroutine-of-itself", "pdf-type3-of-itself",
    "pdf-begins-late", "dicom-whole", "dicom-palette", "dicom-palette-shorter-than-said",
    "dicom-palette-of-steps", "dicom-palette-of-steps-again-and-again", "dicom-j2k",
    "dicom-jpeg", "dicom-jpeg-ls", "dicom-j2k-larger", "dicom-jpeg-smaller",
    "dicom-jpeg-lossless", "dicom-pixels-of-16-bits-cut", "dicom-reals-of-extremes",
    "dicom-reals-that-are-none", "dicom-tables-of-extremes", "dicom-tables-shorter-than-said",
    "dicom-sigmoid-of-extremes", "dicom-runs", "dicom-runs-of-three", "dicom-runs-beyond",
    "dicom-high-beyond", "dicom-fragments-beyond", "dicom-deflated",
    "dicom-sequences-300-deep", "dicom-halved-colours-cut",
  ]

  /// Of which there can be no picture, by the limits here or by what their format says.
  private static let broken: Set = [
    "png-no-data", "png-without-palette", "png-three-bits", "png-critical-chunk-of-no-kind",
    "png-data-before-header", "jpeg-of-no-width", "jpeg-without-tables", "jpeg-255-components",
    "jpeg-no-components", "jpeg-only-marks", "webp-lossless-overfull-codes-0",
    "webp-lossless-overfull-codes-1", "webp-lossless-no-codes", "webp-lossless-too-large",
    "webp-film-without-frames", "webp-lossy-of-no-size", "gif-codes-of-13-bits",
    "gif-codes-of-255-bits", "gif-frame-of-65535", "gif-frame-of-no-size", "gif-no-palette",
    "gif-no-frame", "tiff-4-giga-wide", "tiff-no-size", "tiff-no-samples", "tiff-0-bits",
    "tiff-directory-beyond", "tiff-billion-strips", "tiff-tile-of-none",
    "heif-4-giga-wide", "heif-no-size", "heif-grid-of-itself", "heif-grids-of-each-other",
    "heif-grid-of-what-is-not-there", "heif-data-beyond", "heif-nal-of-4-giga",
    "heif-no-primary-item", "heif-brand-alone", "pdf-page-tiny",
    "pdf-references-in-a-loop", "pdf-pages-below-0", "pdf-object-stream-within-itself",
    "pdf-function-deep", "dicom-palette-missing", "dicom-palette-empty",
    "dicom-palette-of-steps-beyond", "dicom-j2k-of-65535", "dicom-j2k-4-giga-wide",
    "dicom-j2k-under-another-name", "dicom-jpeg-of-no-size", "dicom-0-bits", "dicom-7-bits",
    "dicom-65535-bits", "dicom-samples-0", "dicom-no-rows", "dicom-pixels-missing",
    "dicom-pixels-empty", "dicom-fragments-none", "dicom-runs-cut", "dicom-runs-of-4-giga",
    "dicom-deflate-bomb", "dicom-mark-alone", "dicom-sequences-10000-deep",
  ]

  // MARK: Real files

  private static let scans = [
    "baiona_color.jpg", "baiona_cmyk.jpg", "crom.png", "formxobject.pdf", "graph.pdf", "link.pdf",
    "toc.pdf", "truetype_font_nomapping.pdf", "vector.pdf",
  ]

  private static let discs = [
    "CT_small.dcm", "MR_small_RLE.dcm", "MR_small_bigendian.dcm", "MR_small_jp2klossless.dcm",
    "MR_small_jpeg_ls_lossless.dcm", "JPEG-lossy.dcm", "SC_rgb_jpeg_dcmtk.dcm", "image_dfl.dcm",
    "test-SR.dcm",
  ]

  /// A photograph in other formats than it came in, small.
  private static let formats = ["webp", "gif", "tiff", "heic"]

  private func real(_ name: String) throws -> [UInt8] {
    let scans = DICOMFiles.root.appending(path: ".build-python/scans")
    if Self.formats.contains(name) {
      let photograph = try Data(contentsOf: scans.appending(path: "baiona_color.jpg"))
      return try Image.convert(["jpg:-", "-resize", "200x", "\(name):-"], [UInt8](photograph))
    }
    let samples = DICOMFiles.root.appending(path: "Fixtures/samples")
    let place =
      Self.scans.contains(name)
      ? scans.appending(path: name)
      : Self.discs.contains(name)
        ? try DICOMFiles.folder.appending(path: "test_files/\(name)")
        : samples.appending(path: name)
    return [UInt8](try Data(contentsOf: place))
  }

  /// `KINVAULT_HOSTILE_SEEDS`, as 5000+2000, has each file damaged in 2,000 ways from seed 5000 on.
  @Test(arguments: scans + discs + formats + ["leaflet.pdf", "vaccine card.png"])
  func realFilesThatAreDamagedEndNothingButTheProgram(_ name: String) throws {
    let whole = try real(name)
    // Some would take all of their time.
    let limit = Duration.seconds(8)
    let renderer = try Renderer.built(timeLimit: limit)
    let format = ForeignFormat(of: whole)
    let hasPicture = renderer.thumbnail(of: whole, side: 64) != .nothing
    // One is a report.
    #expect(hasPicture == (name != "test-SR.dcm"))
    let seeds = Seeds.first(100, unless: "KINVAULT_HOSTILE_SEEDS")
    var shown = 0
    Seeds.forEach(seeds) { random in
      let seed = random.seed
      let bytes = whole.mutated(&random).withRightSums()
      let text = "\(name), seed \(seed)"
      let answer = ask(text, in: limit) { renderer.thumbnail(of: bytes, side: 64) }
      if answer != .nothing { shown += 1 }
      guard seed % 8 == 0 else { return }
      // By what the file was, whatever it looks like now.
      switch format {
      case .pdf: _ = ask(text, in: limit) { renderer.text(ofPDF: bytes) }
      case .dicom: _ = ask(text, in: limit) { renderer.header(ofDICOM: bytes) }
      case .images, .heif: _ = ask(text, in: limit) { renderer.pageCount(of: bytes) }
      }
    }
    // Some of it is shown all the same, or there was nothing to go wrong over; a PNG is shown whole or not at all.
    if hasPicture && !name.hasSuffix(".png") && seeds.count >= 100 {
      #expect((1..<seeds.count).contains(shown), "\(name): \(shown)")
    }
    #expect((renderer.thumbnail(of: whole, side: 64) != .nothing) == hasPicture)
  }
}

extension [UInt8] {
  /// With something changed, cut, doubled or exchanged, or a length that is another one.
  fileprivate func mutated(_ random: inout SplitMix64) -> [UInt8] {
    var bytes = self
    for _ in 0...Int.random(in: 0..<4, using: &random) {
      // Sizes and kinds stand at the beginning, as a rule.
      let isAtBeginning = Bool.random(using: &random)
      let place = Int.random(
        in: 0..<(isAtBeginning ? Swift.min(bytes.count, 1024) : bytes.count), using: &random)
      let length = Swift.min(Int.random(in: 1..<400, using: &random), bytes.count - place)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes.removeSubrange(place..<place + length)
      case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
      case 4: bytes.removeLast(Int.random(in: 0..<Swift.max(1, bytes.count / 4), using: &random))
      case 5: bytes.overwrite(at: place, with: Self.lengths.randomElement(using: &random) ?? [])
      case 6:
        // Two numbers of four bytes change their places.
        guard place + 8 <= bytes.count else { break }
        bytes.overwrite(
          at: place, with: Array(bytes[place + 4..<place + 8] + bytes[place..<place + 4]))
      default:
        // A part stands where another one was.
        let other = Int.random(in: 0..<bytes.count, using: &random)
        bytes.overwrite(at: other, with: Array(bytes[place..<place + length]))
      }
      if bytes.isEmpty { bytes = [0] }
    }
    return bytes
  }

  /// Numbers that few have thought of, in both orders, and in digits.
  private static let lengths: [[UInt8]] =
    [
      [0, 0], [0xFF, 0xFF], [0x7F, 0xFF], [0x80, 0], [0, 0, 0, 0], [1, 0, 0, 0],
      [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F],
      [0x80, 0, 0, 0], [0, 0, 0, 0x80], [0, 0, 1, 0], [0xFF, 0xFF, 0xFF, 0xFE],
    ] + ["-1", "0", "2147483647", "-2147483648", "4294967295", "1e30"].map { Array($0.utf8) }

  /// Of a PNG each chunk has the sum of what stands in it now, or its decoder would look at nothing else.
  fileprivate func withRightSums() -> [UInt8] {
    guard starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return self }
    var bytes = self
    var place = 8
    while place + 12 <= bytes.count {
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let end = place + 8 + length
      guard end + 4 <= bytes.count else { break }
      let sum = ~bytes[place + 4..<end].reduce(UInt32.max) { sum, byte in
        sum >> 8 ^ Self.sums[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
      }
      bytes.overwrite(at: end, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) })
      place = end + 4
    }
    return bytes
  }

  private static let sums = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
  }

  /// As far as it is long.
  private mutating func overwrite(at place: Int, with others: [UInt8]) {
    for (index, byte) in others.enumerated() where place + index < count {
      self[place + index] = byte
    }
  }
}
