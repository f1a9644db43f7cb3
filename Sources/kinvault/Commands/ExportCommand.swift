import ArgumentParser
import SystemPackage
import Vault
import VaultModel
import VaultPlain

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a record or a whole member to a plain, unencrypted folder.",
    discussion: """
      Keeps times, permissions, links and extended attributes, but for set-user-ID and its like, and never \
      overwrites anything. Every export is noted in the audit log.

      Examples:
        kinvault export "Emma/Vaccines/2025-01-20 COVID-19" ~/for-school
        kinvault export Emma /media/usb/Emma --yes
      """)

  @Argument(help: "A member, or a record: its path, or the first digits of its id.") var record:
    String
  @Argument(help: "The folder to make.", completion: .directory) var folder: String
  @Flag(help: "Do not ask.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try requireOutsideOfVaults()
    try access.withVault(.reading) { vault in
      let found = try RecordLookup(vault: vault).record(record)
      try Confirmation.require(
        "Everyone who can read \(folder) will be able to read "
          + "\u{201C}\(Terminal.visible(found.path.string))\u{201D}, and deleting it later may leave traces on the disk. Export?",
        isGiven: yes)
      vault.audit.note(.export, member: found.member.id, record: found.record)
      // Noted before the first byte leaves, and on disk: an interrupted export is one, too.
      try vault.audit.flush()
      let report = try export(found)
      tell(report, of: found)
      if let failure = report.failures.first { throw failure.error }
      if let cut = report.cutFolders.first { throw cut.error }
    }
  }

  private func tell(_ report: PlainExport.Report, of found: FoundRecord) {
    tell(report.failures)
    for folder in report.cutFolders {
      Terminal.note(
        "kinvault: \(Terminal.visible(folder.path)) lacks files. \(folder.error.message)")
    }
    if report.unprivilegedCount > 0 {
      Terminal.note(
        "kinvault: \(counted(report.unprivilegedCount, "file or folder", "files or folders")) had bits "
          + "that let a program run as somebody else (set-user-ID, set-group-ID, sticky); they are left out."
      )
    }
    if report.lacksXattrs {
      Terminal.note(
        "kinvault: That folder's file system keeps no extended attributes, or not all of these; what it does not keep is left out."
      )
    }
    if report.lacksModes {
      Terminal.note(
        "kinvault: Whoever owns that folder's file system sets modes and times there; they are left out."
      )
    }
    // The member's own folder counts nowhere.
    let recordCount = max(0, report.recordCount - (found.record == .root ? 1 : 0))
    Terminal.writeLine(
      "Exported \(countedRecords(recordCount)) with \(counted(report.fileCount, "file")), "
        + "\(ByteCount.text(report.byteCount)), to \(folder).")
  }

  /// Once for all that was left out for one reason, such as a remote that is away.
  private func tell(_ failures: [(path: String, error: PlainFileError)]) {
    var reasons: [String] = []
    var paths: [String: [String]] = [:]
    for failure in failures {
      let reason = Self.reason(failure.error)
      if paths[reason] == nil { reasons.append(reason) }
      paths[reason, default: []].append(Terminal.visible(failure.path))
    }
    for reason in reasons {
      let paths = paths[reason] ?? []
      if paths.count == 1 {
        Terminal.note("kinvault: \(paths[0]) was left out. \(reason)")
      } else {
        Terminal.note("kinvault: \(paths.count) files or folders were left out. \(reason)")
        for path in paths { Terminal.note("  \(path)") }
      }
    }
  }

  private static func reason(_ error: PlainFileError) -> String {
    guard case .system(_, _, let number) = error else { return Terminal.visible(error.message) }
    let cause = CommandError.describe(number)
    return
      "The disk there cannot have it: \(cause). Export to another disk, or give it another name in the vault."
  }

  /// Whoever works in the vault's folder names a folder beside its files, and a copier carries that to where others can read.
  private func requireOutsideOfVaults() throws(CommandError) {
    let parent = VaultLocation.absolute(FilePath(folder).removingLastComponent().string)
    guard let vault = VaultLocation.nearest(from: parent, isVault: VaultLocation.hasDescription)
    else { return }
    throw .refused(
      "\(folder) would be in \(Terminal.visible(vault.string)), which holds encrypted files only and is copied to where "
        + "others can read. Name a folder outside of it: kinvault export \(ShellWord.quoted(record)) FOLDER"
    )
  }

  private func export(_ found: FoundRecord) throws -> PlainExport.Report {
    let size = PlainExport(of: found.member).byteCount(of: found.record)
    let progress = TransferProgress("Exporting", total: size)
    defer { progress.finish() }
    var export = PlainExport(of: found.member, progress: { progress.add($0) })
    do { return try export.run(found.record, to: ArgumentBytes.of(folder)) } catch {
      guard export.hasBegun else { throw error }
      progress.finish()
      throw cutShort(error)
    }
  }

  /// What anybody can read is not left behind without a word.
  private func cutShort(_ error: PlainFileError) -> CommandError {
    let report = FailureReport(error)
    let place = Terminal.visible(folder)
    return .cutShort(
      "\(Terminal.visibleText(report.message))\nNot all was exported. What was is in \(place), not encrypted. Before you "
        + "export there again, or if you do not want it: rm -r \(ShellWord.quoted(folder))",
      report.status)
  }
}
