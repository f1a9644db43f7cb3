import CFuse
import Glibc
import VaultFiles

/// Entries of a directory, packed as the kernel takes them.
struct DirectoryListing {
  /// What the memory has to hold beyond the reply: a name with its NUL.
  static let nameRoom = 256

  private let request: fuse_req_t
  private let memory: UnsafeMutableRawBufferPointer
  private let limit: Int
  private(set) var byteCount = 0

  /// The reply takes the memory but for its last `nameRoom` bytes.
  init(request: fuse_req_t, memory: UnsafeMutableRawBufferPointer) {
    self.request = request
    self.memory = memory
    limit = memory.count - Self.nameRoom
  }

  /// Adds an entry; false when it does not fit any more.
  mutating func add(_ entry: DirectoryEntry) -> Bool {
    var status = stat()
    status.st_ino = UInt(entry.inode)
    status.st_mode = entry.type
    return add(entry.name) { request, name, start, room in
      fuse_add_direntry(request, start, room, name, &status, off_t(bitPattern: entry.nextCookie))
    }
  }

  /// Adds an entry with what a lookup of it would answer; false when it does not fit any more.
  mutating func add(
    _ entry: DirectoryEntry, _ attributes: Attributes, timeout: Double
  ) -> Bool {
    var answer = fuse_entry_param(attributes, timeout: timeout)
    return add(entry.name) { request, name, start, room in
      fuse_add_direntry_plus(
        request, start, room, name, &answer, off_t(bitPattern: entry.nextCookie))
    }
  }

  private mutating func add(
    _ name: [UInt8],
    pack: (fuse_req_t, UnsafePointer<CChar>, UnsafeMutablePointer<CChar>, Int) -> Int
  ) -> Bool {
    guard name.count < Self.nameRoom, let start = memory.baseAddress else { return true }
    let nameStart = start.advanced(by: limit)
    UnsafeMutableRawBufferPointer(start: nameStart, count: name.count).copyBytes(from: name)
    nameStart.storeBytes(of: 0, toByteOffset: name.count, as: UInt8.self)
    let needed = pack(
      request, nameStart.assumingMemoryBound(to: CChar.self),
      start.advanced(by: byteCount).assumingMemoryBound(to: CChar.self), limit - byteCount)
    guard needed <= limit - byteCount else { return false }
    byteCount += needed
    return true
  }
}

extension off_t {
  fileprivate init(bitPattern cookie: UInt64) { self = off_t(Int64(bitPattern: cookie)) }
}
