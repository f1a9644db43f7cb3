import ArgumentParser
import Vault
import VaultCrypto
import VaultMount

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Forget the key: the next command asks for the password again.",
    discussion: """
      Mounts keep working until they are unmounted; --unmount takes them away too, and cleans what other programs keep of \
      them (see \u{2018}kinvault leaks\u{2019}).

      Example:
        kinvault lock --unmount
      """)

  @OptionGroup var folderOptions: FolderOptions

  @Flag(help: "Unmount the vault as well, everywhere.")
  var unmount = false
  @Flag(help: "With --unmount: leave what other programs keep of the mounts where it is.")
  var keepTraces = false

  func run() throws {
    let folder = try folderOptions.folder()
    let id = try Vault.describe(folder: folder).vault
    do throws(SessionKeyringError) { try SessionKeyring.remove(vault: id) } catch {
      // Without a keyring it is never unlocked.
      guard case .unavailable = error else { throw error }
    }
    let mounts = MountRegistry.runningMounts(
      stateFolder: Environment.stateRoot.appending(id.hex))
    if unmount {
      let traces = try VaultTraces(vault: id)
      for mount in mounts {
        if keepTraces { try traces.keep(at: mount.mountpoint) }
        try Unmount.run(mount.mountpoint, stateRoot: Environment.stateRoot)
        Terminal.writeLine("Unmounted \(mount.mountpoint).")
        for note in traces.clean(at: mount.mountpoint) { Terminal.note(note) }
      }
    }
    Terminal.writeLine("Locked.")
    if !unmount, !mounts.isEmpty {
      let places = mounts.map(\.mountpoint.string).joined(separator: ", ")
      Terminal.writeLine(
        "It is still mounted at \(places), and readable there. To end that too: kinvault lock --unmount"
      )
    }
  }
}
