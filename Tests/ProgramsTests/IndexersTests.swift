import Places
import SystemPackage
import Testing

/// What real file indexers keep of a mount: which of them look into it, what has them leave it out, and that nothing of
/// it stays.
@Suite struct IndexersTests {
  /// Has Tracker index these folders, and what is in them, until it finds the words.
  private static func track(
    _ folders: [FilePath], _ words: [String], ignoring ignored: String = "",
    on desktop: Desktop
  ) throws {
    let list = folders.map { "'\($0)'" }.joined(separator: ", ")
    let settings = desktop.home.appending(".config/glib-2.0/settings")
    try Command(["mkdir", "-p", settings.string]).succeed()
    try settings.appending("keyfile").write(
      """
      [org/freedesktop/tracker/miner/files]
      index-recursive-directories=[\(list)]
      index-single-directories=@as []
      index-applications=false
      \(ignored)

      """)
    try Command(
      ["dbus-run-session", "--", "bash", Desktop.file("tracker.sh").string] + words,
      environment: desktop.vault.environment
    ).succeed()
  }

  private static func recoll(_ settings: String..., on desktop: Desktop) throws {
    let folder = desktop.home.appending(".recoll")
    try Command(["mkdir", "-p", folder.string]).succeed()
    try folder.appending("recoll.conf").write(settings.map { $0 + "\n" }.joined())
    try Command(["recollindex"], environment: desktop.vault.environment).succeed()
  }

  /// Whoever has Tracker look into the mount itself finds everything, until it is unmounted.
  @Test func unmountingRemovesTheIndexOfTracker() throws {
    let desktop = try Desktop()
    try Self.track(
      [desktop.vault.mountpoint, desktop.outside.removingLastComponent()],
      [Desktop.wordInMount, Desktop.wordOutside], on: desktop)
    let mountpoint = desktop.vault.mountpoint
    #expect(try !desktop.files(with: Desktop.wordInMount).isEmpty)
    let leaks = try desktop.leaks()
    #expect(leaks.contains("file index  \(mountpoint)") && leaks.contains("tracker3"), "\(leaks)")
    #expect(try desktop.vault.unmount() == 0)
    #expect(try desktop.files(with: Desktop.wordInMount) == [])
    #expect(try desktop.leaks() == "Nothing is kept where Kinvault looks.\n")
    // Its settings name the mountpoint, and are none of ours.
    #expect(try desktop.files(naming: desktop.textInMount) == [])
    // It goes on with what is left.
    try Self.track(
      [mountpoint, desktop.outside.removingLastComponent()], [Desktop.wordOutside], on: desktop)
  }

  @Test func trackerLeavesAMountInAnIndexedFolderOut() throws {
    let desktop = try Desktop()
    let above = desktop.vault.mountpoint.removingLastComponent()
    try Self.track(
      [above, desktop.outside.removingLastComponent()], [Desktop.wordOutside], on: desktop)
    #expect(try desktop.files(naming: desktop.vault.member) == [])
    #expect(try desktop.files(with: Desktop.wordInMount) == [])
    #expect(try desktop.leaks() == "Nothing is kept where Kinvault looks.\n")
    #expect(try desktop.vault.unmount() == 0)
    #expect(try !desktop.files(with: Desktop.wordOutside).isEmpty)
  }

  /// The setting that Docs/Desktop.md has for Tracker.
  @Test func trackerLeavesTheMountOutWhereItIsTold() throws {
    let desktop = try Desktop()
    try Self.track(
      [desktop.vault.mountpoint, desktop.outside.removingLastComponent()], [Desktop.wordOutside],
      ignoring: "ignored-directories=['po', 'CVS', '\(desktop.vault.mountpoint)']", on: desktop)
    #expect(try desktop.files(naming: desktop.vault.member) == [])
    #expect(try desktop.files(with: Desktop.wordInMount) == [])
    #expect(try desktop.vault.unmount() == 0)
  }

  @Test func unmountingRemovesTheIndexOfRecoll() throws {
    let desktop = try Desktop()
    let mountpoint = desktop.vault.mountpoint
    try Self.recoll("topdirs = \(mountpoint.removingLastComponent())", on: desktop)
    #expect(try !desktop.files(with: Desktop.wordInMount).isEmpty)
    let leaks = try desktop.leaks()
    #expect(leaks.contains("file index  \(mountpoint)") && leaks.contains("recoll"), "\(leaks)")
    #expect(try desktop.vault.unmount() == 0)
    #expect(try desktop.files(with: Desktop.wordInMount) == [])
    #expect(try desktop.files(naming: desktop.vault.member) == [])
  }

  /// The line that Docs/Desktop.md has for recoll.conf.
  @Test func recollLeavesTheMountOutWhereItIsTold() throws {
    let desktop = try Desktop()
    let mountpoint = desktop.vault.mountpoint
    try Self.recoll(
      "topdirs = \(mountpoint.removingLastComponent()) \(desktop.outside.removingLastComponent())",
      "skippedPaths = /media \(mountpoint)", on: desktop)
    #expect(try desktop.files(with: Desktop.wordInMount) == [])
    #expect(try !desktop.files(with: Desktop.wordOutside).isEmpty)
    #expect(try desktop.leaks() == "Nothing is kept where Kinvault looks.\n")
    #expect(try desktop.vault.unmount() == 0)
  }
}
