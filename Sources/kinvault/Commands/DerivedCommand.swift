import ArgumentParser
import MachineState
import Vault
import VaultModel

struct DerivedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "derived",
    abstract: "What this machine has made of the records, encrypted, to be quick.",
    discussion: """
      The index for searching, and other things that can be made again at any time, lie encrypted in this machine's state. They \
      are never synced, take 512 MB at most, and go when access to a member ends.
      """,
    subcommands: [DerivedClearCommand.self])
}

struct DerivedClearCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove it; what is needed is made again. Asks for no password.")

  @OptionGroup var folderOptions: FolderOptions

  func run() throws {
    let vault = try Vault.describe(folder: folderOptions.folder()).vault
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault)
    let byteCount = try state.derivedByteCount()
    try state.removeDerived()
    Terminal.writeLine(
      byteCount > 0 ? "Removed \(ByteCount.text(byteCount))." : "There was nothing to remove.")
  }
}
