import CLinux
import Glibc
import Synchronization

extension DirectoryStore {
  package func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError) {
    let file = try createFile(path)
    do {
      try file.write(bytes, path: path.string)
      startWriteback(of: file, bytes.count)
      try finish(file, path)
    } catch {
      // The torn file must not stand in the way of another try, nor hold the last of the space.
      _ = unlink(path)
      throw error
    }
  }

  /// Sends larger files to the disk at once, so that a barrier finds little left to wait for. A head start only: whether
  /// it worked shows at the barrier.
  private func startWriteback(of file: borrowing Descriptor, _ byteCount: Int) {
    if byteCount >= Self.earlyWritebackSize { _ = kv_start_writeback(file.number, 0, 0) }
  }

  private static let earlyWritebackSize = 256 << 10

  /// Closes a file that was written, or keeps it open for the next barrier.
  private func finish(_ file: consuming Descriptor, _ path: BlobPath) throws(BlobStoreError) {
    guard let ordered else { return try file.close(path: path.string) }
    let number = file.release()
    guard !ordered.keep(number) else { return }
    try Descriptor(number, path: path.string).close(path: path.string)
  }

  /// A new file, open for writing. Makes the folder it needs only when the system says that it is missing.
  private func createFile(_ path: BlobPath) throws(BlobStoreError) -> Descriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY
    var returned = open(path, flags)
    if returned == -ENOENT {
      try check(makeParent(of: path, durably: false), path)
      returned = open(path, flags)
    }
    return try Descriptor(returned, path: path.string)
  }

  package func rename(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try rename(from, to: to, durably: false)
  }

  private func rename(
    _ from: BlobPath, to: BlobPath, durably: Bool
  ) throws(BlobStoreError) {
    var failed = to
    let error = inParent(of: from) { oldFolder, oldName in
      inParent(of: to, missing: .make, readable: durably) { newFolder, newName in
        let error = give(newName, in: newFolder, durably: durably) {
          errorOf { renameat(oldFolder, oldName, newFolder, newName) }
        }
        if error == -ENOENT { failed = from }
        if error == 0 { noteLeft(from) }
        return error
      }
    }
    if error == -ENOENT { failed = from }
    try check(error, failed)
  }

  package func renameDurably(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try rename(from, to: to, durably: true)
  }

  package func link(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    let error = inParent(of: from) { oldFolder, oldName in
      inParent(of: to, missing: .make) { newFolder, newName in
        errorOf { linkat(oldFolder, oldName, newFolder, newName, 0) }
      }
    }
    switch -error {
    case EPERM, EXDEV, EMLINK, EOPNOTSUPP, ENOSYS: try copy(from, to: to)
    case ENOENT: throw .notFound(path: from.string)
    default: try check(error, to)
    }
    try finishExisting(to)
  }

  /// What `link` does on file systems without links, such as FAT.
  func copy(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    let reader = try openForReading(from)
    let file = try createFile(to)
    do {
      try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) {
        (buffer) throws(BlobStoreError) in
        var offset: UInt64 = 0
        while true {
          let count = try reader.read(at: offset, into: buffer)
          if count == 0 { break }
          try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), path: to.string)
          offset += UInt64(count)
        }
      }
      try file.close(path: to.string)
    } catch {
      _ = unlink(to)
      throw error
    }
  }

  package func replace(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, durably: Bool
  ) throws(BlobStoreError) {
    try writingAgain { () throws(BlobStoreError) in
      try write(path, bytes, .always, durably ? .always : .never)
    }
  }

  package func overwrite(
    _ path: BlobPath, at offset: UInt64, _ bytes: UnsafeRawBufferPointer
  ) throws(BlobStoreError) {
    let file = try Descriptor(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY), path: path.string)
    guard try file.blobSize(path: path.string) >= offset + UInt64(bytes.count) else {
      throw .io(path: path.string, errno: EFBIG)
    }
    try file.write(bytes, at: offset, path: path.string)
    try file.syncData(path: path.string)
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    do {
      try writingAgain { () throws(BlobStoreError) in
        if condition == .ifAbsent, try writeUnnamed(path, bytes) { return }
        try write(path, bytes, condition, .overAnother)
      }
    } catch .alreadyExists {
      // Whoever takes the one that is there for theirs needs it on disk: its maker may not have waited for its data.
      do { try finishExisting(path) } catch .notFound {}
      throw .alreadyExists(path: path.string)
    }
  }

  /// Writes anew where the folder, or the file under its temporary name, was removed meanwhile, as by a copier that puts an
  /// older state back. Who goes on removing has the last word.
  private func writingAgain(
    _ write: () throws(BlobStoreError) -> Void
  ) throws(BlobStoreError) {
    for _ in 1..<Self.writeTries {
      do { return try write() } catch .notFound {}
    }
    try write()
  }

  private static let writeTries = 20

  /// Has the next barrier wait for a file that somebody else may have made.
  func finishExisting(_ path: BlobPath) throws(BlobStoreError) {
    if ordered != nil { try finish(try openFile(path), path) }
  }

  /// When a write waits for the disk.
  private enum Waiting {
    case never
    /// A new blob may be torn when the power goes, but nothing that was whole is lost for it.
    case overAnother
    case always
  }

  /// Writes a file that gets its name when it is whole: one change of a folder, and nothing is left behind by a crash.
  ///
  /// - Returns: False, with nothing done, where the file system has no files without names.
  private func writeUnnamed(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer
  ) throws(BlobStoreError) -> Bool {
    var outcome: Result<Bool, BlobStoreError> = .success(true)
    let error = inParent(of: path, missing: .make) { folder, name in
      do throws(BlobStoreError) {
        outcome = .success(try writeUnnamed(bytes, as: name, in: folder, for: path))
      } catch {
        outcome = .failure(error)
      }
      return 0
    }
    try check(error, path)
    return try outcome.get()
  }

  private func writeUnnamed(
    _ bytes: UnsafeRawBufferPointer, as name: UnsafePointer<CChar>, in folder: Int32,
    for path: BlobPath
  ) throws(BlobStoreError) -> Bool {
    let opened = retryingInterrupted { kv_open_unnamed(folder) }
    // EISDIR is what kernels without such files say, ENOENT some file systems, and EPERM ext4 in a folder that was removed.
    if [-EOPNOTSUPP, -EISDIR, -EINVAL, -ENOENT, -EPERM].contains(opened) { return false }
    let file = try Descriptor(opened, path: path.string)
    try file.write(bytes, path: path.string)
    let error = retryingInterrupted { kv_link_unnamed(file.number, folder, name) }
    if error < 0, error != -EEXIST { return false }
    try check(error, path)
    try finish(file, path)
    return true
  }

  /// Writes a temporary file next to where it shall be, and gives it its name.
  private func write(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition, _ waiting: Waiting
  ) throws(BlobStoreError) {
    var failure: BlobStoreError?
    let error = inParent(
      of: path, missing: waiting == .always ? .makeDurably : .make, readable: waiting != .never
    ) { folder, name in
      let temporary = TemporaryName.make(for: path.name)
      let durably =
        switch waiting {
        case .never: false
        case .overAnother: condition == .always && faccessat(folder, name, F_OK, 0) == 0
        case .always: true
        }
      do throws(BlobStoreError) {
        try write(bytes, as: temporary, in: folder, for: path, durably: durably)
      } catch {
        failure = error
        return 0
      }
      let error = give(name, in: folder, durably: durably) {
        switch condition {
        case .always: errorOf { renameat(folder, temporary, folder, name) }
        case .ifAbsent: renameIfAbsent(temporary, to: name, in: folder)
        }
      }
      // After a sync that failed there is none of this name.
      if error < 0 { _ = unlink(temporary, in: folder) }
      return error
    }
    if let failure { throw failure }
    try check(error, path)
  }

  /// -EEXIST when there is something of that name. Where the file system can neither rename on that condition (NFS) nor
  /// link (FAT by way of FUSE), it looks first and renames then.
  private func renameIfAbsent(
    _ temporary: String, to name: UnsafePointer<CChar>, in folder: Int32
  ) -> Int32 {
    var error = retryingInterrupted {
      kv_renameat2(folder, temporary, folder, name, UInt32(KV_RENAME_NOREPLACE))
    }
    guard [-EINVAL, -ENOSYS, -EOPNOTSUPP].contains(error) else { return error }
    error = errorOf { linkat(folder, temporary, folder, name, 0) }
    if error == 0 { return errorOf { unlinkat(folder, temporary, 0) } }
    guard [-EPERM, -EOPNOTSUPP, -ENOSYS, -EMLINK].contains(error) else { return error }
    looksFirst.store(true, ordering: .relaxed)
    var status = stat()
    error = errorOf { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
    guard error == -ENOENT else { return error == 0 ? -EEXIST : error }
    return errorOf { renameat(folder, temporary, folder, name) }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, as temporary: String, in folder: Int32, for path: BlobPath,
    durably: Bool
  ) throws(BlobStoreError) {
    let file = try Descriptor(
      retryingInterrupted {
        kv_open_beneath(folder, temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600)
      }, path: path.string)
    do {
      try file.write(bytes, path: path.string)
      if durably {
        try file.sync(path: path.string)
      } else {
        startWriteback(of: file, bytes.count)
      }
      try finish(file, path)
    } catch {
      _ = unlink(temporary, in: folder)
      throw error
    }
  }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    let error = unlink(path)
    if error != -ENOENT { try check(error, path) }
  }

  private func unlink(_ path: BlobPath) -> Int32 {
    inParent(of: path) { folder, name in unlink(name, in: folder) }
  }

  private func unlink(_ name: UnsafePointer<CChar>, in folder: Int32) -> Int32 {
    take(name, from: folder) { errorOf { unlinkat(folder, name, 0) } }
  }
}
