import CLinux
import Glibc

extension DirectoryStore {
  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    var entries: [BlobEntry] = []
    let error = withNames(in: open(folder, O_RDONLY | O_DIRECTORY)) { descriptor, name in
      var status = stat()
      let error = errorOf { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
      // What went away since the folder was read is not in it.
      if error == -ENOENT { return 0 }
      if error < 0 { return error }
      entries.append(BlobEntry(name: String(cString: name), status))
      return 0
    }
    if error == -ENOENT { return [] }
    try check(error, folder)
    entries.sort { $0.name < $1.name }
    return entries
  }

  package func removeFolder(_ path: BlobPath) throws(BlobStoreError) {
    let error = inParent(of: path) { parent, name in
      removeFolder(name, in: parent, depth: Self.maximumDepth)
    }
    if error != -ENOENT { try check(error, path) }
  }

  /// Deeper than any folder of a vault; each level holds a descriptor and a stack frame.
  private static let maximumDepth = 64

  private func removeFolder(
    _ name: UnsafePointer<CChar>, in parent: Int32, depth: Int
  ) -> Int32 {
    guard depth > 0 else { return -ENAMETOOLONG }
    let folder = retryingInterrupted {
      kv_open_beneath(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
    }
    let error = withNames(in: folder) { descriptor, child in
      // unlink removes everything but a folder, links as themselves; Linux answers EISDIR for one.
      let error = take(child, from: descriptor) { errorOf { unlinkat(descriptor, child, 0) } }
      switch error {
      case -ENOENT: return 0
      case -EISDIR, -EPERM:
        let inner = removeFolder(child, in: descriptor, depth: depth - 1)
        return inner == -ENOTDIR ? error : inner
      default: return error
      }
    }
    if error < 0 { return error }
    return take(name, from: parent) { errorOf { unlinkat(parent, name, AT_REMOVEDIR) } }
  }

  /// Takes over a folder's descriptor, or -errno, and calls `body` for each name in it but `.` and `..`, until one
  /// returns an error. Returns the first error.
  private func withNames(
    in folder: Int32, _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    guard folder >= 0 else { return folder }
    guard let stream = fdopendir(folder) else {
      let error = errno
      close(folder)
      return -error
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else { return -errno }
      let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
      let name = UnsafeRawPointer(entry).advanced(by: nameOffset)
        .assumingMemoryBound(to: CChar.self)
      if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { continue }
      let error = body(folder, name)
      if error < 0 { return error }
    }
  }
}

extension BlobEntry {
  /// FNV-1a over what the file system changes when a file is replaced or written.
  private static func fingerprint(_ status: stat) -> UInt64 {
    let parts = [
      UInt64(status.st_ino), UInt64(truncatingIfNeeded: status.st_size),
      UInt64(truncatingIfNeeded: status.st_mtim.tv_sec),
      UInt64(truncatingIfNeeded: status.st_mtim.tv_nsec),
      UInt64(truncatingIfNeeded: status.st_ctim.tv_sec),
      UInt64(truncatingIfNeeded: status.st_ctim.tv_nsec),
    ]
    return parts.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ $1) &* 0x100_0000_01b3 }
  }

  fileprivate init(name: String, _ status: stat) {
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .blob
      case S_IFDIR: .folder
      default: .other
      }
    self.init(
      name: name, kind: kind, size: kind == .blob ? UInt64(status.st_size) : 0,
      fingerprint: Self.fingerprint(status))
  }
}
