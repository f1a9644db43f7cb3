import ArgumentParser
import Vault

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
      """)

  @Flag(help: "Read and verify every byte.") var readData = false

  @Flag(help: "Rebuild lost lists of records from the records themselves, then check.")
  var repair = false

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let bar = ProgressBar(readData ? .bytes : .items)
    let (repairs, report) = try access.withVault(repair ? .writing : .reading) { vault in
      defer { bar.finish() }
      let repairs = repair ? try vault.repair(progress: { bar.update($0) }) : []
      let report = try vault.check(readsData: readData, progress: { bar.update($0) })
      return (repairs, report)
    }
    let printed = CheckPrint(report: report, repairs: repairs, readData: readData)
    if json { try JSONOutput.print(printed) } else { printed.print() }
    if report.problems.contains(where: { $0.severity > .note }) {
      throw CommandError.problemsFound
    }
  }
}

extension ProgressBar {
  func update(_ progress: WorkProgress) {
    update(progress.label, done: progress.done, total: progress.total)
  }
}
