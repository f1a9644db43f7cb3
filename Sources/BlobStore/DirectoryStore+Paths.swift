import CLinux
import Glibc

/// From a path to a descriptor, without ever following a symbolic link. These calls return -errno when they fail.
extension DirectoryStore {
  /// What to do about a folder that is missing.
  enum MissingFolders {
    case fail
    case make
    /// And the names of those made are on disk afterwards.
    case makeDurably
  }

  /// Opens a file or folder below the root.
  func open(_ path: BlobPath, _ flags: Int32) -> Int32 {
    if path.isRoot { return retryingInterrupted { kv_open_beneath(root.number, ".", flags, 0) } }
    return path.string.withCString { text in
      retryingInterrupted { kv_open_beneath(root.number, text, flags, 0o600) }
    }
  }

  /// Calls `body` with a descriptor of the folder that holds `path`, for *at calls only unless it is `readable` or on FAT, and
  /// with the path's last part; both are good only during the call. Returns what `body` returns.
  func inParent(
    of path: BlobPath, missing: MissingFolders = .fail, readable: Bool = false,
    _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    if path.isRoot { return -EISDIR }
    return path.string.withCString { text in
      var name: UnsafePointer<CChar>? = nil
      let flag: Int32 = readable || fileSystem == .fat ? 1 : 0
      func openFolder() -> Int32 {
        retryingInterrupted { kv_open_parent_beneath(root.number, text, flag, &name) }
      }
      var folder = openFolder()
      if folder == -ENOENT && missing != .fail {
        let error = makeParent(of: path, durably: missing == .makeDurably)
        if error < 0 { return error }
        folder = openFolder()
      }
      guard folder >= 0, let name else { return folder }
      defer { close(folder) }
      return body(folder, name)
    }
  }

  /// Makes the folder that holds `path`, and those above it.
  func makeParent(of path: BlobPath, durably: Bool) -> Int32 {
    guard let parent = path.parent, !parent.isRoot else { return 0 }
    return inParent(of: parent, missing: durably ? .makeDurably : .make, readable: durably) {
      folder, name in
      let error = errorOf { mkdirat(folder, name, 0o700) }
      guard error == 0 || error == -EEXIST else { return error }
      return durably ? errorOf { fsync(folder) } : 0
    }
  }

  func check(_ returned: Int32, _ path: BlobPath) throws(BlobStoreError) {
    if returned < 0 { throw BlobStoreError(errno: -returned, path: path.string) }
  }
}
