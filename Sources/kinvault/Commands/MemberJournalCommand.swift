import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct MemberJournalCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal",
    abstract: "Say whether openings of files are noted for everyone with access.",
    discussion: """
      What was exported, restored, deleted and imported of a member, and who was given access, everyone with access reads: \
      kinvault audit --journal Emma. Who opened which file is noted there only while an owner has it so. Each person is \
      told before anything that they open is noted. Without --reads it says how it is.

      Example:
        kinvault member journal Emma --reads on
      """)

  enum Setting: String, ExpressibleByArgument, CaseIterable { case on, off }

  @Argument(help: "The member.", completion: MemberCompletion.kind) var name: String
  @Option(
    help: ArgumentHelp("Note openings of files from now on, or no more.", valueName: "on|off"))
  var reads: Setting?
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(reads == nil ? .reading : .writing) { vault in
      let member = try RecordLookup(vault: vault).member(named: name)
      if let reads { try vault.noteReads(reads == .on, of: member) }
      Terminal.writeLine(try ReadsText.load(of: vault).line(for: member))
    }
  }
}

/// Says of which members openings of files are noted.
struct ReadsText {
  private let vault: Vault
  private let people: PersonLookup

  static func load(of vault: Vault) throws(VaultError) -> ReadsText {
    ReadsText(vault: vault, people: try PersonLookup.load(of: vault))
  }

  func line(for member: Member) -> String {
    let noted = vault.readsAreNoted.first { $0.member == member.id }
    return noted.map(line)
      ?? "\(name(of: member.id)): openings of files are not noted for others."
  }

  /// Every member of which they are, a line each.
  var lines: [String] { vault.readsAreNoted.map(line) }

  func line(for news: ReadsNews) -> String {
    let member = name(of: news.member)
    let who = news.person.map { $0 == vault.person ? "You" : people.name(of: $0) }
    guard news.areNoted else {
      return "\(member): openings of files are noted for others no more."
    }
    let since = news.time.map { " since \(DateText.local(milliseconds: $0))" } ?? ""
    let have = who == "You" ? "have" : "has"
    return
      "\(member): \(who ?? "An owner") \(have) openings of files noted\(since): everyone with access reads who opened what "
      + "(kinvault audit --journal \(ShellWord.quoted(member)))."
  }

  private func name(of member: MemberID) -> String {
    Terminal.visible(vault.shownNames[member]?.string ?? member.shortHex)
  }
}
