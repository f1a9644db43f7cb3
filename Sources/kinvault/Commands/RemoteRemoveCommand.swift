import ArgumentParser
import Vault
import VaultModel

struct RemoteRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Forget a remote.",
    discussion: """
      What is stored there stays there; remove it by the means of that place, if you want it gone.

      Example:
        kinvault remote remove usb
      """)

  @Argument(help: "The remote's name.") var name: String
  @OptionGroup var folderOptions: FolderOptions

  func run() throws {
    let vault = try Vault.describe(folder: folderOptions.folder()).vault
    let configuration = try KnownRemote.configurations([name], vault: vault)[0]
    try RemoteRegistry.here(vault: vault).remove(configuration.name)
    Terminal.writeLine(
      "Forgot the remote \(configuration.name). The vault's copy there is untouched.")
  }
}
