import CFonts

/// What is asked of the program, by its words.
enum Request {
  /// The text layer of a PDF in UTF-8, with a form feed after each page.
  case text
  /// How many pages there are, in decimal: 1 of an image that is no TIFF.
  case pages
  /// An image, no larger than it is, or the first page of a PDF, as WebP that fits into a square of this many pixels.
  case thumbnail(side: Int32)
  /// The same of any page, from 1 on.
  case page(Int32, side: Int32)

  static let usage = """
    Usage: kinvault-render text <FILE.pdf
           kinvault-render pages <FILE
           kinvault-render thumbnail SIDE <FILE
           kinvault-render page NUMBER SIDE <FILE
    SIDE is a number of pixels from 16 to 2048.
    """

  private static let sides: ClosedRange<Int32> = 16...2048
  private static let pageNumbers: ClosedRange<Int32> = 1...99_999

  /// Nil for words that are no request.
  init?(_ words: [String]) {
    guard let verb = words.first else { return nil }
    let numbers = words.dropFirst().map(Self.number)
    switch (verb, numbers.count) {
    case ("text", 0): self = .text
    case ("pages", 0): self = .pages
    case ("thumbnail", 1):
      guard let side = numbers[0], Self.sides.contains(side) else { return nil }
      self = .thumbnail(side: side)
    case ("page", 2):
      guard let page = numbers[0], Self.pageNumbers.contains(page),
        let side = numbers[1], Self.sides.contains(side)
      else { return nil }
      self = .page(page, side: side)
    default: return nil
    }
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
    case .thumbnail, .page: _ = kv_prepare_fonts()
    }
  }

  /// The answer to it; nil if there is none of these bytes.
  func answer(_ bytes: [UInt8]) -> [UInt8]? {
    switch self {
    case .text: PDFText.of(bytes)
    case .pages: Picture.pageCount(of: bytes).map { Array(String($0).utf8) }
    case .thumbnail(let side): Picture.of(bytes, page: 1, side: side)
    case .page(let number, let side): Picture.of(bytes, page: number, side: side)
    }
  }
}
