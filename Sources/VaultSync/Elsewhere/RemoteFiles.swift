import BlobStore
import MachineState
import Threads

/// Files of the vault from the first of several remotes that has them. A remote is opened when it is first asked.
///
/// For a short while it is remembered which remote did not answer in good time, and what a folder has in which a file was missed: a vault may
/// lack thousands of files that nobody has any more, and each would be asked for by several names.
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

  /// What a remote has said, and when.
  private struct Known {
    var store: (any BlobStore)?
    /// Why it does not answer.
    var silence: (error: BlobStoreError, since: ContinuousClock.Instant)?
    /// The names in folders in which something was missed.
    var folders: [BlobPath: (names: Set<String>, since: ContinuousClock.Instant)] = [:]
  }

  private let places: [Place]
  private let lifetime: Duration
  private let patience: Duration
  private let known = Guarded<[RemoteName: Known]>([:])

  /// - Parameter lifetime: How long what a remote has said, or that it did not answer, stands for what it would say now: while
  ///   many files are asked for in a row.
  /// - Parameter patience: What fails sooner may be asked again at once: a stick is there as soon as it is plugged in.
  package init(
    _ places: [Place], lifetime: Duration = .seconds(10), patience: Duration = .seconds(1)
  ) {
    (self.places, self.lifetime, self.patience) = (places, lifetime, patience)
  }

  /// Forgets what remotes have said: they may say something else now.
  func forget() {
    known.withLock { known in for name in known.keys { known[name]?.folders = [:] } }
  }

  /// The file from the first remote that has it whole. Where each was reached and none has, but some have something in its
  /// place, that.
  func fetch(
    _ path: BlobPath, limit: Int, where isWhole: ([UInt8]) -> Bool
  ) throws(Unavailable) -> [UInt8] {
    var broken: [UInt8]?
    var failure = Unavailable(reason: "there is no remote", isNowhere: !places.isEmpty)
    for place in places {
      let store: any BlobStore
      do { store = try self.store(of: place) } catch {
        failure = Unavailable(reason: "\(place.name): \(error.shortMessage)", isNowhere: false)
        continue
      }
      do {
        let file = try read(path, limit: limit, from: store, place.name)
        if isWhole(file) { return file }
        broken = broken ?? file
      } catch {
        failure.reason = "\(place.name): \(error.shortMessage)"
        if case .notFound = error { continue }
        failure.isNowhere = false
      }
    }
    if let broken, failure.isNowhere { return broken }
    throw failure
  }

  private func read(
    _ path: BlobPath, limit: Int, from store: any BlobStore, _ name: RemoteName
  ) throws(BlobStoreError) -> [UInt8] {
    if isMissing(path, at: name) { throw .notFound(path: path.string) }
    do {
      return try asking(name) { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    } catch {
      guard case .notFound = error else { throw error }
      let names = try list(path.parent ?? .root, of: store, at: name)
      guard names.contains(path.name) else { throw error }
    }
    // It has come meanwhile, or a cache before the store remembers that it was not there.
    do {
      return try asking(name) { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    } catch {
      guard case .notFound = error else { throw error }
      throw .garbled(path: path.string, reason: "the store lists it, and says that it is not there")
    }
  }

  /// Whether a listing of a moment ago does not have the file.
  private func isMissing(_ path: BlobPath, at name: RemoteName) -> Bool {
    known.withLock { known in
      guard let folder = path.parent, let listed = known[name]?.folders[folder],
        isFresh(listed.since)
      else { return false }
      return !listed.names.contains(path.name)
    }
  }

  /// The names in the folder, which are remembered.
  ///
  /// - Throws: Why the folder cannot be listed: then it is not said either that the file is not there.
  private func list(
    _ folder: BlobPath, of store: any BlobStore, at name: RemoteName
  ) throws(BlobStoreError) -> Set<String> {
    let since = ContinuousClock.now
    let entries = try asking(name) { () throws(BlobStoreError) in try store.list(folder) }
    let names = Set(entries.map(\.name))
    known.withLock { known in
      // A mount goes on for months, and whatever a remote lists would be held as long.
      var folders = (known[name]?.folders ?? [:]).filter { isFresh($0.value.since) }
      folders[folder] = (names, since)
      known[name, default: Known()].folders = folders
    }
    return names
  }

  /// Asks a remote. If it fails after a while, it is not asked again for a while; but what concerns one file says nothing of
  /// the remote.
  private func asking<Answer>(
    _ name: RemoteName, _ body: () throws(BlobStoreError) -> Answer
  ) throws(BlobStoreError) -> Answer {
    let began = ContinuousClock.now
    do { return try body() } catch {
      let now = ContinuousClock.now
      if now - began >= patience, !error.concernsOneFile {
        known.withLock { $0[name, default: Known()].silence = (error, now) }
      }
      throw error
    }
  }

  /// Whether what a remote said at that time still counts.
  func isFresh(_ since: ContinuousClock.Instant) -> Bool {
    ContinuousClock.now - since < lifetime
  }

  package func read(
    _ path: BlobPath, limit: Int, where isWhole: ([UInt8]) -> Bool
  ) -> [UInt8]? {
    do {
      let file = try fetch(path, limit: limit, where: isWhole)
      return isWhole(file) ? file : nil
    } catch {
      // It is asked for what another remote has lost, which is told in any case.
      return nil
    }
  }

  /// Whether one of the remotes has the file, with so many bytes: of those that are reliable.
  ///
  /// - Throws: Why one of these cannot be asked, where no other one has it.
  func holds(
    _ path: BlobPath, byteCount: UInt64, where isReliable: (RemoteName) -> Bool
  ) throws(Unavailable) -> Bool {
    var failure: Unavailable?
    for place in places where isReliable(place.name) {
      do {
        let store = try store(of: place)
        let size = try asking(place.name) { () throws(BlobStoreError) in try store.size(of: path) }
        if size == byteCount { return true }
      } catch {
        let reason = "\(place.name): \(error.shortMessage)"
        failure = failure ?? Unavailable(reason: reason, isNowhere: false)
      }
    }
    if let failure { throw failure }
    return false
  }

  /// What is said of the first of these remotes of which anything is, or why it cannot be asked; nil where nothing is said of
  /// any.
  func firstDoubt(
    _ doubt: (RemoteName, any BlobStore) throws(BlobStoreError) -> String?
  ) -> String? {
    for place in places {
      do {
        let store = try store(of: place)
        let found = try asking(place.name) { () throws(BlobStoreError) in
          try doubt(place.name, store)
        }
        if let found { return "\(place.name): \(found)" }
      } catch {
        return "\(place.name): \(error.shortMessage)"
      }
    }
    return nil
  }

  /// - Throws: Why it does not open, or did not answer a moment ago.
  private func store(of place: Place) throws(BlobStoreError) -> any BlobStore {
    let found = known.withLock { $0[place.name] }
    if let silence = found?.silence, isFresh(silence.since) { throw silence.error }
    if let open = found?.store { return open }
    let opened = try asking(place.name, place.open)
    return known.withLock { known in
      if let other = known[place.name]?.store { return other }
      known[place.name, default: Known()].store = opened
      return opened
    }
  }
}
