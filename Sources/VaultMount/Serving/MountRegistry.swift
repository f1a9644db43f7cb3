import Glibc
import SystemPackage

/// A mount that is being served, as the state directory tells.
package struct RunningMount: Hashable, Sendable {
  package let process: Int32
  package let mountpoint: FilePath
  package let vault: FilePath
}

/// The files `mounts/<process>` in a vault's state directory: who serves which mount.
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
        _ = path.withPlatformString { unlink($0) }
        return nil
      }
      return (try? SmallFile.load(from: descriptor, path: path)).flatMap(parse)
    }
  }

  /// The mounts of every vault whose state lies under `stateRoot`.
  package static func allRunningMounts(stateRoot: FilePath) -> [RunningMount] {
    entries(in: stateRoot).flatMap { runningMounts(stateFolder: stateRoot.appending($0)) }
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
      let line = encode(mount)
      guard ftruncate(descriptor, 0) == 0, write(descriptor, line, line.count) == line.count else {
        let reason = errno
        close(descriptor)
        throw .system(call: "write", path: path, errno: reason)
      }
      return Registration(path: path, descriptor: descriptor)
    }
    throw .system(call: "flock", path: folder, errno: EWOULDBLOCK)
  }

  /// Waits until the process that serves this mount has ended; false when it has not in time.
  static func waitForEnd(of mount: RunningMount, stateRoot: FilePath, seconds: Int) -> Bool {
    var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
    for _ in 0..<(seconds * 100) {
      guard allRunningMounts(stateRoot: stateRoot).contains(mount) else { return true }
      nanosleep(&pause, nil)
    }
    return false
  }

  /// An entry of this process. Dropping it without `remove` leaves the file, which the next reader clears.
  struct Registration: Sendable {
    let path: FilePath
    let descriptor: Int32

    func remove() {
      _ = path.withPlatformString { unlink($0) }
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

  static func parse(_ line: [UInt8]) -> RunningMount? {
    let fields = line.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " "))
    guard fields.count == 3, let process = Int32(String(decoding: fields[0], as: UTF8.self)) else {
      return nil
    }
    return RunningMount(
      process: process, mountpoint: FilePath(bytes: OctalEscapes.decode(fields[1])),
      vault: FilePath(bytes: OctalEscapes.decode(fields[2])))
  }

  private static func entries(in folder: FilePath) -> [FilePath.Component] {
    Directory.names(in: folder).compactMap {
      FilePath.Component(String(decoding: $0, as: UTF8.self))
    }
  }
}
