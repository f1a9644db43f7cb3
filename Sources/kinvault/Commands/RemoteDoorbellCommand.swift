import ArgumentParser
import MachineState
import RemoteStores
import Vault
import VaultModel

struct RemoteDoorbellCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doorbell",
    abstract: "Have other machines see within seconds what was put on a remote.",
    discussion: """
      A machine that has a vault mounted looks at its remotes every 30 seconds while it is used. With a doorbell it \
      is told at once: after every sync the doorbell is rung, and mounted vaults listen to it. It is a server that speaks the \
      protocol of ntfy (https://ntfy.sh): one of your own, or a public one. Set the same address on every machine; \
      mounts that are there take it up when they are mounted anew.

      The server learns when something changes and the network addresses of your machines, and nothing else: not \
      whose vault it is, and nothing of what is in it. Whether it is dead or lies, nothing is lost by it: everything is seen as \
      without it.

      Examples:
        kinvault remote doorbell cloud https://ntfy.example.org
        kinvault remote doorbell cloud --off
      """)

  @Argument(help: "The remote's name.") var name: String
  @Argument(help: "The server's address; without it, what is set is shown.")
  var address: DoorbellArgument?
  @Flag(help: "Have no doorbell any more.") var off = false
  @OptionGroup var folderOptions: FolderOptions

  func validate() throws {
    if off, address != nil { throw ValidationError("Give an address or --off, not both.") }
  }

  func run() throws {
    let vault = try Vault.describe(folder: folderOptions.folder()).vault
    let known = try KnownRemote.configurations([name], vault: vault)[0]
    guard off || address != nil else {
      let set = known.options[KnownRemote.doorbellOption]
      return Terminal.writeLine(set ?? "The remote \(known.name) has no doorbell.")
    }
    try RemoteRegistry.here(vault: vault).update(known.name) {
      $0.options[KnownRemote.doorbellOption] = address?.address.text
    }
    guard let address else {
      return Terminal.writeLine("The remote \(known.name) has no doorbell any more.")
    }
    Terminal.writeLine(
      "The doorbell of \(known.name) is \(address.address.text). Set the same on your other machines, and mount anew where the vault is mounted."
    )
  }
}
