import ArgumentParser
import MachineState
import Vault
import VaultCrypto
import VaultErrors
import VaultSync

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "See whether the vault is whole.",
    discussion: """
      Verifies signatures, opens every record, and sees that every file is there with the right size: \
      seconds. With --read-data every byte is read and verified as well. Names the records and the encrypted \
      files that a problem hits. Exits with 1 if there is damage or something to look at.

      Examples:
        kinvault check
        kinvault check --read-data --json
        kinvault check --repair
        kinvault check --remote usb --read-data
        kinvault check --repair --remote usb
      """)

  @Flag(help: "Read and verify every byte.") var readData = false

  @Flag(
    help: ArgumentHelp(
      "Mend what can be mended, then check.",
      discussion:
        "Lost lists of records are rebuilt from the records; a record that lost its newest revision, or a part of its "
        + "list of files, goes on with what is left, here and in older revisions. With --remote, good copies of what "
        + "is damaged or missing here are taken from there first, and what is damaged or missing there is put there "
        + "again."
    ))
  var repair = false

  @Option(
    help: ArgumentHelp(
      "With --repair: take also this revision, which was left alone (the first digits of its id).",
      discussion:
        "Of what no list names any more, what is signed by somebody who may write the member now is taken. Anything else "
        + "can have been put there by whoever once had the keys: it is listed, with its time and size and why it was left "
        + "alone, and taken only if you name it and say yes when it is shown once more.",
      valueName: "id"))
  var take: [String] = []

  @Flag(help: "With --take: do not ask whether it is meant.") var yes = false

  @Option(
    help: ArgumentHelp(
      "Check the copy on this remote; with --repair, mend it and the one here from each other.",
      valueName: "name")
  )
  var remote: String?

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard !take.isEmpty || !yes else { throw ValidationError("--yes goes with --take.") }
    guard take.isEmpty || repair else { throw ValidationError("--take goes with --repair.") }
    guard take.allSatisfy({ $0.count >= 8 && $0.allSatisfy(\.isHexDigit) }) else {
      throw ValidationError("--take needs at least eight digits of a revision's id.")
    }
  }

  func run() throws {
    if let remote, !repair { return try check(remote) }
    if let remote { try mend(from: remote) }
    let bar = ProgressBar(readData ? .bytes : .items)
    var (printed, hasProblems) = try access.withVault(repair ? .writing : .reading) { vault in
      defer { bar.finish() }
      let repairs = repair ? try mend(vault, bar) : []
      var report = try vault.check(readsData: readData, progress: { bar.update($0) })
      report.problems += try RemoteStatus.unfinishedClones(of: vault.id)
      let printed = try CheckPrint(
        report: report, repairs: repairs, readData: readData,
        authors: AuthorshipText.load(of: vault))
      bar.finish()
      if !json { printed.print(remotes: try RemoteRegistry(state: vault.state).names()) }
      return (printed, report.problems.contains { $0.severity > .note })
    }
    if let remote {
      let there = try examine(remote)
      if !json { there.print() }
      printed.remote = there
    }
    if json { try JSONOutput.print(printed) }
    hasProblems = hasProblems || printed.remote?.hasProblems ?? false
    if hasProblems { throw CommandError.problemsFound }
  }
}

extension CheckCommand {
  /// What is to be taken though nothing vouches for it is shown first: who signed it, and why it was left alone.
  private func mend(_ vault: Vault, _ bar: ProgressBar) throws -> [RepairReport] {
    let authors = try AuthorshipText.load(of: vault)
    var refusal: CommandError?
    let repairs = try vault.repair(taking: take.map { $0.lowercased() }) { wanted in
      bar.finish()
      CheckPrint.show(wanted, authors)
      do throws(CommandError) {
        try Confirmation.require("Take what nobody vouches for?", isGiven: yes)
        return true
      } catch {
        refusal = error
        return false
      }
    } progress: {
      bar.update($0)
    }
    if let refusal { throw refusal }
    return repairs
  }

  private func check(_ name: String) throws {
    let printed = try examine(name)
    if json { try JSONOutput.print(printed) } else { printed.print() }
    if printed.hasProblems { throw CommandError.problemsFound }
  }

  private func examine(_ name: String) throws -> RemoteCheckPrint {
    let bar = ProgressBar(readData ? .bytes : .items)
    return try access.withVaultAndKey(.reading) { vault, key in
      defer { bar.finish() }
      let known = try KnownRemote.find([name], vault: vault.id, key: key)[0]
      let report = try RemoteCheck(
        vault: vault, remote: known.open(), name: known.name, threadCount: known.threadCount,
        repairs: repair
      ).run(readsData: readData) { bar.update($0) }
      var printed = RemoteCheckPrint(remote: name, report: report, readData: readData)
      printed.name(NamedPath.load(of: vault))
      return printed
    }
  }

  /// What comes back may name more that is missing, which shows when the vault is opened again.
  private func mend(from name: String) throws {
    var total = 0
    for _ in 0..<Self.mendingRounds {
      let count = try access.withVaultAndKey(.writing) { vault, key in
        let known = try KnownRemote.find([name], vault: vault.id, key: key)[0]
        let bar = ProgressBar(.items)
        defer { bar.finish() }
        return try RemoteMending(vault: vault, remote: known.open())
          .run(readsData: readData) { bar.update($0) }.mended.count
      }
      total += count
      if count == 0 { break }
    }
    if total > 0 {
      Terminal.note("Took \(counted(total, "good copy", "good copies")) from \(name).")
    }
  }

  /// Heads name segments, these name records, and these name the rest.
  private static let mendingRounds = 4
}
