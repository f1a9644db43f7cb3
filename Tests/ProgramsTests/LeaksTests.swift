import Places
import SystemPackage
import Testing

/// What real programs keep of a mount, and that nothing of it stays: tumbler on a D-Bus of its own, GLib's list of recently
/// used files, vim, nano, LibreOffice, plocate. `traces.sh` and `documents.py` have them leave it.
@Suite struct LeaksTests {
  private static let kinds = [
    "preview", "recently used file", "vim's swap file", "vim's history", "nano's history",
  ]

  /// What `traces.sh` leaves of the picture in the mount.
  private static let traces = [
    ".cache/thumbnails/large/*.png", ".local/share/nano/filepos_history",
    ".local/share/recently-used.xbel", ".viminfo", swapFile,
  ]
  private static let swapFile = "tmp/wrist.png.swp"

  /// But for vim's swap file, which has what somebody typed and never saved.
  @Test func unmountingLeavesNothingOfWhatRealProgramsKeep() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    let leaks = try desktop.leaks()
    for kind in Self.kinds { #expect(leaks.contains("\(kind)  "), "\(leaks)") }
    #expect(!leaks.contains(desktop.outside.string))
    let others = try desktop.files(naming: desktop.outside)
    #expect(others.count == 5, "\(others)")
    let mountpoint = desktop.vault.mountpoint
    let unmounted = try Command(
      [MountedVault.binary.string, "unmount", mountpoint.string],
      environment: desktop.vault.environment
    ).run()
    #expect(try desktop.vault.end() == 0)
    #expect(try desktop.traces(of: mountpoint) == [Self.swapFile])
    #expect(unmounted.errors.contains("never saved: vim's swap file of \(desktop.inMount)"))
    try desktop.vault.kinvault(["leaks", "--clean", "--vault", desktop.vault.vault.string])
    #expect(try desktop.leaks() == "Nothing is kept where Kinvault looks.\n")
    #expect(try desktop.files(naming: mountpoint) == [])
    #expect(try desktop.files(naming: desktop.outside) == others)
  }

  @Test func afterACrashTheNextMountCleans() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    try desktop.vault.killMount()
    #expect(try desktop.traces(of: desktop.vault.mountpoint) == Self.traces)
    try desktop.vault.mount()
    #expect(try desktop.traces(of: desktop.vault.mountpoint) == [Self.swapFile])
    #expect(desktop.vault.said.contains("never saved: vim's swap file"))
    #expect(try desktop.vault.unmount() == 0)
  }

  /// The signal that the session's end sends is an orderly end as well.
  @Test func theSignalOfTheSessionsEndCleans() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    try Command(["kill", "\(try #require(desktop.vault.processID))"]).succeed()
    #expect(try desktop.vault.end() == 0)
    #expect(try desktop.traces(of: desktop.vault.mountpoint) == [Self.swapFile])
  }

  @Test func whatIsToBeKeptStays() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    let mountpoint = desktop.vault.mountpoint
    try desktop.vault.kinvault(["unmount", mountpoint.string, "--keep-traces"])
    #expect(try desktop.vault.end() == 0)
    try desktop.vault.mount()
    #expect(try desktop.traces(of: mountpoint) == Self.traces)
    try desktop.vault.kinvault(["leaks", "--clean", "--vault", desktop.vault.vault.string])
    #expect(try desktop.files(naming: mountpoint) == [])
    #expect(try desktop.vault.unmount() == 0)
  }

  /// LibreOffice has its list in its settings, which stay.
  @Test func whatLibreOfficeOpenedGoes() throws {
    let desktop = try Desktop()
    for file in [desktop.textInMount, desktop.textOutside] {
      try Command(
        ["/usr/bin/python3", "-B", Desktop.file("documents.py").string, file.string],
        environment: desktop.vault.environment
      ).succeed()
    }
    #expect(try desktop.leaks().contains("LibreOffice's list  "))
    let others = try desktop.files(naming: desktop.textOutside)
    #expect(!others.isEmpty)
    #expect(try desktop.vault.unmount() == 0)
    #expect(try desktop.files(naming: desktop.vault.mountpoint) == [])
    #expect(try desktop.files(naming: desktop.textOutside) == others)
  }

  /// The line that Docs/Desktop.md has for updatedb.conf.
  @Test func plocateLeavesTheMountOutWhereItIsTold() throws {
    let desktop = try Desktop()
    func names(_ options: [String]) throws -> String {
      let database = desktop.home.appending("plocate.db").string
      let folder = desktop.vault.mountpoint.removingLastComponent().string
      try Command(
        ["updatedb", "--prunepaths", "", "-l", "0", "-U", folder, "-o", database] + options
      ).succeed()
      return try Command(["plocate", "-d", database, "wrist.png"]).run().output
    }
    #expect(try names([]).contains(desktop.inMount.string))
    #expect(!(try names(["--add-prunefs", "fuse.kinvault"])).contains(desktop.inMount.string))
    #expect(try desktop.vault.unmount() == 0)
  }
}
