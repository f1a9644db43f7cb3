import ArgumentParser
import MachineState
import Vault
import VaultModel
import VaultSync

struct RemoteRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Forget a remote.",
    discussion: """
      What is stored there stays there; remove it by the means of that place, if you want it gone. What was fetched \
      from it while the vault was locked goes; if that was not taken into the vault yet, you are asked first.

      Example:
        kinvault remote remove usb
      """)

  @Argument(help: "The remote's name.") var name: String
  @Flag(help: "Forget also what was fetched from it and not taken yet.") var yes = false
  @OptionGroup var folderOptions: FolderOptions

  func run() throws {
    let folder = try folderOptions.folder()
    let vault = try Vault.describe(folder: folder).vault
    let registry = try RemoteRegistry.here(vault: vault)
    let remote = try KnownRemote.known(name, registry)
    let copy = try VaultCopy.here(in: folder)
    let leavesAttachments = self.leavesAttachments(copy)
    try forget(FetchedWhileLocked(of: copy, from: remote), from: remote)
    try registry.remove(remote)
    Terminal.writeLine("Forgot the remote \(remote). The vault's copy there is untouched.")
    if leavesAttachments, try registry.names().isEmpty {
      Terminal.note(
        "kinvault: It was the last one, and attachments that were left there are not on this machine. To open them, add "
          + "it again: kinvault remote add NAME ADDRESS")
    }
  }

  /// Whether this machine leaves attachments on remotes. Where that cannot be read it may be so, and the remote is forgotten all
  /// the same.
  private func leavesAttachments(_ copy: VaultCopy) -> Bool {
    do { return try copy.state.loadLazySettings() != nil } catch { return true }
  }

  /// Before the remote itself: without its name nobody would find it.
  private func forget(_ fetched: FetchedWhileLocked, from remote: RemoteName) throws {
    if try fetched.holdsNews() {
      try Confirmation.require(
        "What was fetched from \(remote) while the vault was locked is not in the vault yet, and may stand nowhere else by "
          + "now. To take it, also where the remote is not there: kinvault sync \(remote). Forget it?",
        isGiven: yes)
    }
    try fetched.forget(patience: SyncOutcome.patience(with: remote))
  }
}
