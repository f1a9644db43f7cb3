import Rendering
import Search
import Vault

/// A search for a command: says on the terminal how far it is where records have to be read first.
struct RecordSearch {
  let index: VaultSearch

  static func begin(_ vault: Vault) throws -> RecordSearch {
    RecordSearch(index: try VaultSearch(vault, Renderer.installed()))
  }

  func catchUp(_ members: [Member]) throws {
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    try index.catchUp(members) { done, total in
      bar.update(
        WorkProgress(label: "Reading records", done: UInt64(done), total: UInt64(total)))
    }
  }
}
