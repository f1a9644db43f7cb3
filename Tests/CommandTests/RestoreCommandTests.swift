import Glibc
import SystemPackage
import TestSupport
import Testing

/// What was there before comes back: an older revision, a deleted record, a file.
@Suite struct RestoreCommandTests {
  private let path = "Emma/Vaccines/2025-01-20 COVID-19"

  @Test func anOlderRevisionComesBackOnlyWhenConfirmed() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    try program.run(
      "record", "edit", path, environment: ["EDITOR": "sed -i s/No/Some/"], expecting: 0)
    let history = try program.run("history", path).output.split(separator: "\n")
    let first = String(try #require(history.last?.prefix(8)))
    let told = try program.run("restore", path, expecting: 2).errors
    #expect(told.contains("kinvault history '\(path)'"))
    #expect(told.contains("kinvault restore '\(path)' --revision \(first)"))
    try program.run("restore", path, "--revision", first, expecting: 10)
    try program.run("restore", path, "--revision", first, "--yes", expecting: 0)
    #expect(try program.run("record", "show", path).output.contains("No fever"))
    try program.run("restore", path, "--revision", "00000000", "--yes", expecting: 6)
  }

  @Test func aFileThatIsThereComesBackByTheCommandThatIsTold() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let (card, file) = (program.folder.appending("card.jpg").string, "\(path)/card.jpg")
    let history = try program.run("history", path).output.split(separator: "\n")
    let first = String(try #require(history.last?.prefix(8)))
    let alone = try program.run("restore", file, expecting: 2).errors
    #expect(alone.contains("No older revision of it is kept."))
    try program.write("another", to: card)
    try program.run("attach", path, card, "--replace", expecting: 0)
    let told = try program.run("restore", file, expecting: 2).errors
    #expect(told.contains("kinvault history '\(file)'"), "\(told)")
    #expect(told.contains("kinvault restore '\(file)' --revision \(first)"), "\(told)")
    try program.run("history", file, expecting: 0)
    try program.run("restore", file, "--revision", first, "--yes", expecting: 0)
    #expect(try program.run("record", "show", path).output.contains("card.jpg  3.0 MB"))
  }

  /// A record is deleted, and made anew.
  @Test func aDeletedRecordWhosePlaceIsTakenIsNamedAndComesBack() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let mountpoint = program.folder.appending("mounted").string
    try program.run("mount", mountpoint, expecting: 0)
    let removed = try CommandRunner.run("rm", ["-r", "\(mountpoint)/\(path)"])
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(removed.status == 0, "\(removed.errors)")
    try program.run(
      "record", "add", "--member", "Emma", "--type", "vaccine", "--title", "COVID-19", "--date",
      "2025-01-20", expecting: 0)
    let told = try program.run("restore", path, expecting: 2).errors
    let command = try #require(
      told.firstRange(of: "renamed or moved:\n  kinvault restore "), "\(told)")
    let id = String(told[command.upperBound...].prefix(8))
    let taken = try program.run("restore", id, expecting: 11).errors
    #expect(taken.contains("rename or move that first"), "\(taken)")
    try program.run("mount", mountpoint, expecting: 0)
    let renamed = try CommandRunner.run(
      "mv", ["\(mountpoint)/\(path)", "\(mountpoint)/\(path) again"])
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(renamed.status == 0, "\(renamed.errors)")
    try program.run("restore", id, expecting: 0)
    #expect(try program.run("record", "show", path).output.contains("No fever"))
  }

  /// A part of what one of two records had is gone when their folder comes back.
  @Test func whatCannotComeBackIsNamedAndComesLater() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    try program.run(
      "record", "add", "--member", "Emma", "--type", "vaccine", "--title", "Polio", "--date",
      "2025-02-20", expecting: 0)
    let mountpoint = program.folder.appending("mounted").string
    try program.run("mount", mountpoint, expecting: 0)
    let removed = try CommandRunner.run("rm", ["-r", "\(mountpoint)/Emma/Vaccines"])
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(removed.status == 0, "\(removed.errors)")
    let chunks = try CommandRunner.run(
      "find", ["\(program.vault)/members", "-path", "*/objects/*", "-size", "+900k"])
    let chunk = try #require(chunks.output.split(separator: "\n").first.map(String.init))
    let aside = program.folder.appending("chunk").string
    try #require(rename(chunk, aside) == 0)
    let told = try program.run("restore", "Emma/Vaccines", expecting: 5)
    #expect(told.output.contains("Restored Emma/Vaccines and 1 record with it."))
    #expect(told.errors.contains("\(path) was not restored, nor what was in it."))
    try program.run("record", "show", "Emma/Vaccines/2025-02-20 Polio", expecting: 0)
    try program.run("record", "show", path, expecting: 6)
    let still = try program.run("restore", "Emma/Vaccines", expecting: 5).output
    #expect(still.contains("Nothing that is still deleted in Emma/Vaccines can be read yet."))
    try #require(rename(aside, chunk) == 0)
    let again = try program.run("restore", "Emma/Vaccines", expecting: 0)
    #expect(again.output.contains("Restored 1 record in Emma/Vaccines."))
    #expect(try program.run("record", "show", path).output.contains("card.jpg  3.0 MB"))
    try program.run("restore", "Emma/Vaccines", expecting: 2)
  }
}

extension Program {
  /// A record of Emma's with a file of 3 MB.
  func addVaccine() throws {
    try write(
      Array(repeating: 7, count: 3_000_000), to: folder.appending("card.jpg").string)
    try run(
      "record", "add", "--vault", vault, "--member", "Emma", "--type", "vaccine",
      "--title", "COVID-19", "--date", "2025-01-20", "--field", "lot=AB123", "--note",
      "No fever", "--attach", folder.appending("card.jpg").string, expecting: 0)
  }
}
