import CDicom
import CFonts

/// What is asked of the program, by its words.
enum Request {
  /// The text layer of a PDF in UTF-8, with a form feed after each page.
  case text
  /// What a DICOM file says of itself, in lines: `kv_dicom_header`.
  case meta
  /// How many pages there are, in decimal: 1 of an image that is no TIFF, of DICOM as many as frames.
  case pages
  /// An image, no larger than it is, or the first page of a PDF, as WebP that fits into a square of this many pixels.
  case thumbnail(side: Int32)
  /// The same of any page, from 1 on; of DICOM with grey values through this window.
  case page(Int32, side: Int32, window: kv_window?)

  static let usage = """
    Usage: kinvault-render text <FILE.pdf
           kinvault-render pages <FILE
           kinvault-render thumbnail SIDE <FILE
           kinvault-render page NUMBER SIDE <FILE
           kinvault-render page NUMBER SIDE CENTRE WIDTH <FILE.dcm
           kinvault-render meta <FILE.dcm
    SIDE is a number of pixels from 16 to 2048. CENTRE and WIDTH are of a window, as 40.0 and 400.0.
    """

  private static let sides: ClosedRange<Int32> = 16...2048
  private static let pageNumbers: ClosedRange<Int32> = 1...99_999

  /// Nil for words that are no request.
  init?(_ words: [String]) {
    guard let verb = words.first else { return nil }
    let numbers = words.dropFirst().prefix(2).map(Self.number)
    switch (verb, words.count - 1) {
    case ("text", 0): self = .text
    case ("meta", 0): self = .meta
    case ("pages", 0): self = .pages
    case ("thumbnail", 1):
      guard let side = numbers[0], Self.sides.contains(side) else { return nil }
      self = .thumbnail(side: side)
    case ("page", 2), ("page", 4):
      guard let page = numbers[0], Self.pageNumbers.contains(page),
        let side = numbers[1], Self.sides.contains(side)
      else { return nil }
      var window: kv_window?
      if words.count == 5 {
        guard let found = Self.window(words[3], words[4]) else { return nil }
        window = found
      }
      self = .page(page, side: side, window: window)
    default: return nil
    }
  }

  /// As Swift writes such numbers, so that each has one form.
  private static func window(_ centre: String, _ width: String) -> kv_window? {
    guard let centreValue = Double(centre), let widthValue = Double(width),
      "\(centreValue)" == centre, "\(widthValue)" == width,
      centreValue.magnitude <= 1e9, (1e-9...1e9).contains(widthValue)
    else { return nil }
    return kv_window(centre: centreValue, width: widthValue)
  }

  /// In digits alone, and as short as it can be.
  private static func number(_ word: String) -> Int32? {
    guard let number = Int32(word), String(number) == word else { return nil }
    return number
  }

  /// Has ready what could not be opened later.
  func prepare() {
    switch self {
    case .text, .pages: break
    case .meta: kv_prepare_dicom_texts()
    case .thumbnail, .page: _ = kv_prepare_fonts()
    }
  }

  /// The answer to it; nil if there is none of these bytes.
  func answer(_ bytes: [UInt8]) -> [UInt8]? {
    switch self {
    case .text: PDFText.of(bytes)
    case .meta: DICOMFile.header(of: bytes)
    case .pages: Picture.pageCount(of: bytes).map { Array(String($0).utf8) }
    case .thumbnail(let side): Picture.of(bytes, page: 1, side: side, window: nil)
    case .page(let number, let side, let window):
      Picture.of(bytes, page: number, side: side, window: window)
    }
  }
}
