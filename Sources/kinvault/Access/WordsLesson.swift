/// Shows the 24 words once, and sees that they were written down.
struct WordsLesson {
  let words: [String]

  /// - Parameter isShort: Only shows them.
  func give(isShort: Bool) throws(CommandError) {
    guard !isShort, let prompt = TerminalPrompt() else {
      Terminal.write(introduction + columns + "\n")
      return
    }
    prompt.show(introduction + columns)
    _ = try prompt.line("\nPress Enter when they are on paper. They will not be shown again. ")
    // Cleared with the lines that scrolled away, so that the words do not stay on the screen.
    prompt.show("\u{1b}[H\u{1b}[2J\u{1b}[3J")
    prompt.show("Three of them, to be sure that the paper can be read:\n")
    for position in Self.questions(count: words.count) { try ask(position, prompt) }
    prompt.show("Good. Keep the paper where you keep passports.\n\n")
  }

  private func ask(_ position: Int, _ prompt: borrowing TerminalPrompt) throws(CommandError) {
    while true {
      let answer = try prompt.line("Word \(position + 1): ").lowercased()
      if answer == words[position] { return }
      prompt.show("That is not word \(position + 1). Look once more, or correct the paper")
      prompt.show(answer.isEmpty ? ".\n" : " (\u{2018}?\u{2019} shows all words again).\n")
      if answer == "?" {
        prompt.show(columns)
        _ = try prompt.line("\nPress Enter when the paper is right. ")
        prompt.show("\u{1b}[H\u{1b}[2J\u{1b}[3J")
      }
    }
  }

  private var introduction: String {
    """

    These 24 words open the vault if the password is forgotten or this machine is lost, stolen or broken.
    Write them on paper, in this order. Whoever has the words and the folder can read everything, so
    do not photograph them and do not store them next to the vault. Without password and words nobody can
    open the vault: not you, and not the people who made Kinvault.


    """
  }

  /// The words, numbered down four columns.
  var columns: String {
    let rows = (words.count + 3) / 4
    return (0..<rows).map { row in
      stride(from: row, to: words.count, by: rows).map { position in
        let number = position < 9 ? " \(position + 1)" : "\(position + 1)"
        return DisplayWidth.pad("\(number) \(words[position])", to: 15)
      }.joined()
    }.map { "  \($0)\n" }.joined()
  }

  /// Three different positions, in order.
  static func questions(count: Int) -> [Int] {
    Array((0..<count).shuffled().prefix(3)).sorted()
  }
}
