import Glibc
import Threads
import VaultModel

@testable import VaultFiles

/// Objects in memory: names are numbers, equal content gets an equal name, as with the real store.
final class MemoryDraftStore: DraftStore {
  private struct Objects {
    var contents: [ContentDigest: [UInt8]] = [:]
    var names: [[UInt8]: ContentDigest] = [:]
    var users: [ContentDigest: Int] = [:]
    var failuresLeft = 0
    var putCount = 0
    /// What has to be brought before it is read.
    var away: Set<ContentDigest> = []
  }
  private let objects = Guarded(Objects())
  /// Called once, before an index is read.
  let beforeIndex = Guarded<(@Sendable () -> Void)?>(nil)

  var putCount: Int { objects.withLock { $0.putCount } }

  /// The objects that something still uses.
  var usedCount: Int { objects.withLock { $0.users.count } }

  /// Waits for workers to let go of what they have sealed, until so many objects are in use; false if that never comes.
  func isUsed(byExactly count: Int) -> Bool {
    for _ in 0..<120_000 where usedCount != count { usleep(1000) }
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
  func failNextPuts(_ count: Int) { objects.withLock { $0.failuresLeft = count } }

  /// Keeps everything elsewhere that is here now.
  func sendAway() { objects.withLock { $0.away = Set($0.contents.keys) } }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> StoredObject {
    let bytes = [kind.rawValue] + content
    let name = try objects.withLock { (objects) throws(FileError) in
      guard objects.failuresLeft == 0 else {
        objects.failuresLeft -= 1
        throw .noSpace
      }
      objects.putCount += 1
      let name: ContentDigest
      if let known = objects.names[bytes] {
        name = known
      } else {
        let number = UInt32(objects.names.count + 1)
        name = ContentDigest(
          [UInt8](repeating: 0, count: 28) + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })!
        objects.names[bytes] = name
      }
      objects.contents[name] = Array(bytes.dropFirst())
      objects.away.remove(name)
      objects.users[name, default: 0] += 1
      return name
    }
    return StoredObject(name, heldBy: Use(name, self))
  }

  func read(
    _ name: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    let content = objects.withLock { $0.contents[name] }
    guard let content, content.count >= offset + buffer.count else {
      throw .inputOutput
    }
    buffer.copyBytes(from: content[offset..<offset + buffer.count])
  }

  func readIfHere(
    _ name: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Bool {
    if objects.withLock({ $0.away.contains(name) }) { return false }
    try read(name, at: offset, into: buffer)
    return true
  }

  func bring(_ name: ContentDigest) throws(FileError) {
    _ = objects.withLock { $0.away.remove(name) }
  }

  func willRead(_ names: [ContentDigest]) {}

  func willLookUp(_ names: [ContentDigest]) {}

  func index(_ name: ContentDigest) throws(FileError) -> [ContentDigest?] {
    let before = beforeIndex.withLock { before -> (@Sendable () -> Void)? in
      defer { before = nil }
      return before
    }
    before?()
    let content = objects.withLock { $0.contents[name] }
    guard let content, let index = try? ChunkIndex(decoding: content) else { throw .inputOutput }
    return index.chunks
  }

  private func release(_ name: ContentDigest) {
    objects.withLock {
      guard let count = $0.users[name] else {
        preconditionFailure("released more often than used")
      }
      $0.users[name] = count > 1 ? count - 1 : nil
      if count == 1 { $0.contents[name] = nil }
    }
  }
}
