import Threads
import Vault
import VaultErrors

/// What may come in this sync of one stranger's member, as much as the remote listed when that was judged to fit; or of any
/// member while the vault is locked.
///
/// A remote may give more than it lists.
final class CargoRoom: Sendable {
  private let left: Guarded<CargoWeight>

  init(_ weight: CargoWeight) { left = Guarded(weight) }

  /// Takes the room for one file.
  ///
  /// - Returns: False, and nothing is taken, if there is none.
  func take(byteCount: Int) -> Bool {
    left.withLock { left in
      let file = CargoWeight(fileCount: 1, byteCount: UInt64(byteCount))
      guard file.fits(left) else { return false }
      left = left.less(file)
      return true
    }
  }
}

extension VaultError {
  /// A remote gives more of a stranger's member than it lists.
  static func moreThanListed(_ path: String) -> VaultError {
    .damaged(
      path: path,
      reason:
        "the remote lists less of this member than it gives, and nobody whom you know vouches for it"
    )
  }
}
