import BlobStore
import Threads
import VaultModel

/// The readers used last, of all members of a vault together: their number bounds the files of objects that are kept open.
///
/// Safe to use from any thread.
package final class ReaderCache: Sendable {
  private let state = Guarded(State())
  private let fileLimit: @Sendable () -> Int

  /// - Parameter fileLimit: Says how many files this process may have open now.
  package init(fileLimit: @escaping @Sendable () -> Int = { OpenFileLimit.current() }) {
    self.fileLimit = fileLimit
  }

  /// How many readers are kept at the most: half of what may be open, as everything else needs files too; and no more than it
  /// takes for a little over a gigabyte.
  func capacity() -> Int { min(fileLimit() / 2, 1280) }

  func reader(_ digest: ContentDigest, of member: MemberID) -> ObjectReader? {
    state.withLock { $0.use(Key(member: member, digest: digest)) }
  }

  func all(of member: MemberID) -> [ObjectReader] { state.withLock { $0.all(of: member) } }

  func insert(_ reader: ObjectReader, of member: MemberID) {
    let capacity = capacity()
    // Those that are let go of are closed without the lock: a file that was removed goes from the disk with that.
    _ = state.withLock { state -> [ObjectReader] in
      state.insert(reader, as: Key(member: member, digest: reader.digest))
      return state.readers.count > capacity ? state.takeOlderHalf() : []
    }
  }

  /// What `open` gives, which opens a file; it is run again, once, if too many are open: then some readers are let go of.
  func makingRoom<Value>(
    for open: () throws(BlobStoreError) -> Value
  ) throws(BlobStoreError) -> Value {
    do { return try open() } catch {
      guard error.isOfTooManyFiles else { throw error }
    }
    _ = state.withLock { $0.takeOlderHalf() }
    return try open()
  }

  func remove(_ digest: ContentDigest, of member: MemberID) {
    state.withLock { $0.remove(Key(member: member, digest: digest)) }
  }

  func remove(_ name: ObjectName) {
    state.withLock { state in
      if let key = state.keys[name] { state.remove(key) }
    }
  }

  func removeAll(of member: MemberID) {
    for reader in all(of: member) { remove(reader.digest, of: member) }
  }

  /// Members that have the same chunk have a file of it each.
  private struct Key: Hashable {
    let member: MemberID
    let digest: ContentDigest
  }

  private struct State {
    var readers: [Key: (reader: ObjectReader, lastUse: UInt64)] = [:]
    /// Whose files have these names.
    var keys: [ObjectName: Key] = [:]
    private var uses: UInt64 = 0

    mutating func use(_ key: Key) -> ObjectReader? {
      guard let found = readers[key] else { return nil }
      uses += 1
      readers[key] = (found.reader, uses)
      return found.reader
    }

    mutating func insert(_ reader: ObjectReader, as key: Key) {
      remove(key)
      uses += 1
      readers[key] = (reader, uses)
      keys[reader.name] = key
    }

    /// Lets go of the older half at once, so that insertions stay cheap on average; of one at least, if there is any.
    mutating func takeOlderHalf() -> [ObjectReader] {
      guard !readers.isEmpty else { return [] }
      let median = readers.values.map(\.lastUse).sorted()[readers.count / 2]
      let old = readers.values.filter { $0.lastUse <= median }.map(\.reader)
      readers = readers.filter { $0.value.lastUse > median }
      for reader in old { keys[reader.name] = nil }
      return old
    }

    mutating func remove(_ key: Key) {
      guard let found = readers.removeValue(forKey: key) else { return }
      keys[found.reader.name] = nil
    }

    func all(of member: MemberID) -> [ObjectReader] {
      readers.filter { $0.key.member == member }.map { $0.value.reader }
    }
  }
}
