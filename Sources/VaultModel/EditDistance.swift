/// How far one word is from another.
package enum EditDistance {
  /// How many letters have to be put in, left out, exchanged for others or with their neighbours to make one word of the
  /// other (the optimal string alignment distance).
  package static func between<Letter: Equatable>(_ left: [Letter], _ right: [Letter]) -> Int {
    var rows = [Array(0...right.count)]
    for (i, letter) in left.enumerated() {
      var row = [i + 1]
      for (j, other) in right.enumerated() {
        var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
