import Glibc
import Rendering
import SystemPackage
import TestSupport
import Testing

/// What becomes of bytes that are given to the programs that open them, and of others in their place that do as they like.
@Suite struct RendererTests {
  private let renderer: Renderer

  init() throws { renderer = try Renderer.built() }

  private func text(_ bytes: [UInt8]) -> String? {
    guard case .bytes(let found) = renderer.text(ofPDF: bytes) else { return nil }
    return String(decoding: found, as: UTF8.self)
  }

  @Test func theTextOfEachPageIsRead() {
    #expect(
      text(PDF.of(["Penicillin allergy", "Größe (cm)\n104", ""]))
        == "Penicillin allergy\u{C}Größe (cm)\n104\u{C}\u{C}")
    #expect(text(PDF.of([])) == "")
  }

  @Test func whatIsNoPDFHasNoText() {
    for bytes in [[], [0], Array("Hello".utf8), Array("%PDF-1.4\n".utf8)] {
      #expect(renderer.text(ofPDF: bytes) == .nothing, "\(bytes)")
    }
  }

  @Test func muchIsReadAndTooMuchIsNot() {
    // Before the header there may be something.
    let large = PDF.of(["Tetanus"]) + [UInt8](repeating: 0x20, count: 5 << 20)
    #expect(renderer.text(ofPDF: large) != .unavailable)
    let padded = PDF.document([
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 0 /Kids [] >>",
      "<< /Length \(5 << 20) >>\nstream\n\(String(repeating: "x", count: 5 << 20))\nendstream",
    ])
    #expect(renderer.text(ofPDF: padded) == .bytes([]))
    let excess = [UInt8](repeating: 0x20, count: Renderer.inputLimit + 1)
    #expect(renderer.text(ofPDF: excess) == .nothing)
    // Four megabytes are given, however many there are.
    let page = Array(repeating: String(repeating: "word ", count: 15), count: 60)
      .joined(separator: "\n")
    let long = PDF.of(Array(repeating: page, count: 1200))
    guard case .bytes(let found) = renderer.text(ofPDF: long) else {
      Issue.record("a long document was not read")
      return
    }
    #expect(found.count == 4 << 20)
  }

  // MARK: What it can do

  @Test(
    arguments: [
      (.pdf, "text"), (.pdf, "pages"), (.pdf, "page 1 256"), (.images, "pages"),
      (.images, "thumbnail 256"), (.heif, "pages"), (.heif, "page 1 256"), (.dicom, "pages"),
      (.dicom, "page 1 256 40.0 400.0"), (.dicom, "meta"),
    ] as [(ForeignFormat, String)])
  func itIsConfinedBeforeItReads(_ format: ForeignFormat, _ words: String) throws {
    let folder = try TemporaryFolder()
    // It waits for a byte that never comes: it holds the other end itself.
    let running = try RunningCommand(
      "sh",
      [
        "-c", "mkfifo \"$1\" && exec \"$0\" \(words) <>\"$1\"", try Built.path(format),
        folder.appending("input").string,
      ])
    for _ in 0..<12_000 where running.outputSoFar.isEmpty { usleep(5000) }
    #expect(running.outputSoFar == "kinvault-render 1\n" && !running.hasEnded())
    func lines(_ name: String) throws -> [[String]] {
      try CommandRunner.run("cat", ["/proc/\(running.processID)/\(name)"]).output
        .split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    }
    let status = try lines("status")
    for (name, value) in [("NoNewPrivs:", "1"), ("Seccomp:", "2"), ("Threads:", "1")] {
      #expect(status.contains([name, value]), "\(name)")
    }
    let limits = try lines("limits")
    for limit in [
      "Max address space 1073741824 1073741824 bytes", "Max cpu time 20 21 seconds",
      "Max core file size 0 0 bytes", "Max processes 0 0 processes", "Max open files 2 2 files",
    ] {
      #expect(limits.contains(limit.split(separator: " ").map(String.init)), "\(limit)")
    }
  }

  @Test(arguments: ForeignFormat.allCases)
  func aVerbThatItDoesNotKnowIsRefused(_ format: ForeignFormat) throws {
    var refused = [[], ["pictures"], ["pages", "file.pdf"]]
    if format != .pdf { refused.append(["text"]) }
    if format != .dicom { refused.append(["meta"]) }
    for words in refused {
      let result = try CommandRunner.run(Built.path(format), words)
      #expect(result.status == EX_USAGE && result.output == "", "\(words)")
      #expect(result.errors.hasPrefix("Usage: kinvault-render-\(format) pages <FILE\n"))
    }
  }

  /// A program is asked of what is a format's by its beginning alone; it finds out whether the rest is.
  @Test func aFilesBeginningSaysWhichProgramOpensIt() throws {
    let preamble = [UInt8](repeating: 0, count: 128)
    for (format, beginnings) in [
      .images: [[], [0xFF, 0xD8, 0xFF], Array("II*".utf8), Array("Hello".utf8), [8], preamble],
      .heif: [[0, 0, 0, 24] + Array("ftypheic".utf8)],
      .pdf: [
        Array("%PDF-1.7".utf8), Array("\n%PDF-".utf8),
        [UInt8](repeating: 0x20, count: 1019) + Array("%PDF-".utf8),
      ],
      .dicom: [preamble + Array("DICM".utf8), [8, 0, 5, 0], [2, 0], [0, 8, 0, 5]],
    ] as [ForeignFormat: [[UInt8]]] {
      for bytes in beginnings { #expect(ForeignFormat(of: bytes) == format, "\(bytes)") }
    }
    let late = [UInt8](repeating: 0x20, count: 1020) + Array("%PDF-".utf8)
    #expect(ForeignFormat(of: late) == .images)
  }

  /// One that cannot be run keeps the others from nothing.
  @Test func eachFormatHasAProgramOfItsOwn() throws {
    let renderer = Renderer { $0 == .heif ? nil : try? Built.path($0) }
    let photo = [0, 0, 0, 24] + Array("ftypheic".utf8)
    for _ in 0..<2 { #expect(renderer.pageCount(of: photo) == .unavailable) }
    #expect(renderer.isKnownUnavailable(for: .heif) && !renderer.isKnownUnavailable(for: .pdf))
    #expect(renderer.pageCount(of: PDF.of(["Word"])) == .bytes([0x31]))
  }

  // MARK: Documents that are made to do harm

  /// A document of the kinds of objects that readers go wrong over.
  private var seedDocument: [UInt8] {
    let map = """
      /CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> \
      endcodespacerange 1 beginbfrange <20> <7e> <0020> endbfrange endcmap end end
      """
    let form = "BT /F1 9 Tf 50 50 Td (Inside a form) Tj ET"
    let hex = "BT /F1 12 Tf 72 720 Td (Penicillin) Tj ET /X1 Do".utf8.map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
    return PDF.document([
      "<< /Type /Catalog /Pages 2 0 R /Outlines 9 0 R >>",
      "<< /Type /Pages /Count 2 /Kids [4 0 R 6 0 R] /MediaBox [0 0 612 792] >>",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
        + "/ToUnicode 8 0 R /Encoding << /Differences [65 /B /C] >> >>",
      "<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Rotate 90 "
        + "/Resources << /Font << /F1 3 0 R >> /XObject << /X1 7 0 R >> >> >>",
      "<< /Length \(hex.count) /Filter /ASCIIHexDecode >>\nstream\n\(hex)\nendstream",
      "<< /Type /Page /Parent 2 0 R /Contents [5 0 R 5 0 R] /Resources << /Font << /F1 3 0 R >> >> >>",
      "<< /Type /XObject /Subtype /Form /BBox [0 0 99 99] /Length \(form.utf8.count) "
        + "/Resources << /Font << /F1 3 0 R >> >> >>\nstream\n\(form)\nendstream",
      "<< /Length \(map.utf8.count) >>\nstream\n\(map)\nendstream",
      "<< /Type /Outlines /First 9 0 R /Last 9 0 R /Count 1 /Title (Loop) /Next 9 0 R >>",
    ])
  }

  private func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<6, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let length = min(Int.random(in: 1..<200, using: &random), bytes.count - place)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes.removeSubrange(place..<place + length)
      case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
      case 4: bytes.replaceSubrange(place..<place + 1, with: Array(" -2147483649 ".utf8))
      default:
        // A number becomes another one: of an object, a length, a place.
        let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
        guard let digit = digits.randomElement(using: &random) else { break }
        bytes[digit] = UInt8.random(in: 0x30...0x39, using: &random)
      }
      if bytes.isEmpty { bytes = [0] }
    }
    return bytes
  }

  @Test func damageEndsNothingButTheProgram() {
    let whole = seedDocument
    #expect(text(whole)?.contains("Inside a form") == true)
    var answers: [Bool: Int] = [:]
    Seeds.forEach(Seeds.first(300)) { random in
      let bytes = mutated(whole, &random)
      let answer = renderer.text(ofPDF: bytes)
      #expect(answer != .unavailable, "\(random)")
      #expect(renderer.thumbnail(of: bytes, side: 64) != .unavailable, "\(random)")
      answers[answer == .nothing, default: 0] += 1
    }
    // Some of it can still be read, or there was nothing to go wrong over.
    if Seeds.first(300).count == 300 { #expect(answers.values.allSatisfy { $0 > 3 }, "\(answers)") }
    for end in stride(from: 0, to: whole.count, by: 29) {
      #expect(renderer.text(ofPDF: Array(whole[..<end])) != .unavailable, "\(end)")
    }
    #expect(text(whole)?.contains("Inside a form") == true)
  }

  @Test func treesWithoutEndAndHugeThingsEnd() throws {
    let renderer = try Renderer.built(timeLimit: .seconds(8))
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    func page(_ content: String, box: String = "[0 0 612 792]", _ more: String...) -> [UInt8] {
      PDF.document(
        [
          "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [4 0 R] >>", font,
          "<< /Type /Page /Parent 2 0 R /MediaBox \(box) /Contents 5 0 R "
            + "/Resources << /Font << /F1 3 0 R >> /XObject << /X1 6 0 R >> >> >>",
          "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
        ] + more)
    }
    func form(_ content: String, _ next: Int) -> String {
      "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length \(content.utf8.count) "
        + "/Resources << /XObject << /X1 \(next) 0 R >> >> >>\nstream\n\(content)\nendstream"
    }
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>"
    let text = "BT /F1 12 Tf 72 720 Td (Word) Tj ET"
    let hostile: [String: [UInt8]] = [
      "a tree that holds itself": PDF.document([
        catalog, "<< /Type /Pages /Count 2147483647 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>",
      ]),
      "two that hold each other": PDF.document([
        catalog, "<< /Type /Pages /Count 9 /Kids [3 0 R] >>",
        "<< /Type /Pages /Count 9 /Kids [2 0 R 3 0 R] /Parent 3 0 R >>",
      ]),
      "pages that are not there": PDF.document([
        catalog, "<< /Type /Pages /Count 2147483647 /Kids [] >>",
      ]),
      "a form in itself": page("/X1 Do", form("/X1 Do /X1 Do", 6)),
      "a form of 20 to the 12th": page(
        "/X1 Do", form(String(repeating: "/X1 Do ", count: 20), 7),
        form(String(repeating: "/X1 Do ", count: 20), 8),
        form(String(repeating: "/X1 Do ", count: 20), 9),
        form(String(repeating: "/X1 Do ", count: 20), 10),
        form(String(repeating: "/X1 Do ", count: 20), 11),
        form(String(repeating: "/X1 Do ", count: 20), 12),
        form(String(repeating: "/X1 Do ", count: 20), 13),
        form(String(repeating: "/X1 Do ", count: 20), 14),
        form(String(repeating: "0 0 1 1 re f ", count: 20), 14)),
      "a huge page": page(text, box: "[-1e300 -1e300 1e300 1e300]"),
      "a huge picture": page(
        "/X1 Do",
        "<< /Type /XObject /Subtype /Image /Width 2147483647 /Height 2147483647 "
          + "/BitsPerComponent 16 /ColorSpace /DeviceCMYK /Length 3 >>\nstream\nabc\nendstream"),
      "huge letters": page("BT /F1 1e300 Tf 1e300 0 0 1e300 1e300 1e300 Tm (Word) Tj ET"),
      "arrays in arrays": page(text) + Array(String(repeating: "[", count: 1 << 20).utf8),
      "a stack of states": page(String(repeating: "q ", count: 1 << 20)),
      "a length that is its own": PDF.document([
        catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        "<< /Length 4 0 R >>\nstream\nBT ET\nendstream",
      ]),
    ]
    for (name, bytes) in hostile {
      #expect(renderer.text(ofPDF: bytes) != .unavailable, "\(name)")
      #expect(renderer.thumbnail(of: bytes, side: 256) != .unavailable, "\(name)")
    }
    guard case .bytes = renderer.text(ofPDF: PDF.of(["Word"])) else {
      Issue.record("it works no more")
      return
    }
  }

  // MARK: Programs in its place

  private func answer(
    of script: String, to bytes: [UInt8] = [1, 2, 3], timeLimit: Duration = .seconds(20)
  ) throws -> Renderer.Answer {
    let folder = try TemporaryFolder()
    let path = try folder.program(script)
    return Renderer(timeLimit: timeLimit) { _ in path }.text(ofPDF: bytes)
  }

  @Test func whatAProgramSaysAndHowItEndsDecides() throws {
    let greeting = "echo kinvault-render 1;"
    #expect(try answer(of: "\(greeting) cat") == .bytes([1, 2, 3]))
    let much = [UInt8](repeating: 7, count: 3 << 20)
    #expect(try answer(of: "\(greeting) cat", to: much) == .bytes(much))
    #expect(try answer(of: "\(greeting) cat; exit 3") == .nothing)
    #expect(try answer(of: "\(greeting) kill -SEGV $$") == .nothing)
    #expect(try answer(of: "\(greeting) kill -KILL $$") == .nothing)
    #expect(try answer(of: "\(greeting) exec cat /dev/zero") == .nothing)
    // It does not read what it is given.
    #expect(try answer(of: "\(greeting) exit 0", to: much) == .bytes([]))
    // Somebody else has ended it, or it could not even begin.
    #expect(try answer(of: "\(greeting) kill -TERM $$") == .unavailable)
    for script in ["exit 71", "exit 127", "echo hello", "kill -SEGV $$"] {
      #expect(try answer(of: script) == .unavailable, "\(script)")
    }
    let absent = Renderer { _ in "/nonexistent" }
    #expect(absent.text(ofPDF: [1]) == .unavailable)
    #expect(!absent.canReadPDFs() && renderer.canReadPDFs())
  }

  /// Each of a thousand PDFs would take its forty seconds otherwise, with every search.
  @Test func whatSaysNothingInItsTimeIsNotBegunAgain() throws {
    let folder = try TemporaryFolder()
    let mark = folder.appending("begun").string
    let path = try folder.program("echo >>\(mark); exec sleep 300")
    let renderer = Renderer(timeLimit: .seconds(8)) { _ in path }
    for _ in 0..<3 { #expect(renderer.text(ofPDF: [1]) == .unavailable) }
    #expect(try CommandRunner.run("cat", [mark]).output == "\n")
  }

  @Test func whatTakesTooLongIsEnded() throws {
    let greeting = "echo kinvault-render 1;"
    let much = [UInt8](repeating: 7, count: 3 << 20)
    let folder = try TemporaryFolder()
    let mark = folder.appending("process").string
    for script in ["exec sleep 300", "exec >&- <&- ; exec sleep 300"] {
      let began = ContinuousClock.now
      let found = try answer(
        of: "echo $$ >\(mark); \(greeting) \(script)", to: much, timeLimit: .seconds(8))
      #expect(found == .nothing, "\(script)")
      #expect(ContinuousClock.now - began < .seconds(150))
      let process = try CommandRunner.run("cat", [mark]).output
      let number = try #require(pid_t(process.dropLast()))
      #expect(kill(number, 0) != 0 && errno == ESRCH)
    }
  }
}
