import Glibc
import SystemPackage
import TestSupport
import Testing

/// What `record list` says where it lists nothing.
@Suite struct RecordListTests {
  @Test func foldersWithoutATypeAreHintedAt() throws {
    let program = try Program.withVault()
    func list(_ options: String...) throws -> String {
      try program.run(["record", "list"] + options).output
    }
    #expect(try list() == "No records to show.\n")
    try program.run("attach", "Emma", program.writeFolder("Letters", "a.txt"), expecting: 0)
    let one = try list()
    #expect(one.contains("There is a folder without type and date: kinvault record list --all"))
    #expect(try list("--all").contains("Letters"))
    // Where that would not show them either, nothing is said of it.
    #expect(try list("--type", "vaccine") == "No records to show.\n")
    #expect(try list("--since", "2024") == "No records to show.\n")
    #expect(try list("--deleted") == "No records to show.\n")
    #expect(try !list("--json").contains("--all"))
    try program.run("attach", "Emma", program.writeFolder("Photos", "b.txt"), expecting: 0)
    #expect(try list().contains("There are 2 folders without type and date"))
    try program.run(
      "record", "add", "--member", "Emma", "--type", "note", "--title", "Visit", expecting: 0)
    #expect(try !list().contains("--all"))
  }
}

extension Program {
  /// A new plain folder with a file in it.
  fileprivate func writeFolder(_ name: String, _ file: String) throws -> String {
    let path = folder.appending(name).string
    try #require(mkdir(path, 0o700) == 0)
    try write("text", to: "\(path)/\(file)")
    return path
  }
}
