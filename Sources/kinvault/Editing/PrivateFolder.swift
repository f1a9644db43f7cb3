import CLinux
import Glibc

/// A folder of this user alone, in memory where possible, for a text while a person edits it.
struct PrivateFolder: ~Copyable {
  let path: String
  let isInMemory: Bool

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
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Overwrites what is in it, the editor's own files too, and removes it.
  deinit { Self.wipe(path) }

  private static func isInMemory(_ path: String) -> Bool {
    kv_is_in_memory(path) == 1
  }

  private static func wipe(_ path: String) {
    if let listing = opendir(path) {
      while let entry = readdir(listing) {
        let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        let name = String(decoding: bytes, as: UTF8.self)
        guard name != ".", name != ".." else { continue }
        let inner = "\(path)/\(name)"
        if entry.pointee.d_type == DT_DIR {
          wipe(inner)
        } else {
          overwrite(inner)
          unlink(inner)
        }
      }
      closedir(listing)
    }
    rmdir(path)
  }

  private static func overwrite(_ path: String) {
    let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
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
