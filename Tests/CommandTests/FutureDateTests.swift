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

  /// Renames the record and back, as the program does on a machine whose clock says ten years more.
  private func editInTenYears(on machine: Machine) throws {
    let copy = try VaultCopy.find(
      in: FilePath(machine.vault), stateRoot: FilePath(machine.state).appending("kinvault"),
      clock: WallClock { WallClock.system.milliseconds() + 3652 * 86_400_000 })
    let key = try UnlockSlots(of: copy)
      .open(password: SecretBytes(copying: Array("correct horse battery".utf8))).takeKey()
    let vault = try Vault.open(copy, key: key)
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
}
