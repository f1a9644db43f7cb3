import MachineState
import SystemPackage
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// A clock was ahead for a moment: wherever a person sees when something was written, its date is shown as one that cannot
/// be right.
@Suite struct FutureDateTests {
  private let program: Program
  private static let path = "Emma/Notes/2025-01-20 Visit"
  private static let ahead = ", by a clock that was ahead"

  init() throws {
    program = try Program.withVault()
    try Machine(first: program).write("one", titled: "Visit")
  }

  private func open(_ machine: Machine, clock: WallClock) throws -> Vault {
    try open(machine.vault, state: FilePath(machine.state), clock: clock)
  }

  private func open(_ folder: String, state: FilePath, clock: WallClock) throws -> Vault {
    let copy = try VaultCopy.find(
      in: FilePath(folder), stateRoot: state.appending("kinvault"), clock: clock)
    let key = try UnlockSlots(of: copy)
      .open(password: SecretBytes(copying: Array("correct horse battery".utf8))).takeKey()
    return try Vault.open(copy, key: key)
  }

  /// Renames the record and back, as the program does on a machine whose clock says ten years more.
  private func editInTenYears(on machine: Machine) throws {
    let vault = try open(
      machine, clock: WallClock { WallClock.system.milliseconds() + 3652 * 86_400_000 })
    let emma = try #require(vault.members.first)
    let visit = try #require(emma.allEntries().first { $0.title.string.contains("Visit") })
    let title = try #require(FileName("2025-01-20 Visit again"))
    let moved = RecordEdit(
      record: visit.record, place: RecordPlace(parent: visit.parent, title: title))
    let back = RecordEdit(
      record: visit.record, place: RecordPlace(parent: visit.parent, title: visit.title))
    for edit in [moved, back] { #expect(try emma.commit([edit]).failures.isEmpty) }
    try vault.close()
  }

  @Test func isShownAsOne() throws {
    let commands = [
      ["history", Self.path], ["record", "show", Self.path], ["restore", Self.path],
      ["member", "list"],
    ]
    func said(_ command: [String]) throws -> String {
      let result = try CommandRunner.run(
        "setsid", ["-w", Program.executable] + command, environment: program.environment)
      return result.output + result.errors
    }
    for command in commands { #expect(try !said(command).contains(Self.ahead), "\(command)") }
    try editInTenYears(on: Machine(first: program))
    for command in commands {
      let text = try said(command)
      let lines = text.split(separator: "\n").filter { $0.contains(Self.ahead) }
      #expect(!lines.isEmpty, "\(command): \(text)")
      #expect(lines.allSatisfy { $0.contains("dated 20") }, "\(command): \(text)")
    }
    // What was written before is dated as ever.
    let history = try said(["history", Self.path]).split(separator: "\n")
    #expect(history.contains { $0.contains("created") && !$0.contains(Self.ahead) }, "\(history)")
  }

  /// A program gives a file any time that it likes, and another person's may say any as well.
  @Test func aFileWhoseTimeIsInNoCalendarIsShown() throws {
    let machine = Machine(first: program)
    let vault = try open(machine, clock: .system)
    let emma = try #require(vault.members.first)
    let visit = try #require(emma.allEntries().first { $0.title.string.contains("Visit") })
    var edit = RecordEdit(record: visit.record)
    for (text, seconds) in [("scan", Int64.max), ("older", Int64.min)] {
      let name = try #require(FileName(text))
      edit.items[name] = Item(
        name: name, file: .random(),
        modified: FileTimestamp(seconds: seconds, nanoseconds: 999_999_999), time: .zero)
    }
    #expect(try emma.commit([edit]).failures.isEmpty)
    try vault.close()
    let shown = try machine.run("record", "show", Self.path, "--json", expecting: 0).output
    #expect(shown.contains("9999-12-31T23:59:59.999Z"), "\(shown)")
    try machine.run("record", "show", Self.path, expecting: 0)
  }

  /// Machines are called as their system calls them, which for two of them may be the same.
  @Test func twoMachinesOfOneNameAreBothAhead() throws {
    let (desk, usb) = (Machine(first: program), program.folder.appending("usb").string)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    for name in ["one", "two"] {
      let laptop = Machine(name, beside: program)
      try laptop.clone(usb)
      try editInTenYears(on: laptop)
      try laptop.run("sync", expecting: 0)
    }
    try desk.run("sync", expecting: 0)
    try desk.run("unlock", expecting: 0)
    let status = try desk.run("status", expecting: 0).output
    try desk.run("lock", expecting: 0)
    #expect(status.contains("laptop writes 3651 days ahead of this machine"), "\(status)")
  }

  @Test func anothersMachineIsToldByWhoseItIs() throws {
    let two = try TwoPeople()
    let anna = Machine(first: two.anna)
    try anna.write("one", titled: "Visit")
    try anna.run("people", "list", expecting: 0)
    try anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    let vault = try open(
      anna.vault, state: two.anna.folder.appending("ben's state"),
      clock: WallClock { WallClock.system.milliseconds() + 3652 * 86_400_000 })
    let emma = try #require(vault.members.first)
    let visit = try #require(emma.allEntries().first { $0.title.string.contains("Visit") })
    let name = try #require(FileName("scan"))
    var edit = RecordEdit(record: visit.record)
    edit.items[name] = Item(name: name, file: .random(), time: .zero)
    #expect(try emma.commit([edit]).failures.isEmpty)
    try vault.close()
    try anna.run("unlock", expecting: 0)
    let status = try anna.run("status", expecting: 0).output
    try anna.run("lock", expecting: 0)
    #expect(status.contains("A device of Ben writes 3651 days ahead"), "\(status)")
  }
}
