/// What a DICOM file says of itself, as far as somebody who looks at its series needs it. Of whom it shows nothing is in it.
package struct DICOMHeader: Equatable, Sendable {
  /// What there is to see.
  package struct Pixels: Equatable, Sendable {
    package let rows: Int
    package let columns: Int
    package let frameCount: Int
    /// Whether it is shown through a window. Otherwise it has colours.
    package let isGrey: Bool
    /// Through which window the first frame is shown where no other is asked for, or which comes nearest to it: the file's own,
    /// or from its lowest to its highest value. Nil of what has colours, and where the frame cannot be decoded.
    package let window: GreyWindow?
  }

  /// As DICOM calls it: `CT`, `MR`, `US`, `DX`. Empty if it is not said, as the other texts.
  package let modality: String
  /// Of the study, as eight digits: year, month, day.
  package let studyDate: String
  package let seriesDescription: String
  /// What belongs together: the same in every file of a series.
  package let seriesUID: String
  package let seriesNumber: Int?
  /// By which the files of a series are in order.
  package let instanceNumber: Int?
  /// Nil of what has no pixels: reports, plans, lists of what is on a disc.
  package let pixels: Pixels?

  /// Of what `kinvault-render-dicom` has answered; nil if that is not what it was to be. Nothing of it is trusted: no text is long,
  /// and signs that a terminal or a page would act upon are left out.
  package init?(_ answer: [UInt8]) {
    guard let values = Self.values(in: answer) else { return nil }
    func text(_ name: Substring, limit: Int = 64) -> String {
      var text = String.UnicodeScalarView()
      text.append(
        contentsOf: (values[name] ?? "").unicodeScalars.lazy.filter { !$0.isControlOrFormat }
          .prefix(limit))
      return String(text)
    }
    func count(_ name: Substring) -> Int? { values[name].flatMap { Int($0) } }
    modality = text("modality", limit: 16)
    let date = text("date")
    let isDate = date.utf8.count == 8 && date.utf8.allSatisfy { (0x30...0x39).contains($0) }
    studyDate = isDate ? date : ""
    seriesDescription = text("series")
    seriesUID = text("series-uid")
    (seriesNumber, instanceNumber) = (count("series-number"), count("instance-number"))
    guard let frames = count("frames") else {
      pixels = nil
      return
    }
    guard let rows = count("rows"), let columns = count("columns"), let grey = count("grey"),
      (1...65_535).contains(rows), (1...65_535).contains(columns),
      Renderer.pageNumbers.contains(frames), (0...1).contains(grey)
    else { return nil }
    var window: GreyWindow?
    if let centre = Double(text("centre")), let width = Double(text("width")) {
      window = GreyWindow(centre: centre, width: width)
    }
    pixels = Pixels(
      rows: rows, columns: columns, frameCount: frames, isGrey: grey == 1, window: window)
  }

  /// A name and a value in each line, and no name twice.
  private static func values(in answer: [UInt8]) -> [Substring: Substring]? {
    guard answer.count <= 4096, let all = String(validating: answer, as: UTF8.self) else {
      return nil
    }
    var values: [Substring: Substring] = [:]
    // By bytes: a text that begins with a combining sign makes one character with the space before it.
    for line in all.utf8.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1).map { Substring($0) }
      guard parts.count == 2, values.updateValue(parts[1], forKey: parts[0]) == nil else {
        return nil
      }
    }
    return values
  }
}

extension Unicode.Scalar {
  /// Whether it is no sign that is seen, but changes how others are.
  fileprivate var isControlOrFormat: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
