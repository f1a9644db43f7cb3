import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// `kinvault leaks`, and what mounting and unmounting do about what other programs keep.
@Suite struct LeaksCommandTests {
  private struct Listing: Decodable {
    struct Found: Decodable {
      var kind: String
      var place: String
      var path: String
      var pathBytes: String?
    }

    struct Failure: Decodable { var place: String }

    var mountpoints: [String]
    var areRemoved: Bool
    var traces: [Found]
    var failures: [Failure]
  }

  private func listing(_ program: Program, clean: Bool = false) throws -> Listing {
    let arguments = clean ? ["leaks", "--clean", "--json"] : ["leaks", "--json"]
    // No password is there to be asked for.
    let result = try CommandRunner.run(
      "setsid", ["-w", Program.executable] + arguments,
      environment: program.environment.filter { $0.key != "KINVAULT_PASSWORD_FILE" })
    return try JSONDecoder().decode(Listing.self, from: Data(result.standardOutput))
  }

  /// Writes a list of recently used files with these in it.
  private func recentFiles(_ program: Program, _ paths: String...) throws {
    let data = program.folder.appending(".local/share")
    _ = try CommandRunner.run("mkdir", ["-p", data.string], environment: program.environment)
    let bookmarks = paths.map { "<bookmark href=\"file://\($0)\"></bookmark>\n" }
    try program.write(
      "<xbel>\n" + bookmarks.joined() + "</xbel>\n",
      to: data.appending("recently-used.xbel").string)
  }

  private func recentFiles(of program: Program) throws -> String {
    let list = program.folder.appending(".local/share/recently-used.xbel")
    return String(decoding: try program.read(list.string), as: UTF8.self)
  }

  @Test func listsAndCleansWhatIsKeptOfMountsThatWere() throws {
    let program = try Program.withVault()
    #expect(
      try program.run("leaks", expecting: 0).output
        == "This machine does not remember that the vault was ever mounted here.\n")
    let place = program.folder.appending("mounted").string
    try program.run("mount", place, expecting: 0)
    try program.run("unmount", place, expecting: 0)
    #expect(
      try program.run("leaks", expecting: 0).output == "Nothing is kept where Kinvault looks.\n")

    try recentFiles(program, "\(place)/Emma/a%20b%FF.png", "\(place)2/other")
    let found = try listing(program)
    #expect(found.mountpoints == [place])
    #expect(found.traces.map(\.kind) == ["recent-file"])
    #expect(found.traces.first?.path == "\(place)/Emma/a b\u{fffd}.png")
    #expect(found.traces.first?.pathBytes?.hasSuffix("612062ff2e706e67") == true)
    #expect(!found.areRemoved && found.failures.isEmpty)
    let text = try program.run("leaks", expecting: 0).output
    #expect(text.contains("recently used file"))
    #expect(text.hasSuffix("\nTo remove them: kinvault leaks --clean\n"))
    let cleaned = try program.run("leaks", "--clean", expecting: 0).output
    #expect(cleaned.hasSuffix("\nRemoved 1 trace.\n"))
    #expect(try listing(program, clean: true).traces.isEmpty)
    #expect(
      try recentFiles(of: program)
        == "<xbel>\n<bookmark href=\"file://\(place)2/other\"></bookmark>\n</xbel>\n")
  }

  @Test func theMountIsAlsoKnownByTheNameThatALinkGivesIt() throws {
    let program = try Program.withVault()
    let (real, link) = (program.folder.appending("real"), program.folder.appending("link"))
    _ = try CommandRunner.run("mkdir", [real.string], environment: program.environment)
    _ = try CommandRunner.run("ln", ["-s", "real", link.string], environment: program.environment)
    try program.run("mount", "\(link)/mounted", expecting: 0)
    try recentFiles(program, "\(real)/mounted/a", "\(link)/mounted/b", "\(link)/c")
    try program.run("unmount", "\(real)/mounted", expecting: 0)
    #expect(
      try recentFiles(of: program)
        == "<xbel>\n<bookmark href=\"file://\(link)/c\"></bookmark>\n</xbel>\n")
    #expect(try listing(program).mountpoints == ["\(real)/mounted", "\(link)/mounted"])
  }

  @Test func whatCannotBeCleanedIsToldAndUnmountsAllTheSame() throws {
    let program = try Program.withVault()
    let place = program.folder.appending("mounted").string
    try program.run("mount", place, expecting: 0)
    try recentFiles(program, "\(place)/a")
    let list = program.folder.appending(".local/share/recently-used.xbel").string
    let broken = "<xbel><bookmark href=\"file://\(place)/a\">"
    try program.write(broken, to: list)
    let unmounted = try program.run("unmount", place, expecting: 0)
    #expect(unmounted.errors.contains("Unmounted \(place).\n"))
    #expect(unmounted.errors.contains(list))
    #expect(try recentFiles(of: program) == broken)
    #expect(try program.run("leaks", expecting: 1).errors.contains(list))
    #expect(try listing(program).failures.map(\.place) == [list])
    // The next mount says it as well, and is there.
    #expect(try program.run("mount", place, expecting: 0).errors.contains(list))
    try program.run("unmount", place, expecting: 0)
  }

  @Test func lockingCleansAsUnmountingDoes() throws {
    let program = try Program.withVault()
    let place = program.folder.appending("mounted").string
    try program.run("mount", place, expecting: 0)
    try recentFiles(program, "\(place)/a")
    try program.run("lock", "--unmount", "--keep-traces", expecting: 0)
    #expect(try listing(program).traces.count == 1)
    try program.run("mount", place, "--keep-traces", expecting: 0)
    try program.run("lock", "--unmount", expecting: 0)
    #expect(try listing(program).traces.count == 1)
    try program.run("mount", place, expecting: 0)
    try program.run("lock", "--unmount", expecting: 0)
    #expect(try listing(program).traces.isEmpty)
  }

  @Test func theFirstMountOfADesktopSaysOnceWherePreviewsAre() throws {
    let program = try Program.withVault()
    let place = program.folder.appending("mounted").string
    let previews = program.folder.appending(".cache/thumbnails").string
    func mounting(_ environment: [String: String?]) throws -> String {
      let said = try program.run("mount", place, environment: environment, expecting: 0).errors
      try program.run("unmount", place, expecting: 0)
      return said
    }
    #expect(!(try mounting([:])).contains(previews))
    #expect(try mounting(["WAYLAND_DISPLAY": "wayland-0"]).contains(previews))
    #expect(!(try mounting(["WAYLAND_DISPLAY": "wayland-0"])).contains(previews))
  }

  @Test func withoutAVaultItSaysSo() throws {
    let program = try Program()
    try program.run("leaks", expecting: 6)
  }
}
