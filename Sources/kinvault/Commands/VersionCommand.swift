import ArgumentParser
import VaultModel

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Show the version of the program and of the format.",
    discussion: """
      Example:
        kinvault version --json
      """)

  @Flag(help: "Print JSON.") var json = false

  private struct Versions: Encodable {
    var program = Kinvault.version
    var format = VaultDescription.version
  }

  func run() throws {
    let versions = Versions()
    if json {
      try JSONOutput.print(versions)
    } else {
      Terminal.writeLine("kinvault \(versions.program), vault format \(versions.format)")
    }
  }
}
