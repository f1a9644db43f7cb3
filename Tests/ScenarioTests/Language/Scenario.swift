/// A story of what people and devices do and what each then sees, as a `.scenario` file tells it.
///
/// `Scenarios/README.md` explains the language.
struct Scenario: Sendable, CustomStringConvertible {
  /// A person and their devices.
  struct Person: Hashable, Sendable {
    var name: String
    var devices: [String]
  }

  /// One sentence, and the lines that are indented below it.
  struct Step: Sendable {
    var line: Int
    /// Who does something or is looked at: devices, a remote, or the world.
    var subjects: [String]
    var words: [Word]
    var block: [BlockLine]
    /// Other blocks that would be as right, each after a line `or`.
    var alternatives: [[BlockLine]] = []
  }

  /// A word, or what stands between quotation marks.
  struct Word: Hashable, Sendable {
    var text: String
    var isQuoted: Bool
  }

  struct BlockLine: Hashable, Sendable {
    var line: Int
    var text: String
  }

  var file: String
  var name: String
  var people: [Person]
  var members: [String]
  /// The first is where everyone syncs unless another one is named.
  var remotes: [String]
  var steps: [Step]

  var description: String { "\(file): \(name)" }
}

/// What is wrong with a scenario, or with what was seen in it; says where.
struct ScenarioError: Error, CustomStringConvertible {
  var file: String
  var line: Int
  var text: String

  var description: String { "\(file):\(line): \(text)" }
}
