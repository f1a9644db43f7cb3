/// Rows under a line of headings, in columns as wide as they need to be.
struct Table {
  enum Alignment {
    case left
    case right
  }

  struct Column {
    var heading: String
    var alignment: Alignment = .left
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

  /// The lines; the last column is cut where a line would be wider than `width`.
  func lines(width: Int?) -> [String] {
    let all = [columns.map { Cell($0.heading) }] + rows
    let widths = columns.indices.map { column in all.reduce(0) { max($0, $1[column].width) } }
    return all.map { line(of: $0, widths: widths, width: width) }
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

  private func line(of cells: [Cell], widths: [Int], width: Int?) -> String {
    var line = ""
    var used = 0
    for (column, cell) in cells.enumerated() {
      if column > 0 { line += "  " }
      let gap = String(repeating: " ", count: widths[column] - cell.width)
      let isLast = column == cells.count - 1
      if columns[column].alignment == .right { line += gap }
      if isLast, let width {
        line += DisplayWidth.cut(cell.text, to: max(8, width - used))
      } else {
        line += cell.text
      }
      if columns[column].alignment == .left, !isLast { line += gap }
      used += widths[column] + 2
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}
