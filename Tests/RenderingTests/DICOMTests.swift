import Foundation
import Rendering
import TestSupport
import Testing

/// The pictures that are made of DICOM files, and what is said of them.
@Suite struct DICOMTests {
  private let renderer: Renderer

  init() throws { renderer = try Renderer.built() }

  private func frame(
    _ bytes: [UInt8], _ number: Int = 1, _ window: GreyWindow? = nil, side: Int = 2048
  ) throws -> Pixels {
    try Pixels(renderer.page(number, of: bytes, side: side, window: window))
  }

  private func window(_ centre: Double, _ width: Double) throws -> GreyWindow {
    try #require(GreyWindow(centre: centre, width: width))
  }

  private func header(_ bytes: [UInt8]) throws -> DICOMHeader {
    var answer: [UInt8]?
    if case .bytes(let bytes) = renderer.header(ofDICOM: bytes) { answer = bytes }
    let found = try #require(answer, "there is no header")
    return try #require(DICOMHeader(found))
  }

  private func pageCount(_ bytes: [UInt8]) -> Int? {
    guard case .bytes(let digits) = renderer.pageCount(of: bytes) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  /// The middle of each quarter, as grey.
  private func greys(_ pixels: Pixels) -> [Int] {
    let (left, top) = (pixels.width / 4, pixels.height / 4)
    return [(left, top), (3 * left, top), (left, 3 * top), (3 * left, 3 * top)]
      .map { Int(pixels[$0.0, $0.1][1]) }
  }

  private func expect(
    _ found: [Int], _ expected: [Int], within limit: Int = 3, _ comment: Comment = "",
    at place: SourceLocation = #_sourceLocation
  ) {
    #expect(
      zip(found, expected).allSatisfy { abs($0 - $1) <= limit }, "\(found) \(comment)",
      sourceLocation: place)
  }

  // MARK: Grey values

  private static let rescale = [
    DICOM.Element(0x28, 0x1052, "DS", "-1024"), DICOM.Element(0x28, 0x1053, "DS", "1"),
  ]

  /// Air, water, something soft and bone, in Hounsfield's units.
  private static let tissue = DICOM.words(DICOM.quarters([24, 1024, 1064, 2024]))

  @Test func greyValuesAreShownThroughAWindow() throws {
    let bytes = DICOM.file(
      DICOM.Pixels(), Self.tissue, Self.rescale[0], Self.rescale[1],
      DICOM.Element(0x28, 0x1050, "DS", "40\\-600"), DICOM.Element(0x28, 0x1051, "DS", "400\\1500"))
    expect(greys(try frame(bytes)), [0, 102, 128, 255])
    expect(greys(try frame(bytes, 1, window(0, 4000))), [64, 128, 130, 191])
    expect(greys(try frame(bytes, 1, window(-1000.5, 1))), [255, 255, 255, 255])
    expect(greys(try frame(bytes, 1, window(20, 1))), [0, 0, 255, 255])
    expect(greys(try frame(bytes, 1, window(1e9, 1e-9))), [0, 0, 0, 0])
    let found = try header(bytes)
    #expect(found.pixels?.isGrey == true)
    #expect(try found.pixels?.window == window(40, 400))
  }

  @Test func withoutAWindowTheLowestIsBlackAndTheHighestWhite() throws {
    let bytes = DICOM.file(DICOM.Pixels(), DICOM.words(DICOM.quarters([100, 200, 300, 500])))
    expect(greys(try frame(bytes)), [0, 64, 128, 255])
    #expect(try header(bytes).pixels?.window == window(300, 400))
    // What was never there is no value.
    let padded = DICOM.file(
      DICOM.Pixels(isSigned: true), DICOM.words(DICOM.quarters([-2000, 0, 50, 100])),
      DICOM.Element(0x28, 0x120, "SS", DICOM.bytes(-2000, 2)))
    expect(greys(try frame(padded)), [0, 0, 128, 255])
    let even = DICOM.file(DICOM.Pixels(), DICOM.words(DICOM.quarters([7, 7, 7, 7])))
    expect(greys(try frame(even)), [128, 128, 128, 128])
  }

  @Test func whatIsInvertedIsShownSo() throws {
    let pixels = DICOM.Pixels(bits: 8, colours: "MONOCHROME1")
    let bytes = DICOM.file(pixels, DICOM.quarters([0, 50, 200, 255]))
    expect(greys(try frame(bytes)), [255, 205, 55, 0])
    expect(greys(try frame(bytes, 1, window(50.5, 101))), [255, 128, 0, 0])
  }

  @Test func curvesAndTablesAreGoneBy() throws {
    func curve(_ name: String) throws -> [Int] {
      greys(
        try frame(
          DICOM.file(
            DICOM.Pixels(), DICOM.words(DICOM.quarters([0, 50, 100, 150])),
            DICOM.Element(0x28, 0x1050, "DS", "100"), DICOM.Element(0x28, 0x1051, "DS", "100"),
            DICOM.Element(0x28, 0x1056, "CS", name))))
    }
    expect(try curve("SIGMOID"), [5, 30, 128, 225])
    expect(try curve("LINEAR_EXACT"), [0, 0, 128, 255])
    // Values 10 to 13 become what the tables say, one after the other.
    func table(_ tag: UInt16, _ first: Int, _ entries: [Int], bits: Int) -> DICOM.Element {
      DICOM.Element(
        0x28, tag,
        items: [
          [
            DICOM.Element(0x28, 0x3002, entries.count, first, bits),
            DICOM.Element(0x28, 0x3006, "OW", DICOM.words(entries)),
          ]
        ])
    }
    let values = DICOM.words(DICOM.quarters([9, 11, 12, 99]))
    let shown = DICOM.file(
      DICOM.Pixels(), values, table(0x3010, 10, [0, 1023, 2047, 4095], bits: 12))
    expect(greys(try frame(shown)), [0, 64, 127, 255])
    let both = DICOM.file(
      DICOM.Pixels(), values, table(0x3000, 10, [500, 502, 501, 503], bits: 16),
      table(0x3010, 500, [0, 64, 128, 255], bits: 8))
    expect(greys(try frame(both)), [0, 128, 64, 255])
  }

  @Test func everyFormOfValuesIsRead() throws {
    var bits = DICOM.elements(DICOM.Pixels())
    bits.removeAll { $0.group == 0x28 && [0x100, 0x101, 0x102].contains($0.number) }
    // Twelve bits in the upper part of sixteen, with something else below.
    let upper = DICOM.words(DICOM.quarters([0, 1000, 2000, 4095]).map { $0 << 4 | 0xA })
    let shifted =
      DICOM.beginning(DICOM.plain)
      + DICOM.bytes(
        of: bits + [
          DICOM.Element(0x28, 0x100, 16), DICOM.Element(0x28, 0x101, 12),
          DICOM.Element(0x28, 0x102, 15), DICOM.Element(0x7FE0, 0x10, "OW", upper),
        ])
    expect(greys(try frame(shifted)), [0, 62, 125, 255])
    let wide = DICOM.quarters([-70_000, 0, 70_000, 140_000]).flatMap { DICOM.bytes($0, 4) }
    let long = DICOM.file(DICOM.Pixels(bits: 32, isSigned: true), wide)
    expect(greys(try frame(long)), [0, 85, 170, 255])
    let reals = DICOM.quarters([-0.5, 0, 0.25, .infinity]).flatMap { (value: Float) in
      DICOM.bytes(Int(value.bitPattern), 4)
    }
    let real =
      DICOM.beginning(DICOM.plain)
      + DICOM.bytes(
        of: DICOM.elements(DICOM.Pixels(bits: 32)) + [DICOM.Element(0x7FE0, 8, "OW", reals)])
    expect(greys(try frame(real)), [0, 170, 255, 170])
    // Eight pixels a byte, and the second frame begins within one.
    let row = (0..<2).flatMap { frame in
      (0..<9 * 9).map { $0 / 9 < 4 ? frame == 0 : frame == 1 }
    }
    var packed = [UInt8](repeating: 0, count: (row.count + 7) / 8)
    for (place, isSet) in row.enumerated() where isSet { packed[place / 8] |= 1 << (place % 8) }
    let mask = DICOM.file(
      DICOM.Pixels(width: 9, height: 9, bits: 1), packed, DICOM.Element(0x28, 8, "IS", "2"))
    let (first, second) = (try frame(mask, 1), try frame(mask, 2))
    #expect(first[4, 0][0] > 240 && first[4, 8][0] < 15 && second[4, 0][0] < 15)
    #expect(second[4, 8][0] > 240)
  }

  @Test func pixelsThatAreNotSquareAreShownAsTheyAre() throws {
    let data = DICOM.words(DICOM.quarters([1, 2, 3, 4]))
    let flat = DICOM.file(DICOM.Pixels(), data, DICOM.Element(0x28, 0x34, "IS", "1\\2"))
    let high = DICOM.file(DICOM.Pixels(), data, DICOM.Element(0x28, 0x30, "DS", "2.5\\0.5"))
    #expect(try frame(flat).width == 64 && frame(flat).height == 32)
    #expect(try frame(high).width == 13 && frame(high).height == 64)
    let wrong = DICOM.file(DICOM.Pixels(), data, DICOM.Element(0x28, 0x30, "DS", "0\\1e300"))
    #expect(try frame(wrong).width == 64)
  }

  // MARK: Frames

  @Test func eachFrameIsShown() throws {
    let data = [10, 100, 200].flatMap { DICOM.quarters([0, $0, $0, 255]) }.map { UInt8($0) }
    let bytes = DICOM.file(
      DICOM.Pixels(bits: 8), data, DICOM.Element(0x28, 8, "IS", "3"),
      DICOM.Element(
        0x5200, 0x9229,
        items: [[DICOM.Element(0x28, 0x9132, items: [Self.window("128", "256")])]]),
      DICOM.Element(
        0x5200, 0x9230,
        items: [[], [DICOM.Element(0x28, 0x9132, items: [Self.window("50", "101")])], []]))
    #expect(pageCount(bytes) == 3)
    expect(greys(try frame(bytes, 1)), [0, 10, 10, 255])
    // This one has a window of its own.
    expect(greys(try frame(bytes, 2)), [1, 252, 252, 255], within: 5)
    expect(greys(try frame(bytes, 2, window(128, 256))), [0, 100, 100, 255])
    expect(greys(try frame(bytes, 3)), [0, 200, 200, 255])
    #expect(renderer.page(4, of: bytes, side: 64) == .nothing)
    #expect(try header(bytes).pixels?.frameCount == 3)
    let small = try Pixels(renderer.thumbnail(of: bytes, side: 16))
    #expect(small.width == 16 && small.height == 16)
    // No more than there are.
    let said = DICOM.file(
      DICOM.Pixels(bits: 8), data, DICOM.Element(0x28, 8, "IS", "2147483647"))
    #expect(pageCount(said) == 3)
  }

  private static func window(_ centre: String, _ width: String) -> [DICOM.Element] {
    [DICOM.Element(0x28, 0x1050, "DS", centre), DICOM.Element(0x28, 0x1051, "DS", width)]
  }

  @Test func framesMayStandInSeveralFragments() throws {
    let pictures = try ["gray(20%)", "gray(50%)", "gray(80%)"].map {
      try Image.made("-size", "64x64", "xc:\($0)", "-colorspace", "gray", as: "jpg")
    }
    let pixels = DICOM.Pixels(bits: 8)
    let frames = DICOM.Element(0x28, 8, "IS", "3")
    let full = [DICOM.Element](Self.window("127.5", "256"))
    func expectAll(_ bytes: [UInt8], _ comment: Comment) throws {
      #expect(pageCount(bytes) == 3, comment)
      for (number, grey) in [51, 128, 204].enumerated() {
        expect(
          greys(try frame(bytes, number + 1)), Array(repeating: grey, count: 4), comment)
      }
    }
    try expectAll(
      DICOM.file(pixels, DICOM.jpeg, fragments: pictures, frames, full[0], full[1]), "one each")
    let halves = pictures.flatMap { picture -> [[UInt8]] in
      let middle = picture.count / 4 * 2
      return [Array(picture[..<middle]), Array(picture[middle...])]
    }
    try expectAll(
      DICOM.file(pixels, DICOM.jpeg, fragments: halves, frames, full[0], full[1]), "by their marks")
    var starts: [Int] = []
    var place = 0
    for (number, half) in halves.enumerated() {
      if number % 2 == 0 { starts.append(place) }
      place += 8 + (half.count + 1) / 2 * 2
    }
    try expectAll(
      DICOM.file(
        pixels, DICOM.jpeg, fragments: halves, table: starts, frames, full[0], full[1]),
      "by a table")
  }

  // MARK: Colours

  @Test func coloursAreShown() throws {
    let quarters = DICOM.quarters(
      [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]] as [[UInt8]])
    let colours = DICOM.Pixels(samples: 3, bits: 8, colours: "RGB")
    func expectQuarters(_ bytes: [UInt8], within limit: Int = 12, _ comment: Comment) throws {
      let found = try frame(bytes)
      #expect(found.has([255, 0, 0, 255], at: 16, 16, within: limit), comment)
      #expect(found.has([0, 255, 0, 255], at: 48, 16, within: limit), comment)
      #expect(found.has([0, 0, 255, 255], at: 16, 48, within: limit), comment)
      #expect(found.has([255, 255, 255, 255], at: 48, 48, within: limit), comment)
      #expect(try header(bytes).pixels?.isGrey == false && header(bytes).pixels?.window == nil)
    }
    let plain = DICOM.file(colours, quarters.flatMap { $0 })
    try expectQuarters(plain, "RGB")
    // A window changes no colours.
    #expect(
      try renderer.page(1, of: plain, side: 64, window: window(10, 20))
        == renderer.page(1, of: plain, side: 64))
    let planes = (0..<3).map { sample in quarters.map { $0[sample] } }
    try expectQuarters(
      DICOM.file(colours, Array(planes.joined()), DICOM.Element(0x28, 6, 1)), "planes")
    try expectQuarters(
      DICOM.file(colours, DICOM.runLength, fragments: [DICOM.runLengths(planes)]), "run lengths")
    let wide = DICOM.Pixels(samples: 3, bits: 16, colours: "RGB")
    try expectQuarters(
      DICOM.file(wide, quarters.flatMap { $0 }.flatMap { [$0, $0] }), "sixteen bits")
    let brightness: [[UInt8]] = [[76, 85, 255], [150, 44, 21], [29, 255, 107], [255, 128, 128]]
    var ybr = colours
    ybr.colours = "YBR_FULL"
    try expectQuarters(DICOM.file(ybr, DICOM.quarters(brightness).flatMap { $0 }), "YBR_FULL")
    ybr.colours = "YBR_FULL_422"
    let pairs = DICOM.quarters(brightness).enumerated().flatMap { place, colour in
      place % 2 == 0 ? [colour[0], colour[0], colour[1], colour[2]] : []
    }
    try expectQuarters(DICOM.file(ybr, pairs), "YBR_FULL_422")
    let entries = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]].enumerated().flatMap {
      number, entries in
      [
        DICOM.Element(0x28, UInt16(0x1101 + number), 4, 7, 16),
        DICOM.Element(
          0x28, UInt16(0x1201 + number), "OW", DICOM.words(entries.map { $0 * 257 })),
      ]
    }
    let palette =
      DICOM.beginning(DICOM.plain)
      + DICOM.bytes(
        of: DICOM.elements(DICOM.Pixels(bits: 8, colours: "PALETTE COLOR")) + entries + [
          DICOM.Element(0x7FE0, 0x10, "OB", DICOM.quarters([7, 8, 9, 200]))
        ])
    try expectQuarters(palette, "a palette")
    for (syntax, format) in [(DICOM.jpeg, "jpg"), (DICOM.jpeg2000, "j2k")] {
      let picture = try Image.quarters(64, 64, as: format, ["-depth", "8", "-alpha", "off"])
      var pixels = colours
      pixels.colours = format == "jpg" ? "YBR_FULL_422" : "YBR_RCT"
      try expectQuarters(
        DICOM.file(pixels, syntax, fragments: [picture]), within: 30, "\(format)")
    }
  }

  // MARK: Files that nobody here wrote

  /// pydicom's own test files, against what it and numpy say of them: `dicom-pixels.py`.
  @Test func framesOfManyKindsAreAsAnotherProgramDecodesThem() throws {
    let known = try String(
      contentsOf: DICOMFiles.root.appending(path: "Fixtures/dicom/pixels"), encoding: .utf8
    ).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    try #require(known.count > 100)
    let folder = try DICOMFiles.folder
    for words in known {
      try #require(words.count == 20)
      let name: Comment = "\(words[0]), frame \(words[1])"
      let bytes = [UInt8](try Data(contentsOf: folder.appending(path: words[0])))
      let number = try #require(Int(words[1]))
      let found = try frame(bytes, number)
      #expect([found.width, found.height] == [Int(words[2]), Int(words[3])], name)
      for (place, colour) in words[4...].enumerated() {
        let bits = try #require(UInt32(colour, radix: 16))
        let expected = [16, 8, 0].map { Double(bits >> $0 & 0xFF) }
        let average = found.average(row: place / 4, column: place % 4)
        #expect(
          zip(average, expected).allSatisfy { abs($0 - $1) < 6 }, "\(name), \(place): \(average)")
      }
    }
  }

  @Test func aDiscsFilesAreFoundByWhatStandsInThem() throws {
    let folder = try DICOMFiles.folder.appending(path: "test_files/dicomdirtests")
    let names = try #require(FileManager.default.enumerator(atPath: folder.path))
    var shown = 0
    for case let name as String in names where !name.contains(".") {
      let place = folder.appending(path: name)
      guard (try? place.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true,
        !place.lastPathComponent.hasPrefix("DICOMDIR"), !name.hasSuffix("README")
      else { continue }
      let bytes = [UInt8](try Data(contentsOf: place))
      let found = try header(bytes)
      #expect(!found.modality.isEmpty && !found.seriesUID.isEmpty, "\(name)")
      var isShown = false
      if case .bytes = renderer.thumbnail(of: bytes, side: 256) { isShown = true }
      // Of some the pixels were taken out.
      #expect(isShown == (found.pixels != nil), "\(name)")
      if isShown { shown += 1 }
    }
    #expect(shown > 20)
    let list = [UInt8](try Data(contentsOf: folder.appending(path: "DICOMDIR")))
    #expect(pageCount(list) == nil)
    #expect(renderer.header(ofDICOM: list) == .nothing)
  }

  // MARK: What a file says

  @Test func aFileSaysWhatItIsAndNotWhomItShows() throws {
    let bytes = DICOM.file(
      DICOM.Pixels(), Self.tissue, DICOM.Element(8, 5, "CS", "ISO_IR 144"),
      DICOM.Element(8, 0x20, "DA", "20241102"), DICOM.Element(8, 0x60, "CS", "MR"),
      DICOM.Element(8, 0x103E, "LO", [0xB3, 0xDE, 0xDB, 0xDE, 0xD2, 0xDD, 0xEB, 0xD9, 0x0A, 0x21]),
      DICOM.Element(0x10, 0x10, "PN", "Mustermann^Emma"), DICOM.Element(0x10, 0x20, "LO", "4711"),
      DICOM.Element(0x20, 0x0E, "UI", "1.2.840.99"), DICOM.Element(0x20, 0x11, "IS", "7"),
      DICOM.Element(0x20, 0x13, "IS", " 12 "))
    guard case .bytes(let answer) = renderer.header(ofDICOM: bytes) else {
      Issue.record("there is no header")
      return
    }
    let text = String(decoding: answer, as: UTF8.self)
    #expect(!text.contains("Muster") && !text.contains("Emma") && !text.contains("4711"))
    let found = try header(bytes)
    #expect(found.modality == "MR" && found.studyDate == "20241102")
    #expect(found.seriesDescription == "Головный !")
    #expect(found.seriesUID == "1.2.840.99")
    #expect(found.seriesNumber == 7 && found.instanceNumber == 12)
    #expect(found.pixels?.rows == 64 && found.pixels?.columns == 64)
  }

  @Test(
    arguments: [
      ("ISO_IR 100", [0x53, 0xE4, 0x75], "Säu"), ("", [0x53, 0xE4], "Sä"),
      ("ISO_IR 192", [0x53, 0xC3, 0xA4, 0xE4], "Sä\u{FFFD}"), ("ISO_IR 101", [0xB1, 0xEA], "ąę"),
      ("\\ISO 2022 IR 87", [0x1B, 0x24, 0x42, 0x3B, 0x33, 0x1B, 0x28, 0x42], "山"),
      ("GB18030", [0xCD, 0xF5], "王"), ("ISO_IR 999", [0x41, 0xE4], "A\u{FFFD}"),
    ] as [(String, [UInt8], String)])
  func textsAreReadAsTheyAreWritten(_ set: String, _ written: [UInt8], _ text: String) throws {
    let bytes = DICOM.file(
      DICOM.Pixels(), Self.tissue, DICOM.Element(8, 5, "CS", set),
      DICOM.Element(8, 0x103E, "LO", written))
    #expect(try header(bytes).seriesDescription == text)
  }

  @Test func whatIsNoHeaderIsNone() throws {
    let pixels = "rows 4\ncolumns 5\nframes 1\ngrey 1\n"
    func parsed(_ text: String) -> DICOMHeader? { DICOMHeader(Array(text.utf8)) }
    #expect(parsed("") != nil && parsed(pixels)?.pixels != nil)
    #expect(parsed(pixels + "centre 1\nwidth 0\n")?.pixels?.window == nil)
    #expect(parsed("series A\u{1B}[31m\u{202E}B\n")?.seriesDescription == "A[31mB")
    // Signs that join with the space before them, or the line's end.
    for series in ["\u{301}Knee", "\u{200D}", "Knee\r"] {
      #expect(parsed("modality MR\nseries \(series)\nrows 4\n")?.modality == "MR")
    }
    #expect(parsed("date 2024-1-1\n")?.studyDate == "")
    #expect(parsed("series " + String(repeating: "x", count: 999))?.seriesDescription.count == 64)
    for text in [
      "rows", "rows 4\nrows 4\n", "frames 1\n", "rows 0\ncolumns 5\nframes 1\ngrey 1\n",
      "rows 4\ncolumns 70000\nframes 1\ngrey 1\n", "rows 4\ncolumns 5\nframes 0\ngrey 1\n",
      "rows 4\ncolumns 5\nframes 1\ngrey 2\n", String(repeating: "a b\n", count: 2000),
    ] { #expect(parsed(text) == nil, "\(text.prefix(40))") }
    #expect(DICOMHeader([0xFF]) == nil)
    for bytes in [[], [UInt8](repeating: 0, count: 200), PDF.of(["Word"])] {
      #expect(renderer.header(ofDICOM: bytes) == .nothing)
    }
  }

  @Test func onlySomeWindowsCanBeAskedFor() throws {
    for (centre, width) in [
      (0, 0), (0, -1), (.nan, 1), (0, .nan), (.infinity, 1), (0, .infinity), (2e9, 1), (0, 1e-10),
    ] as [(Double, Double)] { #expect(GreyWindow(centre: centre, width: width) == nil) }
    #expect(GreyWindow(centre: -0.0, width: 1) == GreyWindow(centre: 0, width: 1))
    let program = try Built.path(.dicom)
    for words in [
      ["40", "400.0"], ["40.0", "400"], ["40.0", "0.0"], ["40.0", "-1.0"], ["nan", "1.0"],
      ["40.0", "inf"], ["+40.0", "1.0"], ["4e1", "1.0"], ["0x1p3", "1.0"], [" 40.0", "1.0"],
      ["40.0"], ["40.0", "400.0", "1.0"], ["1e+300", "1.0"],
    ] {
      let result = try CommandRunner.run(program, ["page", "1", "256"] + words)
      #expect(result.status == 64 && result.output == "", "\(words)")
    }
    #expect(try CommandRunner.run(program, ["meta", "1"]).status == 64)
  }

  // MARK: What is made to do harm

  @Test(arguments: [
    "plain", "jpg", "j2k", "run lengths", "test_files/SC_rgb_jpeg_gdcm.dcm",
    "test_files/MR_small_jpeg_ls_lossless.dcm", "test_files/image_dfl.dcm",
  ])
  func damageEndsNothingButTheProgram(_ kind: String) throws {
    let whole = try seed(kind)
    var answers: [Bool: Int] = [:]
    Seeds.forEach(Seeds.first(60)) { random in
      var bytes = whole.damaged(&random)
      // Where the elements begin, so that most of it is about them.
      let place = Int.random(in: 0..<min(bytes.count, 1200), using: &random)
      bytes[place] = UInt8.random(in: 0...255, using: &random)
      let answer = renderer.page(1, of: bytes, side: 64)
      #expect(answer != .unavailable, "\(random)")
      #expect(renderer.header(ofDICOM: bytes) != .unavailable, "\(random)")
      answers[answer == .nothing, default: 0] += 1
    }
    if Seeds.first(60).count == 60 { #expect(answers.values.allSatisfy { $0 > 1 }, "\(answers)") }
    for end in stride(from: 0, to: whole.count, by: max(1, whole.count / 20)) {
      let bytes = Array(whole[..<end])
      #expect(renderer.page(1, of: bytes, side: 64) != .unavailable, "\(end)")
      #expect(renderer.pageCount(of: bytes) != .unavailable, "\(end)")
      #expect(renderer.header(ofDICOM: bytes) != .unavailable, "\(end)")
    }
    _ = try frame(whole)
  }

  private func seed(_ kind: String) throws -> [UInt8] {
    let colours = DICOM.Pixels(samples: 3, bits: 8, colours: "YBR_FULL_422")
    switch kind {
    case "plain":
      return DICOM.file(
        DICOM.Pixels(), Self.tissue, DICOM.Element(0x28, 0x1050, "DS", "40"),
        DICOM.Element(0x28, 0x1051, "DS", "400"))
    case "jpg", "j2k":
      let picture = try Image.made("-size", "64x64", "plasma:", "-colorspace", "sRGB", as: kind)
      return DICOM.file(
        colours, kind == "jpg" ? DICOM.jpeg : DICOM.jpeg2000, fragments: [picture])
    case "run lengths":
      let plane = DICOM.quarters([1, 2, 3, 4] as [UInt8])
      return DICOM.file(
        colours, DICOM.runLength, fragments: [DICOM.runLengths([plane, plane, plane])])
    default:
      return [UInt8](try Data(contentsOf: try DICOMFiles.folder.appending(path: kind)))
    }
  }

  @Test func hugeAndEndlessThingsEnd() throws {
    let data = [UInt8](repeating: 7, count: 8192)
    func size(_ width: Int, _ height: Int, _ samples: Int = 1) -> DICOM.Pixels {
      DICOM.Pixels(
        width: width, height: height, samples: samples, bits: 8,
        colours: samples == 1 ? "MONOCHROME2" : "RGB")
    }
    let jpeg = try Image.made("-size", "64x64", "xc:red", as: "jpg")
    var declaring = jpeg
    let start = try #require(
      (2..<jpeg.count - 8).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
    declaring.replaceSubrange(start + 5..<start + 9, with: [0xFD, 0xE8, 0xFD, 0xE8])
    var j2k = try Image.made("-size", "64x64", "xc:red", as: "j2k")
    let sizes = try #require((0..<j2k.count - 16).first { j2k[$0] == 0xFF && j2k[$0 + 1] == 0x51 })
    j2k.replaceSubrange(sizes + 6..<sizes + 14, with: [0, 0, 0xFD, 0xE8, 0, 0, 0xFD, 0xE8])
    let endless: [UInt8] = [8, 0, 0x40, 0x11] + Array("SQ".utf8) + [0, 0, 255, 255, 255, 255]
    let item: [UInt8] = [0xFE, 0xFF, 0, 0xE0, 255, 255, 255, 255]
    let nested = Array(repeatElement(endless + item, count: 200_000).joined())
    let hostile: [String: [UInt8]] = [
      "pixels that are not there": DICOM.file(size(65_535, 65_535), data),
      "too many": DICOM.file(size(14_200, 14_200), data),
      "many in colour": DICOM.file(size(4000, 4000, 3), data),
      "many frames": DICOM.file(size(1, 1), data, DICOM.Element(0x28, 8, "IS", "99999999999")),
      "a JPEG that says more": DICOM.file(
        size(64, 64, 3), DICOM.jpeg, fragments: [declaring]),
      "a JPEG 2000 that says more": DICOM.file(size(64, 64, 3), DICOM.jpeg2000, fragments: [j2k]),
      "many fragments": DICOM.file(
        size(64, 64), DICOM.jpeg, fragments: Array(repeating: [0xFF, 0xD8], count: 300_000),
        DICOM.Element(0x28, 8, "IS", "99999")),
      "runs that run out": DICOM.file(
        size(9999, 9999), DICOM.runLength,
        fragments: [DICOM.bytes(1, 4) + DICOM.bytes(64, 4) + [UInt8](repeating: 0x81, count: 99)]),
      "sequences in sequences": DICOM.beginning(DICOM.plain) + nested,
      "items without end": DICOM.beginning(DICOM.plain) + endless
        + Array(
          repeatElement(item + [0xFE, 0xFF, 0x0D, 0xE0, 0, 0, 0, 0], count: 400_000).joined()),
      "a length beyond the end": DICOM.beginning(DICOM.plain) + [8, 0, 0x70, 0]
        + Array("UN".utf8) + [0, 0, 0xFE, 255, 255, 255],
      "much in little": DICOM.beginning(DICOM.deflated) + (try bomb(megabytes: 1500)),
    ]
    for (name, bytes) in hostile {
      #expect(renderer.page(1, of: bytes, side: 256) != .unavailable, "\(name)")
      #expect(renderer.pageCount(of: bytes) != .unavailable, "\(name)")
      #expect(renderer.header(ofDICOM: bytes) != .unavailable, "\(name)")
    }
    for name in ["pixels that are not there", "too many", "a JPEG that says more"] {
      #expect(renderer.page(1, of: hostile[name] ?? [], side: 64) == .nothing, "\(name)")
    }
    _ = try frame(try seed("plain"))
  }

  /// As many zeros, deflated.
  private func bomb(megabytes: Int) throws -> [UInt8] {
    let script = """
      import sys, zlib
      packer = zlib.compressobj(9, zlib.DEFLATED, -15)
      for _ in range(int(sys.argv[1])): sys.stdout.buffer.write(packer.compress(bytes(1 << 20)))
      sys.stdout.buffer.write(packer.flush())
      """
    let result = try CommandRunner.run("python3", ["-c", script, String(megabytes)])
    try #require(result.status == 0, "\(result.errors)")
    return result.standardOutput
  }
}

/// pydicom's test files, as `Scripts/setup --test` has fetched them.
enum DICOMFiles {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..").standardizedFileURL

  static var folder: URL {
    get throws {
      let libraries = root.appending(path: ".build-python/lib")
      let versions = try FileManager.default.contentsOfDirectory(atPath: libraries.path)
      let places = versions.map {
        libraries.appending(path: "\($0)/site-packages/pydicom/data")
      }
      return try #require(
        places.first { FileManager.default.fileExists(atPath: $0.path) },
        "there are no DICOM files: run Scripts/setup --test")
    }
  }
}
