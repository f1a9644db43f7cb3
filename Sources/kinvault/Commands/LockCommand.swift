import ArgumentParser
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultModel
import VaultMount

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Forget the key: the next command asks for the password again.",
    discussion: """
      Mounts keep working until they are unmounted; --unmount takes them away too, and cleans what other programs keep of \
      them (see \u{2018}kinvault leaks\u{2019}). --all locks every vault that this machine has keys of, as at the end of a \
      session: what cannot be unmounted is named at the end, when all else is locked.

      Examples:
        kinvault lock --unmount
        kinvault lock --all --unmount
      """)

  @OptionGroup var folderOptions: FolderOptions

  @Flag(help: "Every vault of this machine, also one whose folder is not here now.")
  var all = false
  @Flag(help: "Unmount the vault as well, everywhere.")
  var unmount = false
  @Flag(help: "With --unmount: leave what other programs keep of the mounts where it is.")
  var keepTraces = false

  func validate() throws {
    if all, folderOptions.vault != nil {
      throw ValidationError("--all and --vault exclude each other.")
    }
  }

  func run() throws {
    let vaults =
      try all
      ? StateFolder.vaults(below: Environment.stateRoot)
      : [Vault.describe(folder: folderOptions.folder()).vault]
    var mounts: [RunningMount] = []
    var failure: (any Error)?
    /// The others are not left open for the sake of one; a second failure is told here, the first at the end.
    func note(_ error: any Error) {
      if failure != nil { Terminal.note("kinvault: \(FailureReport(error).message)") }
      failure = failure ?? error
    }
    for vault in vaults {
      do { try SessionKeys.remove(vault: vault) } catch { note(error) }
    }
    for vault in vaults {
      do {
        for file in try MountRegistry.files(
          stateFolder: Environment.stateRoot.appending(vault.hex))
        {
          do {
            guard let mount = try MountRegistry.runningMount(of: file) else { continue }
            mounts.append(mount)
            if unmount { try end(mount, of: vault) }
          } catch { note(error) }
        }
      } catch { note(error) }
    }
    if let failure { throw failure }
    Terminal.writeLine("Locked.")
    if !unmount, !mounts.isEmpty {
      let places = mounts.map(\.mountpoint.string).joined(separator: ", ")
      let command = all ? "kinvault lock --all --unmount" : "kinvault lock --unmount"
      Terminal.writeLine(
        "It is still mounted at \(places), and readable there. To end that too: \(command)")
    }
  }

  private func end(_ mount: RunningMount, of vault: VaultID) throws {
    let traces = try VaultTraces.open(vault: vault)
    if keepTraces { try traces.keep(at: mount.mountpoint) }
    try Unmount.telling(mount.mountpoint)
    Terminal.writeLine("Unmounted \(mount.mountpoint).")
    for note in traces.clean(at: mount.mountpoint) { Terminal.note(note) }
  }
}
