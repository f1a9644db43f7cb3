import ArgumentParser
import Vault

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare six words with another adult, to be sure of their keys.",
    discussion: """
      Both run it at the same time, each naming the other, and read the words to each other, face to face \
      or on the telephone. The same words on both sides mean that nobody stands between you. What you say is \
      remembered on all your devices.

      Examples:
        kinvault verify Ben
        kinvault verify 3f9a0c --name Ben
      """)

  @Argument(help: "The other one: their name, or the first digits of their id.") var person: String

  @Option(help: ArgumentHelp("What they are called from now on.", valueName: "name"))
  var name: NameArgument?

  @Flag(help: "Say beforehand that the words are the same.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      try vault.acceptIntroductions()
      let other = try PersonLookup.load(of: vault).find(person)
      guard !other.isSelf else { throw CommandError.usage("That is you.") }
      let words = try vault.comparisonWords(with: other.id)
      Terminal.writeLine("\n  \(words.joined(separator: "  "))\n")
      try Confirmation.require("Does \(other.shownName) see the same six words?", isGiven: yes)
      try vault.noteComparedWords(with: other.id, name: name?.text)
      Terminal.writeLine("\(other.shownName) is verified.")
    }
  }
}
