import ArgumentParser
import Vault
import VaultModel

struct ConflictsResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Decide about a version that lost.",
    discussion: """
      Either way the kept copy goes away, on every device, and stays in the history. Deleting the copy in the mount \
      is the same as --keep-current.

      Examples:
        kinvault conflicts resolve 3f9a01bc --keep-current
        kinvault conflicts resolve 3f9a01bc --take-back
      """)

  @Argument(help: "The conflict: the first digits of its id, or its path.") var conflict: String
  @Flag(help: "Keep the record as it is now.") var keepCurrent = false
  @Flag(
    help: "Put this version's files back into the record; bring the record back if it was deleted.")
  var takeBack = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard keepCurrent != takeBack else {
      throw ValidationError("Say what to do: --keep-current or --take-back.")
    }
  }

  func run() throws {
    try access.withVault(.writing) { vault in
      let (member, found) = try ConflictLookup(vault: vault).find(conflict)
      let edits =
        try takeBack ? member.edits(takingBack: found) : member.edits(discarding: found)
      let gone = try takeBack ? member.filesGone(before: found) : []
      try vault.commit(edits, to: member)
      vault.audit.note(.write, member: member.id, record: found.mark.record, detail: "conflict")
      let path = vault.shownPath(of: found.mark.record, in: member)
      let record = Terminal.visible(path)
      Terminal.writeLine(
        takeBack
          ? "\(record) has this version's files again." : "\(record) stays as it is.")
      tell(gone, of: path)
    }
  }

  /// Says how those come back, too, of which the version holds nothing.
  private func tell(_ gone: [FileName], of path: String) {
    if gone.isEmpty { return }
    Terminal.note(
      "kinvault: \(counted(gone.count, "file")) of the record did not come back with it. To bring back what was in it when it "
        + "was deleted:")
    for name in gone.prefix(Self.shownCount) {
      Terminal.note("  kinvault restore \(ShellWord.quoted("\(path)/\(name.string)"))")
    }
    if gone.count > Self.shownCount {
      Terminal.note(
        "  and \(gone.count - Self.shownCount) more: kinvault history \(ShellWord.quoted(path))")
    }
  }

  private static let shownCount = 20
}
