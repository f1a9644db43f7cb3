import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct MemberKeepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keep",
    abstract: "Bring back a member that was made on a device which you have removed since.",
    discussion: """
      What a device had signed goes on to count when you remove it, as far as the machine on which you do that has heard of \
      it. A member that the device had made, and that this machine had not met yet, counts for nobody then, with all that \
      your other machines have written in it. Those that had shown it keep it, and say so.

      On one of these, this has it count again. It asks for your 24 words: you get new keys, and every member that you own \
      is encrypted anew. What the removed device gave others of the member stays without effect (kinvault share gives it \
      again), and nobody can prove any more who wrote what it has written there. Without a name: what there is to keep.

      Whoever has the device in their hands can have made a member before this machine heard that it is removed: keep none \
      that you do not know.

      If you do not want the member, --no has this machine name it no more. Nothing of it is removed, and it can still be \
      brought back.

      Examples:
        kinvault member keep
        kinvault member keep Mia
        kinvault member keep Mia --no
      """)

  @Argument(help: "The member: the name, or the first digits of the id.") var member: String?

  @OptionGroup var wordsOptions: KnownWordsOptions

  @Flag(help: "Do not ask whether it is meant.") var yes = false

  @Flag(help: "You do not want the member: this machine names it no more.") var no = false

  @OptionGroup var access: AccessOptions

  func validate() throws {
    if no, member == nil { throw ValidationError("Say which member you do not want.") }
  }

  func run() throws {
    guard let member else { return try list() }
    if no { return try forget(member) }
    try access.withVaultAndKey(.writing, namesFallen: false) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      KeyRenewal(vault: vault).meet(remotes)
      let kept = try find(member, in: vault)
      let name = Terminal.visible(kept.name)
      try vault.closingPreview(removing: []).print(in: vault)
      try Confirmation.require(
        "\(name) was made on \(Self.maker(of: kept, in: vault)), \(DateText.local(milliseconds: kept.made)) by its clock. "
          + "Keep it as yours?", isGiven: yes)
      let words = try wordsOptions.words()
      Terminal.note("Making new keys; this takes a moment.")
      try SignInNotes.tryingWords(of: vault.id) { () throws(VaultError) in
        try vault.keep([kept], words: words)
      }
      vault.audit.note(.share, member: kept.id, detail: "member keep")
      let shown = vault.shownNames[kept.id].map { Terminal.visible($0.string) } ?? name
      Terminal.writeLine(
        shown == name ? "\(name) counts again." : "\(name) counts again, and shows as \(shown).")
      Terminal.note("kinvault: Look who has access to it now: kinvault access list")
      try KeyRenewal(vault: vault).run(remotes)
    }
  }

  private func forget(_ text: String) throws {
    try access.withVault(.writing, namesFallen: false) { vault in
      let member = try find(text, in: vault)
      try vault.forget(member)
      Terminal.writeLine(
        "\(Terminal.visible(member.name)) is not named any more on this machine. What is here of it stays, and it can still "
          + "be brought back: kinvault member keep")
    }
  }

  private func find(_ text: String, in vault: Vault) throws -> UnlistedMember {
    let unlisted = try vault.unlistedMembers()
    guard
      let meant = try NameOrDigits(text).one(
        among: unlisted, name: { $0.name }, id: { $0.id.hex })
    else {
      throw CommandError.notFound(
        "No member \u{201C}\(Terminal.visible(text))\u{201D} is to be kept. To see what there is: kinvault member keep"
      )
    }
    return meant
  }

  private static func maker(of member: UnlistedMember, in vault: Vault) -> String {
    let name = Terminal.visible(vault.name(of: member.device))
    return member.removed.map {
      "\(name), which you removed \(DateText.local(milliseconds: $0))"
    } ?? name
  }

  private func list() throws {
    var table = Table("NAME", "MADE", "ON", "ID")
    try access.withVault(.reading, namesFallen: false) { vault in
      for member in try vault.unlistedMembers() {
        table.add([
          Terminal.visible(member.name), DateText.local(milliseconds: member.made),
          Self.maker(of: member, in: vault) + (member.isUnwanted ? "; you do not want it" : ""),
          String(member.id.hex.prefix(12)),
        ])
      }
    }
    table.print(orElse: "There is nothing to keep.")
  }
}
