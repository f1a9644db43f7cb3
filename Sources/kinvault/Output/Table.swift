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

  private let columns: [Column]
  private var rows: [[String]] = []

  init(columns: [Column]) { self.columns = columns }

  init(_ headings: String...) { self.init(columns: headings.map { Column(heading: $0) }) }

  var isEmpty: Bool { rows.isEmpty }

  /// One cell a column. Text from the vault is made harmless for the terminal.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count)
    rows.append(cells.map(Terminal.visible))
  }

  /// The lines; the last column is cut where a line would be wider than `width`.
  func lines(width: Int?) -> [String] {
    let all = [columns.map { $0.heading }] + rows
    let widths = columns.indices.map { column in
      all.map { DisplayWidth.of($0[column]) }.max() ?? 0
    }
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

  private func line(of cells: [String], widths: [Int], width: Int?) -> String {
    var parts: [String] = []
    var used = 0
    for (column, cell) in cells.enumerated() {
      let isLast = column == cells.count - 1
      let room = isLast ? width.map { max(8, $0 - used) } : nil
      let shown = room.map { DisplayWidth.cut(cell, to: $0) } ?? cell
      switch columns[column].alignment {
      case .left: parts.append(isLast ? shown : DisplayWidth.pad(shown, to: widths[column]))
      case .right:
        let gap = widths[column] - DisplayWidth.of(shown)
        parts.append(String(repeating: " ", count: max(0, gap)) + shown)
      }
      used += widths[column] + 2
    }
    let line = parts.joined(separator: "  ")
    return String(line.reversed().drop { $0 == " " }.reversed())
  }
}
