import SystemPackage
import TestSupport
import Testing

/// A machine's disk is put back to an earlier state, or copied: what its person is told of that.
@Suite struct PutBackCommandTests {
  private let desk: Machine
  private let twin: Machine
  private static let told =
    "This machine was put back to an earlier state, or copied. It goes on as desk-2"

  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    twin = Machine("twin", beside: program)
    try desk.run("device", "rename", "desk", expecting: 0)
    try desk.write("one", titled: "Before")
    let usb = program.folder.appending("usb").string
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  /// The other machine's disk becomes what this one's is.
  private func copy(_ one: Machine, to other: Machine) throws {
    let copied = try CommandRunner.run(
      "sh",
      [
        "-c", "set -e; rm -rf \"$3\" \"$4\"; cp -a \"$1\" \"$3\"; cp -a \"$2\" \"$4\"", "copy",
        one.vault, one.state, other.vault, other.state,
      ])
    try #require(copied.status == 0, "\(copied.errors)")
  }

  /// Both devices are listed, and the machine is the new one.
  private func expectTwoDevices(on machine: Machine) throws {
    let rows = try machine.run("device", "list", expecting: 0).output.split(separator: "\n")
    #expect(rows.count == 3, "\(rows)")
    #expect(rows[1].hasPrefix("desk-2 (this one)  "), "\(rows)")
    #expect(rows[2].hasPrefix("desk  "), "\(rows)")
    let json = try machine.run("device", "list", "--json", expecting: 0).output
    let devices = json.split(separator: "}").map(String.init)
    let (new, old) = (
      devices.filter { $0.contains("\"name\" : \"desk-2\"") },
      devices.filter { $0.contains("\"name\" : \"desk\"") }
    )
    #expect(new.count == 1 && old.count == 1, "\(json)")
    #expect(new.allSatisfy { $0.contains("\"isThisDevice\" : true") }, "\(json)")
    #expect(old.allSatisfy { $0.contains("\"isThisDevice\" : false") }, "\(json)")
    #expect((new + old).allSatisfy { $0.contains("\"isYours\" : true") }, "\(json)")
  }

  private func expectTitles(_ titles: [String], on machine: Machine) throws {
    let listed = try machine.run("record", "list", expecting: 0)
    for title in titles { #expect(listed.output.contains(title), "\(listed.output)") }
    // Told once.
    #expect(!listed.errors.contains("put back"), "\(listed.errors)")
  }

  @Test func aMachineThatWasPutBackIsToldByItsSync() throws {
    try copy(desk, to: twin)
    try desk.write("two", titled: "Lost")
    try desk.run("sync", expecting: 0)
    try copy(twin, to: desk)
    try desk.write("three", titled: "New")
    let synced = try desk.run("sync", expecting: 0)
    #expect(synced.output.contains(Self.told), "\(synced.output)\(synced.errors)")
    #expect(synced.output.contains("\u{201C}kinvault device list\u{201D} shows both"))
    try expectTitles(["Before", "Lost", "New"], on: desk)
    try expectTwoDevices(on: desk)
    let again = try desk.run("sync", expecting: 0)
    #expect(!(again.output + again.errors).contains("put back"), "\(again.output)")
    try desk.expectWhole()
  }

  /// Of two copies of one machine the one that meets the other's work goes on as a new device; the other one stays what
  /// it is, and hears of it.
  @Test func aMachineThatWasCopiedIsToldByItsSync() throws {
    try copy(desk, to: twin)
    try desk.write("two", titled: "Original")
    try twin.write("three", titled: "Copy")
    let first = try desk.run("sync", expecting: 0)
    #expect(!(first.output + first.errors).contains("put back"), "\(first.output)")
    let second = try twin.run("sync", expecting: 0)
    #expect(second.output.contains(Self.told), "\(second.output)\(second.errors)")
    let third = try desk.run("sync", expecting: 0)
    #expect(!(third.output + third.errors).contains("put back"), "\(third.output)")
    try expectTwoDevices(on: twin)
    let listed = try desk.run("device", "list", expecting: 0).output.split(separator: "\n")
    #expect(listed.count == 3 && listed[1].hasPrefix("desk (this one)  "), "\(listed)")
    #expect(listed.contains { $0.hasPrefix("desk-2  ") }, "\(listed)")
    for machine in [desk, twin] {
      try expectTitles(["Before", "Original", "Copy"], on: machine)
      try machine.expectWhole()
    }
  }

  /// Whoever follows one of the two is told of the other one, by the names of member and device, until both have met; and what
  /// to do if one of them is in somebody else's hands.
  @Test func whoFollowsOneOfThemSeesOfWhatTheOtherIs() throws {
    let program = desk.program
    let (usb, other) = (
      program.folder.appending("usb").string, program.folder.appending("2").string
    )
    let phone = Machine("phone", beside: program)
    try phone.clone(usb, "--name", "usb")
    try copy(desk, to: twin)
    try desk.write("two", titled: "Original")
    try desk.run("sync", expecting: 0)
    try phone.run("sync", expecting: 0)
    try twin.write("three", titled: "Copy")
    for machine in [twin, phone] { try machine.run("remote", "add", "two", other, expecting: 0) }
    try twin.run("sync", "two", expecting: 0)
    let synced = try phone.run("sync", "two", expecting: 1)
    try phone.run("unlock", expecting: 0)
    let status = try phone.run("status", expecting: 0)
    for told in [synced.output, status.output] {
      let line = told.split(separator: "\n").first { $0.contains("or copied") } ?? ""
      #expect(line.contains("members/\u{201C}Emma\u{201D}/heads/\u{201C}desk\u{201D}: "), "\(told)")
      #expect(line.contains("kinvault device revoke"), "\(told)")
    }
    // As soon as one of them has heard of the other nothing is told any more.
    try twin.run("sync", "usb", expecting: 0)
    try phone.run("sync", "usb", expecting: 0)
    try twin.run("sync", "two", expecting: 0)
    try phone.run("sync", "two", expecting: 0)
    let after = try phone.run("status", expecting: 0).output
    #expect(!after.contains("or copied"), "\(after)")
    try expectTitles(["Before", "Original", "Copy"], on: phone)
  }

  /// A machine's folder, and not its state, is put back to before it had written anything of a member.
  @Test func aFolderOfBeforeTheFirstWriteIsMendedByASync() throws {
    let folder = desk.program.folder
    let (phone, older) = (Machine("phone", beside: desk.program), folder.appending("older").string)
    try phone.clone(folder.appending("usb").string, "--name", "usb")
    try phone.run("member", "add", "Liam", expecting: 0)
    try replace(older, by: phone.vault)
    try phone.write("two", titled: "Second")
    try phone.run("sync", expecting: 0)
    try replace(phone.vault, by: older)
    let listed = try phone.run("record", "list", expecting: 1)
    #expect(listed.errors.contains("found in this vault"), "\(listed.errors)")
    #expect(listed.output.contains("Before") && !listed.output.contains("Second"))
    try phone.run("record", "list", "--member", "Emma", "--json", expecting: 1)
    try phone.run("record", "list", "--member", "Liam", expecting: 0)
    let found = try phone.run("search", "before", expecting: 1)
    #expect(found.output.contains("Before"), "\(found.output)")
    try phone.run(
      "record", "add", "--member", "Emma", "--title", "Third", "--note", "three", expecting: 5)
    let synced = try phone.run("sync", expecting: 0)
    #expect(synced.output.contains("The remote had it"), "\(synced.output)\(synced.errors)")
    try phone.write("three", titled: "Third")
    try expectTitles(["Before", "Second", "Third"], on: phone)
  }

  private func replace(_ folder: String, by other: String) throws {
    let copied = try CommandRunner.run(
      "sh", ["-c", "rm -rf \"$1\" && cp -a \"$2\" \"$1\"", "copy", folder, other])
    try #require(copied.status == 0, "\(copied.errors)")
  }
}
