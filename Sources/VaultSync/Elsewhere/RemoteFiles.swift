import BlobStore
import MachineState
import Threads

/// Files of the vault from the first of several remotes that has them. A remote is opened when it is first asked.
package final class RemoteFiles: ObjectSource {
  /// A remote, and how it is opened.
  package struct Place: Sendable {
    let name: RemoteName
    let open: @Sendable () throws(BlobStoreError) -> any BlobStore

    package init(
      name: RemoteName, open: @escaping @Sendable () throws(BlobStoreError) -> any BlobStore
    ) {
      (self.name, self.open) = (name, open)
    }
  }

  /// Nobody has the file.
  struct Unavailable: Error {
    /// What the last remote that was asked said.
    var reason: String
    /// Every remote was reached, and says that there is no such file.
    var isNowhere: Bool
  }

  private let places: [Place]
  private let stores = Guarded<[RemoteName: any BlobStore]>([:])

  package init(_ places: [Place]) { self.places = places }

  func fetch(_ path: BlobPath, limit: Int) throws(Unavailable) -> [UInt8] {
    var failure = Unavailable(reason: "there is no remote", isNowhere: !places.isEmpty)
    for place in places {
      let store: any BlobStore
      do { store = try self.store(of: place) } catch {
        failure = Unavailable(reason: "\(place.name): \(error.message)", isNowhere: false)
        continue
      }
      do { return try store.read(path, limit: limit) } catch {
        failure.reason = "\(place.name): \(error.message)"
        if case .notFound = error { continue }
        failure.isNowhere = false
      }
    }
    throw failure
  }

  package func read(_ path: BlobPath, limit: Int) -> [UInt8]? {
    // It is asked for what another remote has lost, which is told in any case.
    do { return try fetch(path, limit: limit) } catch { return nil }
  }

  /// Whether one of these remotes surely has the file, and it is so long there.
  func holds(
    _ path: BlobPath, byteCount: UInt64, where isReliable: (RemoteName) -> Bool
  ) -> Bool {
    for place in places where isReliable(place.name) {
      do {
        if try store(of: place).size(of: path) == byteCount { return true }
      } catch {
        // Who cannot be asked has nothing surely.
        continue
      }
    }
    return false
  }

  /// What is said of the first of these remotes of which anything is, or why it cannot be asked; nil where nothing is said of
  /// any.
  func firstDoubt(
    _ doubt: (RemoteName, any BlobStore) throws(BlobStoreError) -> String?
  ) -> String? {
    for place in places {
      do {
        if let found = try doubt(place.name, store(of: place)) { return "\(place.name): \(found)" }
      } catch {
        return "\(place.name): \(error.message)"
      }
    }
    return nil
  }

  private func store(of place: Place) throws(BlobStoreError) -> any BlobStore {
    if let open = stores.withLock({ $0[place.name] }) { return open }
    let opened = try place.open()
    return stores.withLock { stores in
      if let other = stores[place.name] { return other }
      stores[place.name] = opened
      return opened
    }
  }
}
