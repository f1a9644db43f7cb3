import ArgumentParser
import SystemPackage
import VaultMount

struct UnmountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmount",
    abstract: "Unmount a vault.",
    discussion: """
      Returns when everything is saved and the mount is gone. When something cannot be saved it says so, and the \
      mount stays. Refuses while programs use files in it, and says which; --lazy takes it away at once and lets them \
      finish, whatever could not be saved.

      Example:
        kinvault unmount ~/family-records
      """)

  @Argument(help: "Where it is mounted.", completion: .directory) var mountpoint: String
  @Flag(help: "Take it away even if programs use it; they keep the files that they have open.")
  var lazy = false

  func run() throws {
    try Unmount.run(
      FilePath(mountpoint), stateRoot: Environment.stateRoot, lazily: lazy)
    Terminal.note("Unmounted \(mountpoint).")
  }
}
