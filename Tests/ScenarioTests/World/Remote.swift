import BlobStore
import TestSupport
import VaultModel

/// A store between the devices.
final class Remote {
  let name: String
  var store = MemoryStore()
  /// What it held when a scenario said so.
  var marks: [String: MemoryStore] = [:]
  /// Nobody can reach it.
  var isDown = false

  init(_ name: String) { self.name = name }

  /// What needs no network.
  var isAtHand: Bool { name.hasSuffix("stick") || name.hasSuffix("disk") }
}

/// A remote as a device reaches it, or does not.
struct RemoteAccess: InspectingStore {
  let inner: any LocalStore
  let isReachable: Bool

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard isReachable else { throw .unreachable(path: call.path.string, reason: "no network") }
  }
}
