import Foundation
import SystemPackage
import TestSupport
import Testing

/// What the page shows where something of the vault is damaged.
@Suite(.timeLimit(.minutes(60))) struct PageDamageTests {
  /// The objects of records, by the kind in their header.
  private func revisions(_ program: Program) throws -> Set<String> {
    let root = program.vault
    let files = try #require(FileManager.default.enumerator(atPath: root)).compactMap {
      $0 as? String
    }
    return Set(
      files.filter { name in
        guard name.contains("/objects/"),
          let head = FileManager.default.contents(atPath: "\(root)/\(name)")?.prefix(6)
        else { return false }
        return Array(head) == [0x4b, 0x56, 0x4f, 0x42, 2, 4]
      })
  }

  /// A record that cannot be read stays in the list and says so; it is not shown as one without files.
  @Test func theListSaysWhichRecordIsDamaged() throws {
    let program = try Program.withVault()
    try program.run("record", "add", "--member", "Emma", "--title", "Whole", expecting: 0)
    let before = try revisions(program)
    let scan = program.folder.appending("scan.txt").string
    try program.write("what the scan says", to: scan)
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Cut", "--attach", scan, expecting: 0)
    let added = try revisions(program).subtracting(before)
    #expect(added.count == 1)
    for name in added { try program.write("cut", to: "\(program.vault)/\(name)") }

    let page = try RunningPage(program)
    let visitor = try PageVisitor(page, in: program.folder.path)
    let rows = try visitor.get("/").body.split(separator: "<li ").dropFirst()
    let (cut, whole) = (rows.first { $0.contains("Cut") }, rows.first { $0.contains("Whole") })
    #expect(try #require(cut).contains("damaged"))
    #expect(try !#require(whole).contains("damaged"))
    page.command.signal(SIGTERM)
    #expect(try page.end() == 0)
  }
}
