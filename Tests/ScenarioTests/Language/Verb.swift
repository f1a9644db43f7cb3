/// Something that a sentence can say, and what then happens.
///
/// `form` is the sentence without its subject: small words stand for themselves, a word in capitals for a
/// value: `writes TEXT to PATH`. Whoever needs more to be said adds a verb to a list, and the list to `Verb.all`.
struct Verb: Sendable {
  /// Whom the sentence is about.
  enum Subject: Sendable {
    /// Each of the devices named; `everyone` is all of them.
    case eachDevice(@Sendable (World, Device, Sentence) throws -> Void)
    /// All devices named, together.
    case devices(@Sendable (World, [Device], Sentence) throws -> Void)
    /// A remote.
    case remote(@Sendable (World, Remote, Sentence) throws -> Void)
    /// The world: the sentence begins with this word.
    case world(String, @Sendable (World, Sentence) throws -> Void)
  }

  let form: String
  let subject: Subject
  /// What the devices were told before need not have been expected yet.
  let isLook: Bool

  init(_ form: String, isLook: Bool = false, _ subject: Subject) {
    self.form = form
    self.subject = subject
    self.isLook = isLook
  }

  static let all =
    editing + renaming + opening + syncing + crashing + looking + remotes + clocks + people

  /// What the words say for the values of the form; nil when they do not fit it.
  func values(in words: [Scenario.Word]) -> [String: String]? {
    let pattern = form.split(separator: " ")
    guard pattern.count == words.count else { return nil }
    var values: [String: String] = [:]
    for (part, word) in zip(pattern, words) {
      if part.allSatisfy(\.isUppercase) {
        values[String(part)] = word.text
      } else if word.isQuoted || part != word.text {
        return nil
      }
    }
    return values
  }
}

/// A sentence that is being carried out.
struct Sentence: Sendable {
  let scenario: String
  let step: Scenario.Step
  let values: [String: String]

  /// The value for a word of the verb's form.
  subscript(name: String) -> String {
    guard let value = values[name] else { preconditionFailure("the form has no \(name)") }
    return value
  }

  /// A value that has to be a number.
  func number(_ name: String) throws(ScenarioError) -> UInt64 {
    guard let number = UInt64(self[name]) else { throw wrong("“\(self[name])” is no number") }
    return number
  }

  /// What is wrong with this sentence, or with what was seen.
  func wrong(_ text: String) -> ScenarioError {
    ScenarioError(file: scenario, line: step.line, text: text)
  }
}
