import ArgumentParser
import MachineState
import Vault
import VaultModel
import VaultSync

struct RemoteListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the remotes of this machine.",
    discussion: """
      Needs no password: secrets are not shown.

      Example:
        kinvault remote list --json
      """)

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var folderOptions: FolderOptions

  private struct Row: Encodable {
    var name: String
    var address: String
    var hasLogin: Bool
    var doorbell: String?
    var added: String
    var lastSync: String?
  }

  func run() throws {
    let vault = try Vault.describe(folder: folderOptions.folder()).vault
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault)
    let (remotes, damaged) = try RemoteRegistry(state: state).readable()
    for name in damaged { Terminal.note("kinvault: \(KnownRemote.isDamaged(name))") }
    let seen = try remotes.map {
      try RemoteStateFile(state: state, remote: $0.name).load().lastSuccess
    }
    if json {
      try JSONOutput.print(
        zip(remotes, seen).map { remote, lastSync in
          Row(
            name: remote.name.string, address: remote.shownAddress,
            hasLogin: remote.credentials != nil,
            doorbell: remote.options[KnownRemote.doorbellOption],
            added: DateText.utc(milliseconds: remote.created),
            lastSync: lastSync.map(DateText.utc(milliseconds:)))
        })
      return
    }
    var table = Table("NAME", "ADDRESS", "LAST SYNC")
    for (remote, lastSync) in zip(remotes, seen) {
      table.add([
        remote.name.string, remote.shownAddress,
        lastSync.map(DateText.local(milliseconds:)) ?? "never",
      ])
    }
    for name in damaged { table.add([name.string, RemoteConfiguration.notReadable, ""]) }
    table.print(orElse: "No remotes yet. Add one: kinvault remote add NAME ADDRESS")
  }
}
