/// Questions that must be answered with yes before something happens.
enum Confirmation {
  /// Returns when the person says yes, or said so beforehand.
  ///
  /// - Parameters:
  ///   - isGiven: Whether `option` was on the command line.
  ///   - option: The option that says yes beforehand.
  static func require(
    _ question: String, isGiven: Bool, option: String = "--yes"
  ) throws(CommandError) {
    if isGiven { return }
    guard let prompt = TerminalPrompt() else {
      throw .refused("\(question)\nNobody is there to ask. To say yes beforehand: \(option)")
    }
    let answer = try prompt.line("\(question) [y/N] ").lowercased()
    guard answer == "y" || answer == "yes" else { throw .refused("Nothing was changed.") }
  }
}
