import Places
import SystemPackage

/// A mounted vault with a home of its own, a picture and a text in the mount, and others beside it.
struct Desktop {
  /// The word that is in the text in the mount alone, and the one in the other text.
  static let wordInMount = "quokkafish"
  static let wordOutside = "zebrafinch"

  let home: FilePath
  let vault: MountedVault
  let inMount: FilePath
  let outside: FilePath
  let textInMount: FilePath
  let textOutside: FilePath

  init() throws {
    home = try TestFolder.shared.fresh("home")
    // Programs take settings from a file, and not from a service of the machine that runs the tests.
    var environment = ["HOME": home.string, "GSETTINGS_BACKEND": "keyfile"]
    for (name, folder) in [
      "XDG_CACHE_HOME": ".cache", "XDG_DATA_HOME": ".local/share", "XDG_CONFIG_HOME": ".config",
    ] { environment[name] = home.appending(folder).string }
    vault = try MountedVault(members: ["Emma"], environment: environment)
    let folder = try TestFolder.shared.fresh("outside")
    inMount = vault.member.appending("wrist.png")
    outside = folder.appending("cat.png")
    for picture in [inMount, outside] {
      try Command(["convert", "-size", "400x300", "plasma:", picture.string]).succeed()
    }
    textInMount = vault.member.appending("letter.txt")
    textOutside = folder.appending("list.txt")
    try textInMount.write("The \(Self.wordInMount) of the wrist.\n")
    try textOutside.write("The \(Self.wordOutside) of the shop.\n")
  }

  /// A script that lies beside the tests.
  static func file(_ name: String) -> FilePath {
    FilePath(#filePath).removingLastComponent().appending(name)
  }

  func useRealPrograms() throws {
    try Command(
      [
        "dbus-run-session", "--", "bash", Self.file("traces.sh").string, inMount.string,
        outside.string,
      ], environment: vault.environment
    ).succeed()
  }

  func leaks() throws -> String {
    try vault.kinvault(["leaks", "--vault", vault.vault.string])
  }

  /// The files of the home that have a text in them. The state of Kinvault lies elsewhere.
  func files(with text: String) throws -> [String] {
    let found = try Command(["grep", "-rlaF", "--", text, home.string]).run()
    return found.output.split(separator: "\n").map(String.init).sorted()
  }

  /// The files of the home that name a path.
  func files(naming path: FilePath) throws -> [String] { try files(with: path.string) }

  /// The same, from the home on. A preview's name is a digest, and stands as `*`.
  func traces(of path: FilePath) throws -> [String] {
    try files(naming: path).map { file in
      let name = FilePath(String(file.dropFirst(home.string.count + 1)))
      guard let stem = name.stem, stem.count == 32, stem.allSatisfy(\.isHexDigit) else {
        return name.string
      }
      return name.removingLastComponent().appending("*.png").string
    }.sorted()
  }
}
