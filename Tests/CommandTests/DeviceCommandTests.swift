import Glibc
import TestSupport
import Testing

/// Machines that come and go, and words that are replaced, as a person does it.
@Suite struct DeviceCommandTests {
  private let desk: Machine
  private let tablet: Machine
  private let usb: String

  /// A desk with one note, which has synced with a folder.
  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    tablet = Machine("tablet", beside: program)
    usb = program.folder.appending("usb").string
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  private func clone(
    to machine: Machine, expecting status: Int32, _ options: String...
  ) throws -> CommandResult {
    let result = try CommandRunner.run(
      "setsid",
      [
        "-w", Program.executable, "clone", usb, machine.vault, "--password-file",
        desk.program.passwordFile, "--name", "usb",
      ] + options, environment: machine.environment)
    #expect(result.status == status, "\(result.output)\(result.errors)")
    return result
  }

  /// Approves the tablet from the desk.
  private func addTablet() throws {
    let words = desk.program.folder.appending("eight").string
    let adding = try desk.start("device", "add", "--words-out", words, "--yes", "--wait", "3")
    for _ in 0..<200 where access(words, R_OK) != 0 { usleep(50_000) }
    // The words are written at once, but after the file is there.
    usleep(200_000)
    let cloned = try clone(
      to: tablet, expecting: 0, "--from-device", "--words-file", words, "--device", "tablet")
    #expect(cloned.errors.contains("This machine asks as "))
    #expect(cloned.output.contains("1 member with 2 records in"))
    let added = adding.wait()
    #expect(added.status == 0, "\(added.output)\(added.errors)")
    #expect(added.output.contains("tablet is a device of yours now."))
  }

  @Test func aMachineIsAddedWithoutTheWordsAndRemovedWithThem() throws {
    try addTablet()
    try tablet.write("two", titled: "From the tablet")
    try tablet.run("sync", expecting: 0)
    let new = try desk.run("device", "list", expecting: 0).output
    #expect(new.contains("(yours, not heard of yet)"))
    try desk.run("sync", expecting: 0)
    let listed = try desk.run("device", "list", expecting: 0).output
    #expect(listed.contains("tablet"))

    let own = try tablet.run("device", "revoke", "tablet", "--yes", expecting: 10)
    #expect(own.errors.contains("That is the device that you are sitting at."))
    try desk.run("device", "revoke", "phone", "--yes", expecting: 6)
    let unasked = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, expecting: 10)
    #expect(unasked.errors.contains("Remove tablet, written last 20"))
    let removed = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 0)
    #expect(removed.output.contains("tablet has been removed.\nEmma has been encrypted anew.\n"))
    #expect(removed.errors.contains("cannot be recalled"))
    #expect(try !desk.run("device", "list", expecting: 0).output.contains("tablet"))
    let records = try desk.run("record", "list", expecting: 0).output
    #expect(records.contains("Visit") && records.contains("From the tablet"))
    let check = try desk.run("check", "--read-data", expecting: 0).output
    #expect(check.contains("Checked 1 member") && check.contains("Everything is whole."))

    try tablet.write("three", titled: "Late")
    let told = try tablet.run("sync", expecting: 8)
    #expect(told.errors.contains("This device has been removed from the vault (20"))
    let closed = try tablet.run("record", "list", expecting: 8)
    #expect(closed.errors.contains("This device has been removed from the vault (20"))
    try desk.run("sync", expecting: 0)
    #expect(try !desk.run("record", "list", expecting: 0).output.contains("Late"))
    try desk.run("check", "--remote", "usb", "--read-data", expecting: 0)
  }

  @Test func newWordsTakeThePlaceOfTheOldOnes() throws {
    let (old, new) = (desk.program.wordsFile, desk.program.folder.appending("new words").string)
    let rotated = try desk.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new, "--yes", expecting: 0)
    #expect(rotated.output.contains("The new words count from now on. Destroy the old ones."))
    let dead = try desk.run("recovery", "test", "--words-file", old, expecting: 3)
    #expect(dead.errors.contains("These 24 words were replaced by newer ones"))
    try desk.run("recovery", "test", "--words-file", new, expecting: 0)
    let again = try desk.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new + "er", "--yes", expecting: 3)
    #expect(again.errors.contains("These 24 words were replaced by newer ones"))
    #expect(access(new + "er", F_OK) != 0)
    let refused = try clone(to: tablet, expecting: 3, "--words-file", old)
    #expect(refused.errors.contains("These 24 words were replaced by newer ones"))
    let taken = try clone(to: tablet, expecting: 0, "--words-file", new)
    #expect(taken.output.contains("1 member with 2 records in"))
  }

  @Test func wordsForAnotherVaultAreToldAtOnce() throws {
    let words = desk.program.folder.appending("eight").string
    // Well-formed, and of a person that begins with zeros.
    try desk.program.write(
      "abandon abandon abandon abandon abandon abandon abandon ability\n", to: words)
    let result = try clone(to: tablet, expecting: 3, "--from-device", "--words-file", words)
    #expect(!result.errors.contains("Waiting for the other device"))
  }
}
