import Places
import SystemPackage
import Testing

/// What real programs keep of a mount, and that nothing of it stays: tumbler on a D-Bus of its own, GLib's list of recently
/// used files, vim, plocate. `traces.sh` has them leave it.
@Suite(.serialized) struct LeaksTests {
  private static let script = FilePath(#filePath).removingLastComponent().appending("traces.sh")

  /// A mounted vault with a home of its own.
  private struct Desktop {
    let home: FilePath
    let vault: MountedVault
    let inMount: FilePath
    let outside: FilePath

    init() throws {
      home = try TestFolder.shared.fresh("home")
      var environment = ["HOME": home.string]
      for (name, folder) in [
        "XDG_CACHE_HOME": ".cache", "XDG_DATA_HOME": ".local/share", "XDG_CONFIG_HOME": ".config",
      ] { environment[name] = home.appending(folder).string }
      vault = try MountedVault(members: ["Emma"], environment: environment)
      inMount = vault.member.appending("wrist.png")
      outside = try TestFolder.shared.fresh("outside").appending("cat.png")
      for picture in [inMount, outside] {
        try Command(["convert", "-size", "400x300", "plasma:", picture.string]).succeed()
      }
    }

    func useRealPrograms() throws {
      try Command(
        [
          "dbus-run-session", "--", "bash", LeaksTests.script.string, inMount.string,
          outside.string,
        ], environment: vault.environment
      ).succeed()
    }

    func leaks() throws -> String {
      try vault.kinvault(["leaks", "--vault", vault.vault.string])
    }

    /// The files of the home that name a path, but for the state of Kinvault, which lies elsewhere.
    func files(naming path: FilePath) throws -> [String] {
      let found = try Command(["grep", "-rlaF", "--", path.string, home.string]).run()
      return found.output.split(separator: "\n").map(String.init).sorted()
    }
  }

  private static let kinds = [
    "preview", "recently used file", "vim's swap file", "vim's history",
  ]

  @Test func unmountingLeavesNothingOfWhatRealProgramsKeep() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    let leaks = try desktop.leaks()
    for kind in Self.kinds { #expect(leaks.contains("\(kind)  "), "\(leaks)") }
    #expect(!leaks.contains(desktop.outside.string))
    let others = try desktop.files(naming: desktop.outside)
    #expect(others.count == 4)
    #expect(try desktop.vault.unmount() == 0)
    #expect(try desktop.leaks() == "Nothing is kept where Kinvault looks.\n")
    #expect(try desktop.files(naming: desktop.vault.mountpoint) == [])
    #expect(try desktop.files(naming: desktop.outside) == others)
  }

  @Test func afterACrashTheNextMountCleans() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    try desktop.vault.killMount()
    #expect(try desktop.files(naming: desktop.vault.mountpoint).count == 4)
    try desktop.vault.mount()
    #expect(try desktop.files(naming: desktop.vault.mountpoint) == [])
    #expect(try desktop.vault.unmount() == 0)
  }

  /// The signal that the session's end sends is an orderly end as well.
  @Test func theSignalOfTheSessionsEndCleans() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    try Command(["kill", "\(try #require(desktop.vault.processID))"]).succeed()
    #expect(try desktop.vault.end() == 0)
    #expect(try desktop.files(naming: desktop.vault.mountpoint) == [])
  }

  @Test func whatIsToBeKeptStays() throws {
    let desktop = try Desktop()
    try desktop.useRealPrograms()
    let mountpoint = desktop.vault.mountpoint
    try desktop.vault.kinvault(["unmount", mountpoint.string, "--keep-traces"])
    #expect(try desktop.vault.end() == 0)
    try desktop.vault.mount()
    #expect(try desktop.files(naming: mountpoint).count == 4)
    try desktop.vault.kinvault(["leaks", "--clean", "--vault", desktop.vault.vault.string])
    #expect(try desktop.files(naming: mountpoint) == [])
    #expect(try desktop.vault.unmount() == 0)
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
