import ArgumentParser
import BlobStore
import MachineState
import Vault
import VaultModel
import VaultSync

struct RemoteTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Try whether a remote can be reached, read and written.",
    discussion: """
      Writes a small file there and removes it again.

      Example:
        kinvault remote test cloud
      """)

  @Argument(help: "The remote's name.") var name: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let folder = try access.folderOptions.folder()
    let vault = try Vault.describe(folder: folder).vault
    let configuration = try KnownRemote.configurations([name], vault: vault)[0]
    let remote: KnownRemote
    if configuration.credentials == nil {
      remote = try KnownRemote(locked: configuration)
    } else {
      let unlocked = try access.unlockKey(folder: folder)
      remote = try KnownRemote(configuration, vault: vault, key: unlocked.key)
    }
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault)
    let memory = try RemoteStateFile(state: state, remote: remote.name).load()
    do {
      Terminal.writeLine(try RemoteProbe(remote, vault: vault, memory: memory).run().text)
    } catch let error as BlobStoreError {
      guard case .denied = error else { throw error }
      throw CommandError.notPermitted(
        "\(error.message). \(KnownRemote.wayToNewLogin(for: remote.name))")
    }
  }
}
