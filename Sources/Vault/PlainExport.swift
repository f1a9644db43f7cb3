import Glibc
import VaultModel

/// Writes a record, with all that stands in it, into a plain folder: readable by everyone who can read
/// the folder. Keeps modes, times, links and extended attributes; never overwrites anything.
package struct PlainExport {
  /// What was written, and what could not be read from the vault.
  package struct Report: Sendable {
    package var recordCount = 0
    package var fileCount = 0
    package var byteCount: UInt64 = 0
    /// Plain paths of files that are damaged in the vault and were left out, and why.
    package var failures: [(path: String, error: VaultError)] = []
    /// True if the folder's file system has no extended attributes, and some were left out.
    package var lacksXattrs = false
  }

  private let member: Member
  private let progress: @Sendable (UInt64) -> Void
  private var report = Report()
  private var linkedFiles: [FileID: String] = [:]

  /// - Parameter progress: Told how many bytes were written since the last time.
  package init(of member: Member, progress: @escaping @Sendable (UInt64) -> Void = { _ in }) {
    self.member = member
    self.progress = progress
  }

  /// How many bytes of files there are in a record and below it, as far as it can be read.
  package func byteCount(of record: RecordID) -> UInt64 {
    guard let entry = member.entry(record) else { return 0 }
    var sum: UInt64 = 0
    // What cannot be read is told when it is exported; here it only counts for a progress bar.
    if let revision = try? member.revision(entry.revision),
      let items = try? member.items(of: revision)
    {
      sum = items.reduce(0) { $0 &+ $1.size }
    }
    return member.children(of: record).reduce(sum) { $0 &+ byteCount(of: $1.record) }
  }

  /// Writes the record into the folder `path`, which is made; its parent must be there.
  ///
  /// Damage in the vault costs the files that it hits, which the report names.
  ///
  /// - Throws: `alreadyExists` when something is at `path`; `system` when the folder cannot be written.
  package mutating func run(_ record: RecordID, to path: String) throws(PlainFileError) -> Report {
    guard let entry = member.entry(record) else {
      throw .vault(.notFound(what: "the record"))
    }
    guard mkdir(path, 0o700) == 0 else {
      if errno == EEXIST { throw .alreadyExists(path: path) }
      throw .system(call: "mkdir", path: path, errno: errno)
    }
    try write(entry, into: path)
    return report
  }

  private mutating func write(_ entry: RecordEntry, into path: String) throws(PlainFileError) {
    let folder = try OpenFile(path: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    var attributes = RecordAttributes(mode: entry.mode, modified: entry.modified)
    var items: [Item] = []
    do throws(VaultError) {
      let revision = try member.revision(entry.revision)
      attributes = revision.attributes
      items = try member.items(of: revision)
    } catch {
      report.failures.append((path, error))
    }
    for item in items {
      try write(item, in: folder.descriptor, path: "\(path)/\(item.name.string)")
    }
    try writeChildren(of: entry.record, in: folder.descriptor, path: path)
    report.recordCount += 1
    try finish(
      folder.descriptor, path, mode: attributes.mode, modified: attributes.modified,
      xattrs: attributes.xattrs)
  }

  private mutating func writeChildren(
    of record: RecordID, in folder: Int32, path: String
  ) throws(PlainFileError) {
    let children = member.children(of: record).sorted { $0.title < $1.title }
    let exceptions = VisibleNames.exceptions(among: children) { name in
      name.withCString { faccessat(folder, $0, F_OK, AT_SYMLINK_NOFOLLOW) } == 0
    }
    for child in children {
      let name = exceptions[child.record] ?? child.title
      let inner = "\(path)/\(name.string)"
      guard name.withCString({ mkdirat(folder, $0, 0o700) }) == 0 else {
        throw .system(call: "mkdir", path: inner, errno: errno)
      }
      try write(child, into: inner)
    }
  }
}

// MARK: Files

extension PlainExport {
  /// Writes one file; one that cannot be read from the vault is left out and reported.
  private mutating func write(
    _ item: Item, in folder: Int32, path: String
  ) throws(PlainFileError) {
    do throws(PlainFileError) {
      if let first = linkedFiles[item.file] {
        guard item.name.withCString({ linkat(AT_FDCWD, first, folder, $0, 0) }) == 0 else {
          throw PlainFileError.system(call: "link", path: path, errno: errno)
        }
      } else {
        try create(item, in: folder, path: path)
      }
      report.fileCount += 1
      if !item.linkRecords.isEmpty { linkedFiles[item.file] = path }
    } catch {
      guard case .vault(let cause) = error else { throw error }
      report.failures.append((path, cause))
      _ = item.name.withCString { unlinkat(folder, $0, 0) }
    }
  }

  private mutating func create(
    _ item: Item, in folder: Int32, path: String
  ) throws(PlainFileError) {
    if case .symlink(let target) = item.content {
      let text = (target + [0]).map { CChar(bitPattern: $0) }
      guard item.name.withCString({ symlinkat(text, folder, $0) }) == 0 else {
        throw .system(call: "symlink", path: path, errno: errno)
      }
      let times = [item.modified.systemTime, item.modified.systemTime]
      _ = item.name.withCString { utimensat(folder, $0, times, AT_SYMLINK_NOFOLLOW) }
      return
    }
    guard item.mode & S_IFMT == S_IFREG else {
      let isMade = item.name.withCString { mknodat(folder, $0, item.mode, 0) } == 0
      guard isMade else { throw .system(call: "mknod", path: path, errno: errno) }
      return
    }
    let file = try OpenFile(
      openat: folder, item.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, path: path)
    try write(item, to: file.descriptor, path: path)
    try finish(
      file.descriptor, path, mode: item.mode, modified: item.modified, xattrs: item.xattrs)
  }

  private mutating func write(
    _ item: Item, to descriptor: Int32, path: String
  ) throws(PlainFileError) {
    let member = self.member
    if case .inline(let bytes) = item.content {
      try bytes.withBytes { (bytes) throws(PlainFileError) in
        try write(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(item.size))), descriptor, path)
      }
    }
    let chunks = try inVault { () throws(VaultError) in try member.chunks(of: item.content) }
    guard case .inline = item.content else {
      try write(chunks, size: item.size, to: descriptor, path: path)
      return
    }
  }

  private mutating func write(
    _ chunks: [ObjectName?], size: UInt64, to descriptor: Int32, path: String
  ) throws(PlainFileError) {
    let member = self.member
    var offset: UInt64 = 0
    for chunk in chunks {
      let count = Int(min(UInt64(Limits.chunkBytes), size - offset))
      offset += UInt64(count)
      guard let chunk else {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
          throw .system(call: "seek", path: path, errno: errno)
        }
        continue
      }
      let bytes = try inVault { () throws(VaultError) in
        let bytes = try member.objects.content(chunk, kind: .chunk)
        guard bytes.count >= count else {
          throw .damaged(path: member.objects.path(of: chunk).string, reason: "it is too short")
        }
        return bytes
      }
      try bytes.withBytes { (bytes) throws(PlainFileError) in
        try write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), descriptor, path)
      }
    }
    // A hole at the end.
    guard ftruncate(descriptor, off_t(size)) == 0 else {
      throw .system(call: "truncate", path: path, errno: errno)
    }
  }

  private mutating func write(
    _ bytes: UnsafeRawBufferPointer, _ descriptor: Int32, _ path: String
  ) throws(PlainFileError) {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(call: "write", path: path, errno: errno) }
      done += count
    }
    report.byteCount += UInt64(bytes.count)
    progress(UInt64(bytes.count))
  }

  /// Attributes last: a mode without the right to write would be in the way before.
  private mutating func finish(
    _ descriptor: Int32, _ path: String, mode: UInt32, modified: FileTimestamp, xattrs: [Xattr]
  ) throws(PlainFileError) {
    if try !PlainXattrs.store(xattrs, to: descriptor, path: path) { report.lacksXattrs = true }
    guard fchmod(descriptor, mode & 0o7777) == 0 else {
      throw .system(call: "chmod", path: path, errno: errno)
    }
    let times = [modified.systemTime, modified.systemTime]
    guard futimens(descriptor, times) == 0 else {
      throw .system(call: "utimens", path: path, errno: errno)
    }
  }
}
