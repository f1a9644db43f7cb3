import Glibc
import TestSupport
import Testing

/// A clone that is cut short: what is here then looks like a vault in which nothing is.
@Suite struct CloneCommandTests {
  private static let warning = "Not all of the vault has come from usb yet"
  private let desk: Machine
  private let laptop: Machine
  private let usb: String

  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    laptop = Machine("laptop", beside: program)
    usb = program.folder.appending("usb").string
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  @discardableResult
  private func clone(
    isLazy: Bool = false, _ options: String..., expecting status: Int32?
  ) throws -> CommandResult {
    try laptop.run(
      [
        "clone", usb, laptop.vault, "--name", "usb", "--words-file", desk.program.wordsFile,
        "--password-file", desk.program.passwordFile, "--device", "laptop",
      ] + options + (isLazy ? ["--lazy"] : []), expecting: status)
  }

  /// A folder stands where the machine is to remember what it has seen of the remote, or something else.
  private func cloneCutShort(
    at place: String = "remotes/usb.state", isLazy: Bool = false, expecting status: Int32? = 5
  ) throws -> CommandResult {
    let found = try CommandRunner.run(
      "find", [desk.state, "-maxdepth", "3", "-name", "device", "-printf", "%h"])
    let state = found.output.replacing(desk.state, with: laptop.state)
    let blocked = "\(state)/\(place)"
    let made = try CommandRunner.run("sh", ["-c", "umask 077; mkdir -p \"$1\"", "", blocked])
    try #require(made.status == 0, "\(made.errors)")
    let told = try clone(isLazy: isLazy, expecting: status)
    try #require(rmdir(blocked) == 0)
    return told
  }

  @Test func whatHasNotComeIsToldUntilASyncHasBroughtIt() throws {
    let told = try cloneCutShort().errors
    #expect(told.contains("Not all of the vault has come"), "\(told)")
    #expect(told.contains("kinvault sync --vault"), "\(told)")
    #expect(try laptop.run("record", "list", expecting: 1).errors.contains(Self.warning))
    #expect(try laptop.run("search", "visit", expecting: 1).errors.contains(Self.warning))
    #expect(try laptop.run("member", "list", expecting: 0).errors.contains(Self.warning))
    #expect(try laptop.run("check", expecting: 1).output.contains(Self.warning))
    #expect(try laptop.run("status", expecting: 0).output.contains(Self.warning))
    try laptop.run("sync", expecting: 0)
    try expectAll()
  }

  /// With the words once more, which would else make it another device.
  @Test func theSameCommandGoesOnAsTheSameDevice() throws {
    _ = try cloneCutShort()
    try clone(expecting: 0)
    try expectAll()
    try expectOneDevice()
  }

  /// A script says yes beforehand to what the first time has nothing to ask.
  @Test func theSameCommandGoesOnAsTheSameDeviceWithYesAsWell() throws {
    _ = try cloneCutShort()
    try clone("--yes", expecting: 0)
    try expectAll()
    try expectOneDevice()
    // Of one that has come whole the words make a new device.
    try clone("--yes", expecting: 0)
    let devices = try laptop.run("device", "list", expecting: 0).output.split(separator: "\n")
    #expect(devices.count { $0.contains("laptop") } == 2, "\(devices)")
  }

  /// This machine is a device, and nothing else has come about.
  @Test func whatIsCutShortAtOnceGoesOnAsTheSameDevice() throws {
    let told = try cloneCutShort(at: "lazy", isLazy: true, expecting: nil)
    #expect(told.status != 0)
    try clone(isLazy: true, expecting: 0)
    try expectAll()
    try expectOneDevice()
  }

  /// The words would have made this machine another device by then.
  @Test func aNameThatIsTakenIsRefusedBeforeAnythingIsDone() throws {
    try clone(expecting: 0)
    let disk = desk.program.folder.appending("disk").string
    try desk.run("remote", "add", "disk", disk, expecting: 0)
    try desk.run("sync", expecting: 0)
    let folder = desk.program.folder.appending("another").string
    let refused = try laptop.run(
      "clone", disk, folder, "--name", "usb", "--yes", "--words-file", desk.program.wordsFile,
      "--password-file", desk.program.passwordFile, "--device", "laptop", expecting: 11)
    #expect(refused.errors.contains("at another address"), "\(refused.errors)")
    #expect(access(folder, F_OK) != 0)
    try laptop.run("sync", expecting: 0)
    try expectAll()
    try expectOneDevice()
  }

  private func expectOneDevice() throws {
    let devices = try laptop.run("device", "list", expecting: 0).output.split(separator: "\n")
    #expect(devices.count { $0.contains("laptop") } == 1, "\(devices)")
  }

  @Test(.enabled(if: geteuid() == 0, "NOT TESTED: only root may mount a small disk"))
  func whereThereIsNoRoomItSaysHowToGoOn() throws {
    try desk.attach("scan.jpg", byteCount: 3_000_000, to: "Emma/Notes/2025-01-20 Visit")
    try desk.run("sync", expecting: 0)
    #expect(mkdir(laptop.vault, 0o700) == 0)
    let mounted = try CommandRunner.run(
      "mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "kinvault-test", laptop.vault])
    try #require(mounted.status == 0, "\(mounted.errors)")
    defer { _ = try? CommandRunner.run("umount", ["-l", laptop.vault]) }
    let told = try clone(expecting: 7).errors
    #expect(told.contains("There is no room for all of the vault"), "\(told)")
    #expect(told.contains("kinvault sync --vault") && !told.contains("collect"), "\(told)")
    #expect(try laptop.run("record", "list", expecting: 1).errors.contains(Self.warning))
    let larger = try CommandRunner.run("mount", ["-o", "remount,size=64m", laptop.vault])
    try #require(larger.status == 0, "\(larger.errors)")
    try laptop.run("sync", expecting: 0)
    try expectAll()
  }

  private func expectAll() throws {
    let list = try laptop.run("record", "list", expecting: 0)
    #expect(list.output.contains("Visit") && !list.errors.contains(Self.warning), "\(list)")
    #expect(try !laptop.run("status", expecting: 0).output.contains(Self.warning))
    try laptop.run("check", expecting: 0)
  }
}
