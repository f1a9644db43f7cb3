/// Rows under a line of headings, in columns as wide as they need to be.
struct Table {
  enum Alignment {
    case left
    case right
  }

  struct Column {
    var heading: String
    var alignment: Alignment = .left
    /// Whether it is cut where the lines would be too wide, so that the next columns are seen; the last one always is.
    var isCut = false
  }

  private struct Cell {
    var text: String
    var width: Int

    init(_ text: String) {
      self.text = text
      width = DisplayWidth.of(text)
    }
  }

  private let columns: [Column]
  private var rows: [[Cell]] = []

  init(columns: [Column]) { self.columns = columns }

  init(_ headings: String...) { self.init(columns: headings.map { Column(heading: $0) }) }

  var isEmpty: Bool { rows.isEmpty }

  /// One cell a column. Text from the vault is made harmless for the terminal.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count)
    rows.append(cells.map { Cell(Terminal.visible($0)) })
  }

  /// The lines; columns are cut where a line would be wider than `width`.
  func lines(width: Int?) -> [String] {
    let all = [columns.map { Cell($0.heading) }] + rows
    var widths = columns.indices.map { column in all.reduce(0) { max($0, $1[column].width) } }
    if let width { narrow(&widths, to: width) }
    return all.map { line(of: $0, widths: widths) }
  }

  /// What is last has a third of a line, if it needs so much, or what is left; of what is cut the widest gives up most.
  private func narrow(_ widths: inout [Int], to width: Int) {
    let last = widths.count - 1
    func used() -> Int { widths[..<last].reduce(0) { $0 + $1 + 2 } }
    let cut = columns[..<last].indices.filter { columns[$0].isCut }
    while used() + min(widths[last], width / 3) > width,
      let widest = cut.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
    {
      widths[widest] -= 1
    }
    widths[last] = min(widths[last], max(8, width - used()))
  }

  /// Prints the table, or the words for none.
  func print(orElse nothing: String) {
    guard !isEmpty else {
      Terminal.writeLine(nothing)
      return
    }
    let lines = lines(width: Terminal.width(of: 1))
    Terminal.write(lines.joined(separator: "\n") + "\n")
  }

  private func line(of cells: [Cell], widths: [Int]) -> String {
    var line = ""
    for (column, whole) in cells.enumerated() {
      if column > 0 { line += "  " }
      let width = widths[column]
      let cell = whole.width > width ? Cell(DisplayWidth.cut(whole.text, to: width)) : whole
      let gap = String(repeating: " ", count: width - cell.width)
      let isRight = columns[column].alignment == .right
      if isRight { line += gap }
      line += cell.text
      if !isRight, column < cells.count - 1 { line += gap }
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}
