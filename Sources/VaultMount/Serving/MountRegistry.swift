import BlobStore
import Glibc
import SystemPackage
import Threads

/// A mount that is being served, as the state directory tells.
package struct RunningMount: Hashable, Sendable {
  package let process: Int32
  package let mountpoint: FilePath
  package let vault: FilePath
  /// What it said of itself last.
  package var report = MountReport()
}

/// The files `mounts/<process>` in a vault's state directory: who serves which mount, and what it could not do.
///
/// The serving process holds a lock on its file for as long as it lives, and the kernel drops the lock with the
/// process, however that ends. So the lock, not the file, says whether a mount is alive, and waiting for the lock is
/// waiting until everything is committed.
package enum MountRegistry {
  /// The mounts of one vault that are alive. Files of processes that were killed are removed on the way.
  package static func runningMounts(stateFolder: FilePath) -> [RunningMount] {
    entries(in: stateFolder.appending("mounts")).compactMap { name in
      let path = stateFolder.appending("mounts").appending(name)
      let descriptor = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
        remove(path)
        return nil
      }
      return (try? SmallFile.load(from: descriptor, path: path)).flatMap(parse)
    }
  }

  /// Notes a mount of this process until the entry is removed or the process ends.
  static func register(_ mount: RunningMount, stateFolder: FilePath) throws(MountError)
    -> Registration
  {
    let folder = stateFolder.appending("mounts")
    _ = folder.withPlatformString { mkdir($0, 0o700) }
    // Two mounts of one process happen only in tests; the number of the file keeps them apart.
    for number in 0..<64 {
      let path = folder.appending("\(mount.process)-\(number)")
      let descriptor = path.withPlatformString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
      guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        continue
      }
      let registration = Registration(path: path, descriptor: descriptor, mount: mount)
      guard registration.write(mount.report) else {
        let reason = errno
        close(descriptor)
        throw .system(call: "write", path: path, errno: reason)
      }
      return registration
    }
    throw .system(call: "flock", path: folder, errno: EWOULDBLOCK)
  }

  /// The file of the mount that is served here, if there is one.
  static func watch(_ mountpoint: FilePath, stateRoot: FilePath) -> Watch? {
    for state in entries(in: stateRoot) {
      let folder = stateRoot.appending(state).appending("mounts")
      for name in entries(in: folder) {
        let path = folder.appending(name)
        let descriptor = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { continue }
        let watch = Watch(path: path, descriptor: descriptor)
        if let mount = watch.mount, mount.mountpoint == mountpoint, !watch.hasEnded {
          return watch
        }
      }
    }
    return nil
  }

  /// The file of a mount, open: it tells how the mount has ended also when it was removed since.
  struct Watch: ~Copyable {
    fileprivate let path: FilePath
    fileprivate let descriptor: Int32

    /// What the file says; nil when it is none of a mount.
    var mount: RunningMount? {
      lseek(descriptor, 0, SEEK_SET)
      return (try? SmallFile.load(from: descriptor, path: path)).flatMap(MountRegistry.parse)
    }

    /// Whether the process that serves the mount lives no more.
    var hasEnded: Bool {
      guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
      flock(descriptor, LOCK_UN)
      return true
    }

    /// Waits until the process has ended; false when it has not in time.
    func waitForEnd(seconds: Int) -> Bool {
      for _ in 0..<(seconds * 100) {
        if hasEnded { return true }
        SystemThread.pause(for: .milliseconds(10))
      }
      return false
    }

    deinit { close(descriptor) }
  }

  /// An entry of this process. Dropping it without `remove` leaves the file, which the next reader clears.
  struct Registration: Sendable {
    let path: FilePath
    let descriptor: Int32
    let mount: RunningMount
    /// The file has this length from the beginning, so that a report can be written on a full disk too.
    private static let byteCount = 4096

    /// Puts a report in the place of the one before, as far as there is room; false when that cannot be written.
    @discardableResult
    func write(_ report: MountReport) -> Bool {
      var bytes = MountRegistry.encode(mount)
      for line in report.lines where bytes.count + line.utf8.count < Self.byteCount {
        bytes += Array(line.utf8) + [UInt8(ascii: "\n")]
      }
      bytes += repeatElement(UInt8(ascii: "\n"), count: max(0, Self.byteCount - bytes.count))
      // A process of that number before may have left its own, and a file that is cut to nothing first is none that a
      // power cut on FAT leaves whole.
      return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        && ftruncate(descriptor, off_t(bytes.count)) == 0
    }

    func remove() {
      MountRegistry.remove(path)
      close(descriptor)
    }
  }

  /// One line: process, mountpoint, vault folder, blank-separated and escaped.
  static func encode(_ mount: RunningMount) -> [UInt8] {
    let fields = [
      Array(String(mount.process).utf8), OctalEscapes.encode(mount.mountpoint.bytes),
      OctalEscapes.encode(mount.vault.bytes),
    ]
    return Array(fields.joined(separator: [UInt8(ascii: " ")])) + [UInt8(ascii: "\n")]
  }

  /// The line, and the report in those after it.
  static func parse(_ file: [UInt8]) -> RunningMount? {
    let lines = file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let fields = lines[0].split(separator: UInt8(ascii: " "))
    guard fields.count == 3, let process = Int32(String(decoding: fields[0], as: UTF8.self)) else {
      return nil
    }
    let report = lines.dropFirst().map { Substring(decoding: $0, as: UTF8.self) }
    return RunningMount(
      process: process, mountpoint: FilePath(bytes: OctalEscapes.decode(fields[1])),
      vault: FilePath(bytes: OctalEscapes.decode(fields[2])), report: MountReport(lines: report))
  }

  /// As the store removes its files, which a stick may need. What cannot be removed is passed over by the next reader.
  private static func remove(_ path: FilePath) {
    guard let name = path.lastComponent else { return }
    let folder = path.removingLastComponent()
    try? DirectoryStore(opening: folder).remove(BlobPath(parsing: name.string))
  }

  private static func entries(in folder: FilePath) -> [FilePath.Component] {
    FolderNames.readable(in: folder).compactMap {
      FilePath.Component(String(decoding: $0, as: UTF8.self))
    }
  }
}
