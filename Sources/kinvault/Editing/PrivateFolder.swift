import BlobStore
import CLinux
import Glibc
import SystemPackage

/// A folder of this user alone, in memory where possible, for a text while a person edits it.
struct PrivateFolder: ~Copyable {
  let path: FilePath
  let isInMemory: Bool
  private var isKept = false

  /// - Parameter allowsDisk: Take a folder on disk where there is none in memory; what was deleted there may be
  ///   found again by someone who has the disk.
  init(allowsDisk: Bool) throws(CommandError) {
    let candidates = [Environment.value("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap { $0 }
    let memory = candidates.first { Self.isInMemory($0) && access($0, W_OK | X_OK) == 0 }
    guard let parent = memory ?? (allowsDisk ? Environment.value("TMPDIR") ?? "/tmp" : nil) else {
      throw .unsupported(
        "There is no folder in memory here (/dev/shm, $XDG_RUNTIME_DIR), so the text would be on disk, "
          + "unencrypted, while you edit it. If that is all right: --allow-disk")
    }
    var template = Array("\(parent)/kinvault-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .system(call: "mkdtemp", path: parent, errno: errno)
    }
    isInMemory = memory != nil
    path = FilePath(bytes: template.map { UInt8(bitPattern: $0) })
  }

  /// Overwrites what is in it, the editor's own files too, and removes it, unless it is kept.
  deinit {
    if isKept { return }
    Self.wipe(path)
    guard path.withPlatformString({ access($0, F_OK) }) == 0 else { return }
    Terminal.note(
      "kinvault: What was edited could not be removed from \(Terminal.visible(path.string)), where it lies unencrypted. "
        + "Remove it yourself.")
  }

  /// From now on it stays, until somebody removes it.
  mutating func keep() { isKept = true }

  private static func isInMemory(_ path: String) -> Bool {
    kv_is_in_memory(path) == 1
  }

  private static func wipe(_ path: FilePath) {
    for name in FolderNames.readable(in: path) {
      let inner = path.appending(bytes: name)
      var status = stat()
      guard inner.withPlatformString({ lstat($0, &status) }) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        wipe(inner)
      } else {
        overwrite(inner)
        inner.withPlatformString { _ = unlink($0) }
      }
    }
    path.withPlatformString { _ = rmdir($0) }
  }

  private static func overwrite(_ path: FilePath) {
    // Nothing waits at a pipe that an editor has left.
    let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = path.withPlatformString { open($0, flags) }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 65_536)
    var rest = Int(lseek(descriptor, 0, SEEK_END))
    lseek(descriptor, 0, SEEK_SET)
    while rest > 0 {
      let count = write(descriptor, zeros, min(rest, zeros.count))
      guard count > 0 else { return }
      rest -= count
    }
    fsync(descriptor)
  }
}
