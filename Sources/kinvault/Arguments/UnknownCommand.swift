import ArgumentParser
import VaultModel

/// A word that stands where a command should and is none, and the commands that were perhaps meant.
struct UnknownCommand {
  /// A command with the words that call it, as `["record", "list"]`.
  private struct Named {
    var words: [String]
    var option: String?
    var abstract: String

    var name: String { words.last ?? "" }
    var call: String { (["kinvault"] + words + [option].compactMap(\.self)).joined(separator: " ") }
  }

  /// What people type who know other programs, some with the group before it, and the commands that do it here, some with
  /// an option.
  private static let otherWords = [
    "add": ["record add", "attach", "member add"],
    "backup": ["remote add", "sync"],
    "cat": ["record show"],
    "find": ["search"],
    "grep": ["search"],
    "import": ["attach"],
    "log": ["history", "audit"],
    "ls": ["record list", "member list"],
    // There is no such thing, and what there is instead.
    "member delete": ["member rename", "leave"],
    "member remove": ["member rename", "leave"],
    "member rm": ["member rename", "leave"],
    "new": ["init", "record add"],
    "passwd": ["password"],
    "pull": ["sync"],
    "push": ["sync"],
    "revoke": ["unshare", "device revoke"],
    "umount": ["unmount"],
    "undelete": ["restore"],
    "upload": ["attach"],
  ]

  /// The words before it, which are commands.
  private let group: [String]
  private let word: String
  private let suggestions: [Named]

  /// Nil where every word that should be a command is one.
  ///
  /// - Parameter arguments: The command line, without the program's name.
  init?(in arguments: some Sequence<String>) {
    var group: [String] = []
    var command: any ParsableCommand.Type = Kinvault.self
    for word in arguments {
      let below = command.configuration.subcommands
      guard !below.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      guard let next = below.first(where: { $0._commandName == word }) else {
        self.group = group
        self.word = word
        suggestions = Self.suggestions(for: word, in: group)
        return
      }
      group.append(word)
      command = next
    }
    return nil
  }

  /// What is wrong, what was perhaps meant, and where all commands are listed.
  var message: String {
    let help = (["kinvault"] + group + ["--help"]).joined(separator: " ")
    let inGroup = group.isEmpty ? "" : " in '\((["kinvault"] + group).joined(separator: " "))'"
    var lines = ["There is no command '\(Terminal.visible(word))'\(inGroup)."]
    if !suggestions.isEmpty {
      let width = suggestions.map(\.call.count).max() ?? 0
      lines.append("Perhaps you meant:")
      lines += suggestions.map { found in
        let blanks = String(repeating: " ", count: width - found.call.count + 2)
        return "  \(found.call)\(blanks)\(found.abstract)"
      }
    }
    return (lines + ["All commands: \(help)"]).joined(separator: "\n")
  }

  /// At most five: what other programs' words stand for, a command of this name elsewhere, those that begin with the
  /// word, and those that are a slip of the fingers away; of the same group first.
  private static func suggestions(for word: String, in group: [String]) -> [Named] {
    let all = commands(below: Kinvault.self, [])
    let asked = word.lowercased()
    let calls = otherWords[(group + [asked]).joined(separator: " ")] ?? otherWords[asked] ?? []
    let known = calls.compactMap { call in
      let words = call.split(separator: " ").map(String.init)
      var found = all.first { $0.words == words.filter { !$0.hasPrefix("-") } }
      found?.option = words.last.flatMap { $0.hasPrefix("-") ? $0 : nil }
      return found
    }
    let named = all.filter { $0.name == asked }
    let begun = asked.count < 2 ? [] : all.filter { $0.name != asked && $0.name.hasPrefix(asked) }
    let slips = all.filter { isSlip(of: $0.name, asked) }
    var found: [Named] = []
    for candidate in (known + named + begun + slips) {
      if !found.contains(where: { $0.words == candidate.words }) { found.append(candidate) }
    }
    let (near, far) = (
      found.filter { $0.words.dropLast() == group[...] },
      found.filter { $0.words.dropLast() != group[...] }
    )
    return Array((near + far).prefix(5))
  }

  private static func commands(
    below command: any ParsableCommand.Type, _ words: [String]
  ) -> [Named] {
    command.configuration.subcommands.flatMap { command in
      let words = words + [command._commandName]
      return [Named(words: words, abstract: command.configuration.abstract)]
        + commands(below: command, words)
    }
  }

  /// Whether a word is a name but for one change in three letters.
  private static func isSlip(of name: String, _ word: String) -> Bool {
    let limit = max(1, min(name.count, word.count) / 3)
    return name != word && EditDistance.between(Array(name), Array(word)) <= limit
  }
}
