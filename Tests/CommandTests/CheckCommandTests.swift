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
}
