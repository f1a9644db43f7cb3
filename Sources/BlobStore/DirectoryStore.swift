import CLinux
import Glibc
import Synchronization
import SystemPackage
import Threads

/// A store in a folder of a local file system. Files are made with mode 0600, folders with 0700.
///
/// Nothing outside the folder is read or written, whoever else writes into it: no symbolic link below the root is ever
/// followed (the root's own path may be one), and no pipe or device is opened. A sync program that
/// replaces a folder by a link gets `notABlob`.
///
/// It keeps one descriptor, the root's, and no state besides, so folders may come and go under it.
/// `create` is three system calls and `rename` five, plus those that make a folder that turned out to be missing.
///
/// **Barriers.** On a journaled ext4 a barrier waits for the data of the files made since the last one, and the journal
/// keeps the order (`OrderedFiles`); after many files, and elsewhere, it is `syncfs`.
///
/// **Names** are given and taken in one place (`DirectoryStore+Names.swift`), since file systems differ in what it takes.
///
/// **Races.** On local file systems and most others `put` with `ifAbsent` is one step for the file system; on the few that
/// can neither rename on a condition nor link, it looks first; `decidesRaces` is true until that was met.
///
/// **Write-back errors.** `barrier` is, for that case, `syncfs` on the descriptor that is held since the store was opened. Since Linux
/// 5.8 it reports every write-back error of that file system since then, once, those of other programs' files too;
/// before, it reports none, and a failing disk shows only when a blob is read again. On a FUSE file system (sshfs,
/// mergerfs) it hands everything to the server, which decides alone what is on disk.
package final class DirectoryStore: LocalStore {
  package let folder: FilePath
  let root: Descriptor
  private let barriers = BarrierTurns()
  /// Nil where `barrier` has to be `syncfs`.
  let ordered: OrderedFiles?
  let fileSystem: FileSystemKind
  /// Set once this file system was seen to need `put` with `ifAbsent` in two steps.
  let looksFirst = Atomic(false)
  /// On FAT, the folders that files were renamed out of since the last barrier.
  let leftFolders = Guarded<Set<BlobPath>>([])

  /// Opens an existing folder.
  ///
  /// - Throws: `notFound` when there is none, `notABlob` when something else is there, `permission` with its whole path when it
  ///   may not be listed or entered.
  package init(opening folder: FilePath) throws(BlobStoreError) {
    let path = folder.string
    self.folder = folder
    let opened = try Descriptor(
      retryingInterrupted {
        let returned = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return returned < 0 ? -errno : returned
      }, path: path)
    // One that may be listed and not entered would refuse each file in it, which is named without the folder.
    let number = opened.number
    let error = errorOf { faccessat(number, ".", F_OK, 0) }
    if error != 0 { throw BlobStoreError(errno: -error, path: path) }
    root = opened
    ordered = OrderedFiles.make(for: root.number)
    fileSystem = ordered == nil ? FileSystemKind.find(of: root.number) : .journaled
  }

  /// Makes the folder (and those above it) if it is missing, and opens it.
  package static func make(_ folder: FilePath) throws(BlobStoreError) -> DirectoryStore {
    do {
      return try DirectoryStore(opening: folder)
    } catch .notFound {
      var path = FilePath(root: folder.root, [])
      for component in folder.components {
        path.append(component)
        let text = path.string
        let error = errorOf { mkdir(text, 0o700) }
        // On the way down EROFS and EACCES may stand before EEXIST; the last word has opening it.
        if error != 0 && error != -EEXIST && path.components.count == folder.components.count {
          throw BlobStoreError(errno: -error, path: text)
        }
        // The folder must not go with the power when what is in it stays.
        if error == 0 {
          let parent = path.removingLastComponent()
          let above = try DirectoryStore(opening: parent.isEmpty ? "." : parent)
          try above.root.sync(path: above.folder.string)
        }
      }
      return try DirectoryStore(opening: folder)
    }
  }

  // MARK: Reading

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let file = try openFile(path)
    let size = try file.blobSize(path: path.string)
    guard size <= UInt64(max(limit, 0)) else {
      throw .tooLarge(path: path.string, size: size, limit: limit)
    }
    return try file.read(at: 0, count: Int(size), path: path.string)
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    let file = try openFile(path)
    let size = try file.blobSize(path: path.string)
    guard offset < size, count > 0 else { return [] }
    let present = Int(min(size - offset, UInt64(count)))
    return try file.read(at: offset, count: present, path: path.string)
  }

  package func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader {
    try FileReader(try openFile(path), path: path.string)
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try status(of: path).map { UInt64($0.st_size) }
  }

  package func takeOver(_ path: BlobPath) throws(BlobStoreError) -> Bool {
    guard let status = try status(of: path) else { return false }
    // What has stood there for longer has been written back by the kernel. A changed clock costs a second look.
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    guard abs(now.tv_sec - status.st_ctim.tv_sec) < Self.writebackSeconds else { return true }
    do { try finishExisting(path) } catch .notFound { return false }
    return true
  }

  /// Four times what vm.dirty_expire_centisecs is by default.
  private static let writebackSeconds = 120

  /// Keeps when the blob was of use as the time of the file's last change: nothing else may go by that time.
  package func noteUse(of path: BlobPath) throws(BlobStoreError) {
    let error = inParent(of: path) { folder, name in
      errorOf { utimensat(folder, name, nil, AT_SYMLINK_NOFOLLOW) }
    }
    if error != -ENOENT { try check(error, path) }
  }

  package func lastUse(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try status(of: path).map { status in
      UInt64(max(0, status.st_mtim.tv_sec)) * 1_000_000_000 + UInt64(status.st_mtim.tv_nsec)
    }
  }

  package func arrival(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try status(of: path).map { status in
      UInt64(max(0, status.st_ctim.tv_sec)) * 1000 + UInt64(status.st_ctim.tv_nsec) / 1_000_000
    }
  }

  /// Nil where there is nothing.
  private func status(of path: BlobPath) throws(BlobStoreError) -> stat? {
    var status = stat()
    let error = inParent(of: path) { folder, name in
      errorOf { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
    }
    if error == -ENOENT { return nil }
    try check(error, path)
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notABlob(path: path.string) }
    return status
  }

  /// Does not wait for the other end of a pipe; the caller checks that it is a regular file.
  func openFile(_ path: BlobPath) throws(BlobStoreError) -> Descriptor {
    try Descriptor(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY), path: path.string)
  }

  package func space() throws(BlobStoreError) -> BlobSpace {
    var numbers = statvfs()
    let error = errorOf { fstatvfs(root.number, &numbers) }
    try check(error, .root)
    let unit = UInt64(numbers.f_frsize)
    return BlobSpace(
      totalBytes: UInt64(numbers.f_blocks).multipliedSaturating(by: unit),
      availableBytes: UInt64(numbers.f_bavail).multipliedSaturating(by: unit),
      totalFiles: UInt64(numbers.f_files), availableFiles: UInt64(numbers.f_favail))
  }

  package var decidesRaces: Bool { !looksFirst.load(ordering: .relaxed) }

  // MARK: Durability

  package func barrier() throws(BlobStoreError) {
    try barriers.take { () throws(BlobStoreError) in
      if let error = ordered?.finish() { return try check(error, .root) }
      try syncFileSystem()
    }
  }

  /// Unlike `barrier` followed by `renameDurably`, it needs nothing that is to be renamed.
  package func flush() throws(BlobStoreError) {
    try barriers.take { () throws(BlobStoreError) in
      // Also lets go of the descriptors that it keeps.
      if let error = ordered?.finish() { try check(error, .root) }
      try syncFileSystem()
    }
  }

  private func syncFileSystem() throws(BlobStoreError) {
    try syncLeftFolders()
    try check(retryingInterrupted { kv_syncfs(root.number) }, .root)
    // FAT's syncfs hands everything to the disk and leaves it in the disk's cache, which an fsync empties.
    if fileSystem != .journaled { try root.sync(path: "") }
  }
}

extension UInt64 {
  /// Some network file systems report the greatest number that there is.
  fileprivate func multipliedSaturating(by other: UInt64) -> UInt64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
