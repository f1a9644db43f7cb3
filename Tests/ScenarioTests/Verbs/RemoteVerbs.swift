import BlobStore
import TestSupport
import Vault
import VaultModel

extension Verb {
  /// What happens to a remote without anyone syncing.
  static let remotes = [
    Verb("fails", .remote { _, remote, _ in remote.isDown = true }),
    Verb("works again", .remote { _, remote, _ in remote.isDown = false }),
    Verb(
      "is copied as NAME",
      .remote { _, remote, says in remote.marks[says["NAME"]] = remote.store.imageAfterKill() }),
    Verb(
      "goes back to NAME",
      .remote { _, remote, says in
        guard let image = remote.marks[says["NAME"]] else {
          throw says.wrong("there is no copy “\(says["NAME"])”")
        }
        remote.store = image.imageAfterKill()
      }),
    Verb("is emptied", .remote { _, remote, _ in remote.store = MemoryStore() }),
    Verb(
      "gets a file PATH",
      .remote { _, remote, says in
        try remote.store.put(BlobPath(says["PATH"]), Array("not of a vault".utf8))
      }),
    Verb(
      "gets a conflicted copy of every head as SUFFIX",
      // What file-sync programs leave when two machines wrote one name.
      .remote { _, remote, says in
        for (path, bytes) in remote.store.blobs {
          guard case .head = VaultPath(parsing: path.string) else { continue }
          try remote.store.put(BlobPath(path.string + says["SUFFIX"]), bytes)
        }
      }),
    Verb(
      "loses the head of DEVICE",
      .remote { world, remote, says in
        guard let device = world.devices.first(where: { $0.name == says["DEVICE"] }) else {
          throw says.wrong("there is no device “\(says["DEVICE"])”")
        }
        let id = try device.vault.device
        for path in remote.store.blobs.keys {
          guard case .head(_, id) = VaultPath(parsing: path.string) else { continue }
          try remote.store.remove(path)
        }
      }),
    Verb(
      "loses every object since NAME",
      .remote { _, remote, says in
        guard let before = remote.marks[says["NAME"]]?.blobs else {
          throw says.wrong("there is no copy “\(says["NAME"])”")
        }
        for path in remote.store.blobs.keys where before[path] == nil {
          guard case .object = VaultPath(parsing: path.string) else { continue }
          try remote.store.remove(path)
        }
      }),
    Verb(
      "damages every object since NAME",
      .remote { _, remote, says in
        guard let before = remote.marks[says["NAME"]]?.blobs else {
          throw says.wrong("there is no copy “\(says["NAME"])”")
        }
        for (path, bytes) in remote.store.blobs where before[path] == nil {
          guard case .object = VaultPath(parsing: path.string) else { continue }
          var damaged = bytes
          damaged[damaged.count / 2] ^= 1
          try remote.store.put(path, damaged)
        }
      }),
  ]
}
