import BlobStore
import Glibc
import Vault
import VaultErrors
import VaultModel

/// Writes a record, with all that stands in it, into a plain folder: readable by everyone who can read
/// the folder. Keeps permissions, times, links and extended attributes; never overwrites anything. Gives nothing the
/// right to run as somebody else: whoever may write a record could have set that.
package struct PlainExport {
  /// What was written, and what was not.
  package struct Report: Sendable {
    /// Records of which a folder was written, and whose files can be listed.
    package var recordCount = 0
    package var fileCount = 0
    /// Of these files.
    package var byteCount: UInt64 = 0
    /// Plain paths of files and folders that were left out, and why: damage in the vault, or what the file system there cannot have.
    package var failures: [(path: String, error: PlainFileError)] = []
    /// Plain paths of folders of which not all files can be listed, and why.
    package var cutFolders: [(path: String, error: VaultError)] = []
    /// How many files and folders had set-user-ID, set-group-ID or sticky bits, which are left out.
    package var unprivilegedCount = 0
    /// True if the folder's file system has no extended attributes, or no room for all, and some were left out.
    package var lacksXattrs = false
    /// Modes and times are left out where the folder's file system lets nobody but its owner set them: a stick that was
    /// mounted for somebody else.
    package var lacksModes = false
  }

  private let member: Member
  private let progress: @Sendable (UInt64) -> Void
  private var report = Report()
  /// Whether the folder is there, with as much in it as was written.
  package private(set) var hasBegun = false
  /// The first plain file that was written for one that has several names.
  private var linkedFiles: [FileID: WrittenName] = [:]

  private struct WrittenName {
    let place: PlainFile
    let item: Item
    let record: RecordID
  }

  /// A folder that is being written.
  private struct Folder {
    let record: RecordID
    let descriptor: Int32
    /// As it can be named from the current folder.
    let path: [UInt8]
    /// For messages.
    var description: String { String(decoding: path, as: UTF8.self) }

    func file(_ name: FileName) -> PlainFile { PlainFile(name, in: descriptor, at: description) }
    func path(of name: FileName) -> [UInt8] { path + [UInt8(ascii: "/")] + name.bytes }
  }

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
      let found = try? member.readableItems(of: revision)
    {
      sum = found.items.reduce(0) { $0 &+ $1.size }
    }
    return member.children(of: record).reduce(sum) { $0 &+ byteCount(of: $1.record) }
  }

  /// Writes the record into a folder, which is made; its parent must be there. All of it is on disk when this returns.
  ///
  /// Damage in the vault costs the files that it hits, and what the file system there cannot have only itself; the report names
  /// them.
  ///
  /// - Throws: `alreadyExists` when something is there; `system` when the folder cannot be written. What was written before that
  ///   stays, as it may be all that can be had of it.
  ///
  /// - Parameter path: In bytes, as the operating system has it.
  package mutating func run(
    _ record: RecordID, to path: [UInt8]
  ) throws(PlainFileError) -> Report {
    guard let entry = member.entry(record) else {
      throw .vault(.notFound(what: "the record"))
    }
    let directory = PlainFile(path: path)
    try makeFolder(directory)
    hasBegun = true
    // Open all the time, so that the system tells by it also what it could not write in between.
    let folder = try OpenFile(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    try write(entry, into: directory, path: path)
    try folder.syncFileSystem(path: directory.description)
    return report
  }

  private func makeFolder(_ directory: PlainFile) throws(PlainFileError) {
    try directory.check("mkdir") { mkdirat($0, $1, 0o700) }
  }

  /// - Throws: The error, where it is not of this file or folder alone.
  private mutating func leaveOut(
    _ path: String, _ error: PlainFileError
  ) throws(PlainFileError) {
    guard error.isOfOneFile else { throw error }
    report.failures.append((path, error))
  }

  private mutating func write(
    _ entry: RecordEntry, into directory: PlainFile, path: [UInt8]
  ) throws(PlainFileError) {
    let opened = try OpenFile(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    let folder = Folder(record: entry.record, descriptor: opened.descriptor, path: path)
    var attributes = RecordAttributes(mode: entry.mode, modified: entry.modified)
    var items: [Item] = []
    do {
      let revision = try member.revision(entry.revision)
      attributes = revision.attributes
      let found = try member.readableItems(of: revision)
      items = found.items
      report.recordCount += 1
      report.cutFolders += found.gaps.map { (folder.description, $0.error) }
    } catch {
      report.failures.append((folder.description, PlainFileError.vault(error)))
    }
    for item in items { try write(item, in: folder) }
    try writeChildren(of: entry.record, in: folder)
    try finish(opened.descriptor, folder.description, as: attributes)
  }

  private mutating func writeChildren(
    of record: RecordID, in folder: Folder
  ) throws(PlainFileError) {
    let children = member.children(of: record).sorted { $0.title < $1.title }
    let exceptions = VisibleNames.exceptions(among: children) { name in
      // What keeps it from being looked at is told by whoever writes there.
      (try? folder.file(name).status()) != nil
    }
    for child in children {
      let name = exceptions[child.record] ?? child.title
      let directory = folder.file(name)
      do { try makeFolder(directory) } catch {
        try leaveOut(directory.description, error)
        continue
      }
      try write(child, into: directory, path: folder.path(of: name))
    }
  }
}

// MARK: Files

extension PlainExport {
  /// Writes one file; one that cannot be read from the vault, or that cannot stand there, is left out and reported.
  private mutating func write(
    _ item: Item, in folder: Folder
  ) throws(PlainFileError) {
    let file = folder.file(item.name)
    let before = report
    do {
      if try !link(item, of: folder.record, to: file) { try create(item, as: file) }
      report.fileCount += 1
      if !item.linkRecords.isEmpty, linkedFiles[item.file] == nil {
        linkedFiles[item.file] = WrittenName(
          place: PlainFile(path: folder.path(of: item.name)), item: item, record: folder.record)
      }
    } catch {
      // Nothing of what is left out counts.
      report = before
      try leaveOut(file.description, error)
    }
  }

  /// Gives a file that is written already this name as well.
  ///
  /// - Returns: False if there is none, or the file system has no links or no more of them.
  private func link(
    _ item: Item, of record: RecordID, to file: PlainFile
  ) throws(PlainFileError) -> Bool {
    guard let first = linkedFiles[item.file],
      item.isName(of: first.item, in: first.record, standingIn: record)
    else { return false }
    do {
      try file.link(to: first.place)
      return true
    } catch {
      guard case .system = error else { throw error }
      return false
    }
  }

  private mutating func create(_ item: Item, as file: PlainFile) throws(PlainFileError) {
    if case .symlink(let target) = item.content {
      let text = (target + [0]).map { CChar(bitPattern: $0) }
      try file.check("symlink") { symlinkat(text, $0, $1) }
      let times = [item.modified.systemTime, item.modified.systemTime]
      do { try file.check("utimens") { utimensat($0, $1, times, AT_SYMLINK_NOFOLLOW) } } catch {
        // The link is there, whoever may set its time.
        report.lacksModes = true
      }
      return
    }
    guard item.mode & S_IFMT == S_IFREG else {
      let mode = item.mode & S_IFMT | permissions(item.mode)
      try file.check("mknod") { mknodat($0, $1, mode, 0) }
      return
    }
    let opened = try OpenFile(
      file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    do {
      try write(item, to: opened.descriptor, path: file.description)
      try finish(
        opened.descriptor, file.description,
        as: RecordAttributes(mode: item.mode, modified: item.modified, xattrs: item.xattrs))
      try opened.close(path: file.description)
    } catch {
      // Half of a file is none.
      try file.check("unlink") { unlinkat($0, $1, 0) }
      throw error
    }
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
    let chunks = try inVault(member.chunks(of: item.content))
    guard case .inline = item.content else {
      try write(chunks, size: item.size, to: descriptor, path: path)
      return
    }
  }

  private mutating func write(
    _ chunks: [ContentDigest?], size: UInt64, to descriptor: Int32, path: String
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
      let bytes = try inVault(member.chunk(chunk, byteCount: count))
      try bytes.withBytes { (bytes) throws(PlainFileError) in
        try write(bytes, descriptor, path)
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

  private mutating func permissions(_ mode: UInt32) -> UInt32 {
    if mode & 0o7000 != 0 { report.unprivilegedCount += 1 }
    return mode & 0o777
  }

  /// Attributes last: a mode without the right to write would be in the way before.
  private mutating func finish(
    _ descriptor: Int32, _ path: String, as attributes: RecordAttributes
  ) throws(PlainFileError) {
    if try !PlainXattrs.store(attributes.xattrs, to: descriptor, path: path) {
      report.lacksXattrs = true
    }
    if fchmod(descriptor, permissions(attributes.mode)) != 0 {
      try noteRefused("chmod", path, errno)
    }
    let times = [attributes.modified.systemTime, attributes.modified.systemTime]
    if futimens(descriptor, times) != 0 { try noteRefused("utimens", path, errno) }
  }

  private mutating func noteRefused(
    _ call: String, _ path: String, _ number: Int32
  ) throws(PlainFileError) {
    guard number == EPERM else { throw .system(call: call, path: path, errno: number) }
    report.lacksModes = true
  }
}
