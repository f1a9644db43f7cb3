import Dispatch
import Glibc
import Processes
import Threads

/// Has bytes that somebody else made opened by programs that can do nothing else (`kinvault-render-pdf` and its like, one for each
/// family of formats). Safe to use from any thread.
///
/// What is wrong with the bytes ends such a program and nothing here. Whoever asks keeps the answer, also that there is none:
/// nothing is tried a second time for the same content.
package final class Renderer: Sendable {
  package enum Answer: Hashable, Sendable {
    case bytes([UInt8])
    /// Of these bytes there is nothing to be had: they are of another kind, ask for a password, or the program ended
    /// or had to be ended over them.
    case nothing
    /// The program cannot be run here; it has not seen the bytes.
    case unavailable
  }

  /// More bytes are not given to it.
  package static let inputLimit = 64 << 20
  /// No answer is longer.
  static let answerLimit = 4 << 20
  /// It gets 20 s of a processor; this is for a machine that does other things, too.
  package static let timeLimit = Duration.seconds(40)
  /// What it says before it reads a byte: everything after that is about the content.
  private static let greeting = Array("kinvault-render 1\n".utf8)

  let programs: [ForeignFormat: String]
  private let timeLimit: Duration
  /// Each may take a gibibyte.
  private let places = DispatchSemaphore(value: 4)
  private let unavailable: Guarded<Set<ForeignFormat>> = Guarded([])

  /// - Parameter program: The path of a format's program; nil where there is none.
  package init(
    timeLimit: Duration = Renderer.timeLimit, _ program: (ForeignFormat) -> String?
  ) {
    self.timeLimit = timeLimit
    var programs: [ForeignFormat: String] = [:]
    for format in ForeignFormat.allCases { programs[format] = program(format) }
    self.programs = programs
  }

  /// The text layer of a PDF in UTF-8, with a form feed after each page.
  package func text(ofPDF bytes: [UInt8]) -> Answer { run(.pdf, ["text"], bytes) }

  /// Of which sides pictures can be asked, in pixels.
  package static let sides = 16...2048
  /// Which pages can be asked for.
  package static let pageNumbers = 1...99_999

  /// What a DICOM file says of itself: what `DICOMHeader` reads.
  package func header(ofDICOM bytes: [UInt8]) -> Answer {
    run(.dicom, ["meta"], bytes).onlyIf { DICOMHeader($0) != nil }
  }

  /// How many pages a PDF or a TIFF has, or frames a DICOM file, in decimal; 1 of any other image. Of nothing else there is a
  /// picture.
  package func pageCount(of bytes: [UInt8]) -> Answer {
    run(ForeignFormat(of: bytes), ["pages"], bytes).onlyIf { answer in
      guard let count = Int(String(decoding: answer, as: UTF8.self)) else { return false }
      return count >= 0 && Array(String(count).utf8) == answer
    }
  }

  /// A small picture, as WebP, that fits into a square of `side` pixels: of an image, no larger than that is, of the first
  /// page of a PDF, or of the first frame of a DICOM file.
  ///
  /// - Parameter side: One of `sides`.
  package func thumbnail(of bytes: [UInt8], side: Int) -> Answer {
    picture(["thumbnail", String(side)], bytes, side: side)
  }

  /// A picture, as WebP, that fits into a square of `side` pixels, of any page of a PDF or a TIFF or any frame of a DICOM file.
  ///
  /// - Parameters:
  ///   - number: One of `pageNumbers`; there may be no such page.
  ///   - window: Through which grey values of DICOM are shown; nil for the file's own. Of all else it changes nothing.
  package func page(
    _ number: Int, of bytes: [UInt8], side: Int, window: GreyWindow? = nil
  ) -> Answer {
    precondition(Self.pageNumbers.contains(number))
    let words = ["page", String(number), String(side)] + (window?.words ?? [])
    return picture(words, bytes, side: side)
  }

  private func picture(_ words: [String], _ bytes: [UInt8], side: Int) -> Answer {
    precondition(Self.sides.contains(side))
    return run(ForeignFormat(of: bytes), words, bytes).onlyIf { answer in
      guard let picture = WebPHeader(answer) else { return false }
      return (1...side).contains(picture.width) && (1...side).contains(picture.height)
    }
  }

  /// Whether the text of PDFs can be had here.
  package func canReadPDFs() -> Bool { run(.pdf, ["text"], []) != .unavailable }

  /// Whether it was found before that a format's program cannot be run: then nothing has to be read for it.
  package func isKnownUnavailable(for format: ForeignFormat) -> Bool {
    unavailable.withLock { $0.contains(format) }
  }

  private func run(_ format: ForeignFormat, _ words: [String], _ bytes: [UInt8]) -> Answer {
    guard bytes.count <= Self.inputLimit else { return .nothing }
    // What could not be run once is not tried with every file.
    places.wait()
    defer { places.signal() }
    if isKnownUnavailable(for: format) { return .unavailable }
    guard let program = programs[format], let process = RenderProcess(program, words) else {
      return noted(unavailable: format)
    }
    let limit = Self.greeting.count + Self.answerLimit
    let end = process.exchange(bytes, answerLimit: limit, timeLimit: timeLimit)
    // Also where its time was over before: whoever asks next, in another process, begins it again.
    guard end.answer.starts(with: Self.greeting) else { return noted(unavailable: format) }
    // Those by which people and systems end programs. It cannot send itself one.
    if case .killed(let signal) = end.ending, [SIGHUP, SIGINT, SIGTERM].contains(signal) {
      return .unavailable
    }
    guard end.ending?.isSuccess == true else { return .nothing }
    return .bytes(Array(end.answer.dropFirst(Self.greeting.count)))
  }

  private func noted(unavailable format: ForeignFormat) -> Answer {
    unavailable.withLock { _ = $0.insert(format) }
    return .unavailable
  }
}

extension Renderer.Answer {
  /// Nothing, where bytes were answered that are not what was asked for: whoever has taken the program over may say anything.
  fileprivate func onlyIf(_ isRight: ([UInt8]) -> Bool) -> Self {
    guard case .bytes(let bytes) = self, !isRight(bytes) else { return self }
    return .nothing
  }
}
