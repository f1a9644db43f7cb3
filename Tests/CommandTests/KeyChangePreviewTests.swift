import Glibc
import MachineState
import SystemPackage
import TestSupport
import Testing
import VaultCrypto

@testable import Vault

/// What a person sees of their devices before they say yes: which stay, since when, and who approved them.
@Suite struct KeyChangePreviewTests {
  private let desk: Machine
  private let usb: String

  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    usb = program.folder.appending("usb").string
    try desk.run("device", "rename", "desk", expecting: 0)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  // MARK: The devices

  private static let phoneAge: UInt64 = 5 * 86_400_000

  /// A phone that the 24 words have made a device five days ago.
  ///
  /// - Returns: When that was, as the program shows it.
  private func addPhone() throws -> String {
    let phone = Machine("phone", beside: desk.program)
    let copied = try CommandRunner.run("cp", ["-a", desk.vault, phone.vault])
    try #require(copied.status == 0, "\(copied.errors)")
    let time = WallClock.system.milliseconds() - Self.phoneAge
    let words = String(decoding: try desk.program.read(desk.program.wordsFile), as: UTF8.self)
    _ = try Vault.recover(
      .find(
        in: FilePath(phone.vault), stateRoot: FilePath(phone.state).appending("kinvault"),
        clock: WallClock { time }),
      words: RecoveryWords(parsing: words),
      device: NewDevice(
        personName: "", deviceName: "phone", deviceKind: "Linux", passwordCost: .floor,
        recoveryCost: .floor),
      password: SecretBytes(copying: Array("correct horse battery".utf8)))
    try phone.run("remote", "add", "usb", usb, expecting: 0)
    try phone.run("sync", expecting: 0)
    return try Self.minute(time)
  }

  /// The time as the program shows it here.
  private static func minute(_ milliseconds: UInt64) throws -> String {
    let shown = try CommandRunner.run(
      "date", ["-u", "-d", "@\(milliseconds / 1000)", "+%F %H:%M"])
    return String(shown.output.prefix(16))
  }

  /// The desk approves a tablet, and that a laptop; the desk hears of both.
  private func addTabletAndLaptop() throws {
    let tablet = Machine("tablet", beside: desk.program)
    let laptop = Machine("laptop", beside: desk.program)
    try desk.approve(tablet, called: "tablet", from: usb)
    try tablet.approve(laptop, called: "laptop", from: usb)
    for machine in [laptop, tablet, desk] { try machine.run("sync", expecting: 0) }
  }

  /// The first digits of the ids of this person's devices, by their names.
  private func ids() throws -> [String: String] {
    let rows = try desk.run("device", "list", expecting: 0).output.split(separator: "\n")
    var ids: [String: String] = [:]
    for row in rows.dropFirst() {
      let cells = row.cells
      ids[cells[0].replacing(" (this one)", with: "")] = cells.last
    }
    return ids
  }

  /// The rows of what stays, which stand before the question.
  private func staying(_ text: String, before question: String) throws -> [[String]] {
    let lines = text.split(separator: "\n")
    let heading = try #require(lines.firstIndex { $0.hasPrefix("STAYS") }, "\(text)")
    #expect(lines[heading].cells == ["STAYS", "SINCE", "APPROVED BY", "ID"])
    let end = try #require(lines.firstIndex { $0.contains(question) }, "\(text)")
    #expect(heading < end, "\(text)")
    return lines[(heading + 1)..<end].map(\.cells).filter { $0.count == 4 }
  }

  // MARK: The previews

  @Test func everyDeviceThatStaysIsShownWithWhoApprovedItAndSinceWhen() throws {
    let before = try Self.minute(WallClock.system.milliseconds())
    let phoneTime = try addPhone()
    try addTabletAndLaptop()
    let after = try Self.minute(WallClock.system.milliseconds())
    let ids = try ids()
    try #require(ids.count == 4)

    let asked = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, expecting: 10)
    let rows = try staying(asked.errors, before: "Remove tablet")
    try #require(rows.count == 3, "\(asked.errors)")
    #expect(rows.map { $0[0] } == ["desk (this one)", "phone", "laptop"])
    #expect(rows.map { $0[2] } == ["the 24 words", "the 24 words", "tablet"])
    #expect(rows.map { $0[3] } == ["desk", "phone", "laptop"].map { ids[$0] })
    #expect(rows[1][1] == phoneTime)
    #expect(rows[2][1] >= before && rows[2][1] <= after, "\(rows)")
    let lines = asked.errors.split(separator: "\n")
    let deeds = try #require(lines.firstIndex { $0.hasPrefix("What tablet did") })
    #expect(lines[(deeds + 1)...].contains { $0.hasSuffix("  added the device laptop") })

    // A device that is gone is named all the same where it has approved one that stays.
    try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 0)
    let again = try desk.run(
      "device", "revoke", "phone", "--words-file", desk.program.wordsFile, expecting: 10)
    let left = try staying(again.errors, before: "Remove phone")
    #expect(left.map { $0[0] } == ["desk (this one)", "laptop"])
    #expect(left.map { $0[2] } == ["the 24 words", "tablet"])
  }

  @Test func newWordsShowEveryDeviceBeforeTheyCount() throws {
    let phoneTime = try addPhone()
    let tablet = Machine("tablet", beside: desk.program)
    try desk.approve(tablet, called: "tablet", from: usb)
    for machine in [tablet, desk] { try machine.run("sync", expecting: 0) }
    let ids = try ids()
    let rotating = try TerminalProgram(
      desk.program, "recovery", "rotate", "--words-file", desk.program.wordsFile,
      "--password-file", desk.program.passwordFile)
    try rotating.expect("Press Enter when they are on paper.")
    let rows = try staying(rotating.screen, before: "These 24 words open the vault")
    #expect(rows.map { $0[0] } == ["desk (this one)", "phone", "tablet"], "\(rotating.screen)")
    #expect(rows.map { $0[2] } == ["the 24 words", "the 24 words", "desk"])
    #expect(rows.map { $0[3] } == ["desk", "phone", "tablet"].map { ids[$0] })
    #expect(rows[1][1] == phoneTime)
    rotating.interrupt()
    #expect(rotating.end() != 0)
    try desk.run("recovery", "test", "--words-file", desk.program.wordsFile, expecting: 0)
  }

  /// Whoever approves a machine sees which one it is, by what that one shows too.
  @Test func aMachineThatAsksIsShownBeforeItIsAdded() throws {
    let tablet = Machine("tablet", beside: desk.program)
    let words = desk.program.folder.appending("eight").string
    let adding = try RunningCommand(
      "setsid",
      ["-w", Program.executable, "device", "add", "--words-out", words, "--wait", "3"],
      environment: desk.environment)
    Machine.waitForWords(in: words)
    let asking = try tablet.start(
      "clone", usb, tablet.vault, "--name", "usb", "--from-device", "--words-file", words,
      "--device", "tablet")
    let asked = adding.wait()
    #expect(asked.status == 10, "\(asked.output)\(asked.errors)")
    asking.signal(SIGTERM)
    let shown = asking.wait().errors
    let id = try #require(
      shown.firstMatch(of: /This machine asks as ((?:[0-9a-f]{4}-){3}[0-9a-f]{4})\./)?.1)
    #expect(
      asked.errors.contains(
        "tablet (\(id)) has the words and asks to be added. Does it show the same digits?"),
      "\(asked.errors)")
    #expect(try ids().count == 1)
  }
}
