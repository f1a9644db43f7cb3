import BlobStore
import Threads
import Vault
import VaultErrors

/// What may come in this sync of one member: a stranger's, as much as the remote listed when that was judged to fit; one that nobody
/// here reads, or any while the vault is locked, as much as there is room for.
///
/// A remote may give more than it lists.
final class CargoRoom: Sendable {
  private let left: Guarded<CargoWeight>
  private let hasRefused = Guarded(false)

  init(_ weight: CargoWeight) { left = Guarded(weight) }

  /// Whether there was no room for some file: what a head needs cannot all come then.
  var isUsedUp: Bool { hasRefused.withLock { $0 } }

  /// Takes the room for one file.
  ///
  /// - Returns: False, and nothing is taken, if there is none.
  func take(byteCount: Int) -> Bool {
    let isTaken: Bool = left.withLock { left in
      let file = CargoWeight(fileCount: 1, byteCount: UInt64(byteCount))
      guard file.fits(left) else { return false }
      left = left.less(file)
      return true
    }
    if !isTaken { hasRefused.withLock { $0 = true } }
    return isTaken
  }
}

extension BlobSpace {
  /// What may be filled with what nobody here may ever need: a twentieth of the disk stays free, or 1 GiB.
  var bytesToSpare: UInt64 {
    let reserve = min(totalBytes / 20, 1 << 30)
    return availableBytes > reserve ? availableBytes - reserve : 0
  }
}

extension VaultError {
  /// Of what nobody here reads, or a stranger owns.
  static func moreThanListed(_ path: String) -> VaultError {
    .damaged(path: path, reason: "the remote gives more of this member than it lists")
  }
}
