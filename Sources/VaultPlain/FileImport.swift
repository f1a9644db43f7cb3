import BlobStore
import Glibc
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// Takes plain files into a member's vault: their content in sealed chunks, their attributes as they
/// are. At most two chunks are in memory at a time, however large a file is.
///
/// What it returns names staged objects; they count once a commit names them.
package struct FileImport {
  private let member: Member
  private let mediaType: @Sendable (FileName, UInt32) -> String
  private let progress: @Sendable (UInt64) -> Void
  private var buffer = [UInt8](repeating: 0, count: Limits.chunkBytes)

  /// - Parameters:
  ///   - mediaType: Says the media type for a name and mode.
  ///   - progress: Told how many bytes were read since the last time.
  package init(
    into member: Member, mediaType: @escaping @Sendable (FileName, UInt32) -> String,
    progress: @escaping @Sendable (UInt64) -> Void = { _ in }
  ) {
    self.member = member
    self.mediaType = mediaType
    self.progress = progress
  }

  /// The item for a file, a link that is kept as a link, or a fifo. A file that is written to while it is read is read anew.
  ///
  /// - Parameter name: What it is called in the vault.
  package mutating func item(
    for file: PlainFile, named name: FileName
  ) throws(PlainFileError) -> Item {
    let status = try file.status()
    switch status.st_mode & S_IFMT {
    case S_IFREG: return try regularFile(file, named: name)
    case S_IFLNK: return try link(file, named: name, status)
    case S_IFIFO: return newItem(name, status)
    default: throw .notImportable(path: file.description)
    }
  }

  /// The attributes of a plain directory, for the record that it becomes.
  ///
  /// - Parameter path: For messages.
  func attributes(
    of folder: borrowing OpenFile, path: String
  ) throws(PlainFileError) -> RecordAttributes {
    let status = try folder.status(path: path)
    return RecordAttributes(
      mode: status.st_mode & 0o7777, modified: FileTimestamp(status.st_mtim), owner: .mounter,
      xattrs: try PlainXattrs.load(from: folder.descriptor, path: path))
  }

  /// The item of a note whose content is given.
  package mutating func item(
    forContent content: [UInt8], named name: FileName, modified: FileTimestamp
  ) throws(PlainFileError) -> Item {
    var item = Item(
      name: name, file: .random(), mode: S_IFREG | 0o600, modified: modified,
      mediaType: mediaType(name, S_IFREG | 0o600), time: .zero)
    var whole = ContentImport(into: member, named: name)
    (item.size, item.content) = try inVault { () throws(VaultError) in
      try content.withBytes { (bytes) throws(VaultError) in try whole.add(bytes) }
      return try whole.finish()
    }
    return item
  }

  // MARK: Kinds of files

  private mutating func regularFile(
    _ plain: PlainFile, named name: FileName
  ) throws(PlainFileError) -> Item {
    let path = plain.description
    // Without O_NONBLOCK, a file exchanged for a fifo would hang here.
    let file = try OpenFile(plain, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    var status = try file.status(path: path)
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notImportable(path: path) }
    posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    for _ in 0..<Self.readTries {
      var item = newItem(name, status)
      item.xattrs = try PlainXattrs.load(from: file.descriptor, path: path)
      guard lseek(file.descriptor, 0, SEEK_SET) == 0 else {
        throw .system(call: "seek", path: path, errno: errno)
      }
      (item.size, item.content) = try content(of: file.descriptor, named: name, path: path)
      let after = try file.status(path: path)
      if Self.isSameContent(status, after) { return item }
      status = after
    }
    throw .changing(path: path)
  }

  /// How often a file is read that changes meanwhile.
  private static let readTries = 3

  /// Whether nobody has written to a file in between, as far as its time tells.
  private static func isSameContent(_ before: stat, _ after: stat) -> Bool {
    before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec
      && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec
  }

  private func link(
    _ file: PlainFile, named name: FileName, _ status: stat
  ) throws(PlainFileError) -> Item {
    var target = [UInt8](repeating: 0, count: Limits.symlinkTargetBytes + 1)
    let count = try file.check("readlink") { (folder, path) in
      target.withUnsafeMutableBytes { buffer in
        readlinkat(
          folder, path, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      }
    }
    guard count <= Limits.symlinkTargetBytes else {
      throw .system(call: "readlink", path: file.description, errno: ENAMETOOLONG)
    }
    var item = newItem(name, status)
    item.size = UInt64(count)
    item.content = .symlink(Array(target[..<count]))
    return item
  }

  private func newItem(_ name: FileName, _ status: stat) -> Item {
    Item(
      name: name, file: .random(), mode: status.st_mode,
      modified: FileTimestamp(status.st_mtim), mediaType: mediaType(name, status.st_mode),
      time: .zero)
  }

  // MARK: Content

  private mutating func content(
    of descriptor: Int32, named name: FileName, path: String
  ) throws(PlainFileError) -> (size: UInt64, content: Item.Content) {
    var whole = ContentImport(into: member, named: name)
    var count = 0
    repeat {
      count = try fillBuffer(from: descriptor, path: path)
      progress(UInt64(count))
      try inVault { () throws(VaultError) in
        try buffer.withBytes { (bytes) throws(VaultError) in
          try whole.add(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
      }
    } while count == buffer.count
    return try inVault(whole.finish())
  }

  /// Reads until the buffer is full or the file ends.
  private mutating func fillBuffer(
    from descriptor: Int32, path: String
  ) throws(PlainFileError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = buffer.withUnsafeMutableBytes { [filled] in
        read(descriptor, $0.baseAddress! + filled, $0.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(call: "read", path: path, errno: errno) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }
}
