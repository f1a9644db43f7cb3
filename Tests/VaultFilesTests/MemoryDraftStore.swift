import Glibc
import Threads
import VaultModel

@testable import VaultFiles

/// Objects in memory: names are numbers, equal content gets an equal name, as with the real store.
final class MemoryDraftStore: DraftStore, @unchecked Sendable {
  // Protected by `monitor`.
  private let monitor = Monitor()
  private var contents: [ContentDigest: [UInt8]] = [:]
  private var names: [[UInt8]: ContentDigest] = [:]
  private var users: [ContentDigest: Int] = [:]
  private var failuresLeft = 0
  private(set) var putCount = 0

  /// The objects that something still uses.
  var usedCount: Int { monitor.withLock { users.count } }

  /// Waits for workers to let go of what they have sealed, until so many objects are in use; false if that never comes.
  func isUsed(byExactly count: Int) -> Bool {
    for _ in 0..<1_000_000 where usedCount != count { sched_yield() }
    return usedCount == count
  }

  /// One use of an object.
  private final class Use: Sendable {
    let name: ContentDigest
    let store: MemoryDraftStore

    init(_ name: ContentDigest, _ store: MemoryDraftStore) {
      self.name = name
      self.store = store
    }

    deinit { store.release(name) }
  }

  /// Has the next puts fail, as on a full disk.
  func failNextPuts(_ count: Int) { monitor.withLock { failuresLeft = count } }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> StoredObject {
    monitor.lock()
    defer { monitor.unlock() }
    guard failuresLeft == 0 else {
      failuresLeft -= 1
      throw .noSpace
    }
    putCount += 1
    let bytes = [kind.rawValue] + content
    let name: ContentDigest
    if let known = names[bytes] {
      name = known
    } else {
      let number = UInt32(names.count + 1)
      name = ContentDigest(
        [UInt8](repeating: 0, count: 28) + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })!
      names[bytes] = name
    }
    contents[name] = Array(content)
    users[name, default: 0] += 1
    return StoredObject(name, heldBy: Use(name, self))
  }

  func read(
    _ name: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    monitor.lock()
    defer { monitor.unlock() }
    guard let content = contents[name], content.count >= offset + buffer.count else {
      throw .inputOutput
    }
    buffer.copyBytes(from: content[offset..<offset + buffer.count])
  }

  func willRead(_ names: [ContentDigest]) {}

  func willLookUp(_ names: [ContentDigest]) {}

  func index(_ name: ContentDigest) throws(FileError) -> [ContentDigest?] {
    let content = monitor.withLock { contents[name] }
    guard let content, let index = try? ChunkIndex(decoding: content) else { throw .inputOutput }
    return index.chunks
  }

  private func release(_ name: ContentDigest) {
    monitor.withLock {
      guard let count = users[name] else { preconditionFailure("released more often than used") }
      users[name] = count > 1 ? count - 1 : nil
      if count == 1 { contents[name] = nil }
    }
  }
}
