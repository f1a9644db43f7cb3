import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Conflicts in one of two members that are called the same.
@Suite struct NamesakeConflictTests {
  private struct MemberRow: Decodable {
    var name: String
    var shownName: String
  }

  private struct RecordRow: Decodable {
    var id: String
    var path: String
  }

  private struct ConflictRow: Decodable {
    var record: String
    var copy: String
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ result: CommandResult) throws -> Value
  {
    try JSONDecoder().decode(type, from: Data(result.standardOutput))
  }

  /// Two machines have each made a member of the name, and have met.
  private func machines() throws -> (desk: Machine, laptop: Machine) {
    let program = try Program.withVault()
    let (desk, laptop) = (Machine(first: program), Machine("laptop", beside: program))
    let usb = program.folder.appending("usb").string
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb)
    for machine in [desk, laptop] { try machine.run("member", "add", "Mia", expecting: 0) }
    for machine in [desk, laptop, desk] { try machine.run("sync", expecting: 0) }
    return (desk, laptop)
  }

  @Test func whereTheyAreIsSaidAsTheMountShowsIt() throws {
    let (desk, laptop) = try machines()
    let members = try decode(
      [MemberRow].self, desk.run("member", "list", "--json", expecting: 0))
    let second = try #require(members.first { $0.name == "Mia" && $0.shownName != "Mia" })
    let added = try decode(
      RecordRow.self,
      desk.run(
        "record", "add", "--member", second.shownName, "--title", "Visit", "--date", "2025-01-20",
        "--note", "one", "--json", expecting: 0))
    #expect(added.path.hasPrefix("\(second.shownName)/"), "\(added.path)")
    for machine in [desk, laptop] { try machine.run("sync", expecting: 0) }
    try desk.replace("one", by: "desk", in: added.id)
    usleep(1_100_000)
    try laptop.replace("one", by: "laptop", in: added.id)
    for machine in [desk, laptop, desk] { try machine.run("sync", expecting: 0) }

    let list = try desk.run("conflicts", "list", expecting: 0).output
    #expect(list.contains(" \(added.path) "), "\(list)")
    let rows = try decode(
      [ConflictRow].self, desk.run("conflicts", "list", "--json", expecting: 0))
    let row = try #require(rows.first)
    #expect(row.record == added.path)
    for path in [row.record, row.copy] {
      try desk.run("record", "show", path, expecting: 0)
    }
    let shown = try desk.run("conflicts", "show", row.copy, expecting: 0).output
    #expect(shown.contains(added.path), "\(shown)")
    let decided = try desk.run("conflicts", "resolve", row.copy, "--take-back", expecting: 0)
    #expect(decided.output == "\(added.path) has this version's files again.\n")
  }
}
