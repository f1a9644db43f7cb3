import Glibc
import MachineState
import Threads
import Vault
import VaultSync

/// `sync --watch`: syncs whenever something changes, until a signal ends it.
struct SyncWatch {
  let access: AccessOptions
  let remotes: [String]
  let options: SyncOptions

  func run() throws {
    let signals = HeldSignals([SIGINT, SIGTERM, SIGHUP])
    defer { signals.release() }
    try access.withVaultAndKey(.writing) { vault, key in
      let known = try KnownRemote.find(remotes, vault: vault.id, key: key)
      let state = vault.state
      let service = SyncService(vault: vault, remotes: known, options: options) {
        $0.print(keepingToldIn: state)
      }
      service.start()
      let names = known.map(\.name.string).joined(separator: ", ")
      Terminal.note("Watching this vault and \(names). To stop: Ctrl-C")
      while signals.next() == nil { SystemThread.pause(for: .milliseconds(100)) }
      service.stop()
    }
  }
}
