import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a check tells a person to do.
@Suite struct CheckCommandTests {
  private let desk: Machine
  private let usb: String

  init() throws {
    desk = Machine(first: try Program.withVault())
    usb = desk.program.folder.appending("usb").string
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  @Test func adviceNamesTheRemote() throws {
    let found = try CommandRunner.run(
      "sh", ["-c", "find . -path '*/objects/*' -type f | sort | head -n 1"],
      folder: FilePath(usb))
    let object = try #require(found.output.split(separator: "\n").first)
    try #require(unlink("\(usb)/\(object)") == 0)
    let there = try desk.run("check", "--remote", "usb", expecting: 1).output
    #expect(there.contains("kinvault check --repair --remote usb"), "\(there)")
    try #require(unlink("\(desk.vault)/\(object)") == 0)
    let here = try desk.run("check", expecting: 1).output
    #expect(here.contains("kinvault check --repair --remote usb\n"), "\(here)")
    let other = desk.program.folder.appending("other").string
    try desk.run("remote", "add", "disk", other, expecting: 0)
    let both = try desk.run("check", expecting: 1).output
    #expect(both.contains("kinvault check --repair --remote disk (or usb)\n"), "\(both)")
  }

  /// Nothing but this machine's memory says that anything is gone.
  @Test func theLostHeadOfAnotherDeviceIsNamed() throws {
    let phone = Machine("phone", beside: desk.program)
    try phone.clone(usb, "--name", "usb")
    let before = try heads()
    try phone.write("two", titled: "Of the phone")
    try phone.run("sync", expecting: 0)
    try desk.run("sync", expecting: 0)
    let new = try heads().subtracting(before)
    let head = try #require(new.first)
    try #require(new.count == 1 && unlink("\(desk.vault)/\(head)") == 0)
    let check = try desk.run("check", expecting: 1).output
    #expect(check.contains("Emma\n") && check.contains("encrypted file: \(head)"), "\(check)")
    #expect(check.contains("brings it: kinvault sync"), "\(check)")
    #expect(check.contains("kinvault check --repair --remote usb"), "\(check)")
    #expect(!check.contains("kinvault collect"), "\(check)")
    // What it names is nobody's garbage.
    let collected = try desk.run("collect", "--keep-days", "0", "--yes").output
    #expect(collected.contains("Emma: skipped"), "\(collected)")
    try desk.run("sync", expecting: 0)
    #expect(try desk.run("record", "list", expecting: 0).output.contains("Of the phone"))
    try desk.expectWhole()
  }

  /// The files of heads in the desk's folder.
  private func heads() throws -> Set<String> {
    let found = try CommandRunner.run(
      "sh", ["-c", "find members -path '*/heads/*' -type f"], folder: FilePath(desk.vault))
    return Set(found.output.split(separator: "\n").map(String.init))
  }

  @Test func aVaultWithoutItsDescriptionIsToldWhereToGetIt() throws {
    let description = "\(desk.vault)/vault.json"
    let copy = "\(usb)/vault.json"
    let whole = try desk.program.read(description)
    #expect(try desk.program.read(copy) == whole)
    try desk.program.write("", to: description)
    let emptied = try desk.run("check", expecting: 5).errors
    #expect(emptied.contains("is damaged"), "\(emptied)")
    #expect(emptied.contains("Copy it here from a remote"), "\(emptied)")
    #expect(!emptied.contains("kinvault check"), "\(emptied)")
    try #require(unlink(description) == 0)
    let lost = try desk.run("record", "list", expecting: 6).errors
    #expect(lost.contains("has lost its vault.json"), "\(lost)")
    #expect(lost.contains("Copy it here from a remote"), "\(lost)")
    #expect(!lost.contains("kinvault init"), "\(lost)")
    try desk.program.write(whole, to: description)
    try desk.run("check", expecting: 0)
  }
}
