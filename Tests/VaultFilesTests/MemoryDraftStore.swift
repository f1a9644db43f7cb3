import VaultModel

@testable import VaultFiles

/// Objects in memory: names are numbers, equal content gets an equal name, as with the real store.
final class MemoryDraftStore: DraftStore, @unchecked Sendable {
  // Protected by `monitor`.
  private let monitor = Monitor()
  private var contents: [ObjectName: [UInt8]] = [:]
  private var names: [[UInt8]: ObjectName] = [:]
  private var users: [ObjectName: Int] = [:]
  private var failuresLeft = 0
  private(set) var putCount = 0

  /// The objects that something still uses.
  var usedCount: Int { monitor.withLock { users.count } }

  /// Has the next puts fail, as on a full disk.
  func failNextPuts(_ count: Int) { monitor.withLock { failuresLeft = count } }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> ObjectName {
    monitor.lock()
    defer { monitor.unlock() }
    guard failuresLeft == 0 else {
      failuresLeft -= 1
      throw .noSpace
    }
    putCount += 1
    let bytes = [kind.rawValue] + content
    let name: ObjectName
    if let known = names[bytes] {
      name = known
    } else {
      let number = UInt32(names.count + 1)
      name = ObjectName(
        [UInt8](repeating: 0, count: 28) + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })!
      names[bytes] = name
    }
    contents[name] = Array(content)
    users[name, default: 0] += 1
    return name
  }

  func read(
    _ name: ObjectName, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    monitor.lock()
    defer { monitor.unlock() }
    guard let content = contents[name], content.count >= offset + buffer.count else {
      throw .inputOutput
    }
    buffer.copyBytes(from: content[offset..<offset + buffer.count])
  }

  func willRead(_ names: [ObjectName]) {}

  func willLookUp(_ names: [ObjectName]) {}

  func index(_ name: ObjectName) throws(FileError) -> [ObjectName?] {
    let content = monitor.withLock { contents[name] }
    guard let content, let index = try? ChunkIndex(decoding: content) else { throw .inputOutput }
    return index.chunks
  }

  func retain(_ name: ObjectName) { monitor.withLock { users[name, default: 0] += 1 } }

  func release(_ names: [ObjectName]) {
    monitor.withLock {
      for name in names {
        guard let count = users[name] else { preconditionFailure("released more often than used") }
        users[name] = count > 1 ? count - 1 : nil
        if count == 1 { contents[name] = nil }
      }
    }
  }
}
