import Synchronization
import VaultModel

/// The hashes of keys, signatures and messages that belong together, of which the last ones are kept: at most 16,384, a
/// megabyte. That something does not belong together is not remembered, so that nobody fills it with that.
final class ValidSignatures: Sendable {
  static let shared = ValidSignatures(limit: 1 << 14)

  // The older half goes when the newer one is full.
  private struct Known {
    var newer: Set<FileHash> = []
    var older: Set<FileHash> = []
  }

  private let halfLimit: Int
  private let known = Mutex(Known())

  init(limit: Int) { halfLimit = limit / 2 }

  func holds(_ hash: FileHash) -> Bool {
    known.withLock { known in
      if known.newer.contains(hash) { return true }
      guard known.older.remove(hash) != nil else { return false }
      add(hash, to: &known)
      return true
    }
  }

  func add(_ hash: FileHash) {
    known.withLock { add(hash, to: &$0) }
  }

  private func add(_ hash: FileHash, to known: inout Known) {
    if known.newer.count >= halfLimit { known = Known(newer: [], older: known.newer) }
    known.newer.insert(hash)
  }
}
