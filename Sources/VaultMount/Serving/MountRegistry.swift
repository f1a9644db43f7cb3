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
  ///
  /// - Throws: Why it cannot be read what one of them is, or which there are.
  package static func runningMounts(
    stateFolder: FilePath
  ) throws(MountError) -> [RunningMount] {
    var mounts: [RunningMount] = []
    for file in try files(stateFolder: stateFolder) {
      if let mount = try runningMount(of: file) { mounts.append(mount) }
    }
    return mounts
  }

  /// The files of one vault's mounts, of which some may be of processes that were killed.
  package static func files(stateFolder: FilePath) throws(MountError) -> [FilePath] {
    let folder = stateFolder.appending("mounts")
    return try names(in: folder).filter { !$0.hasSuffix(CommitSocket.suffix) }
      .map { folder.appending($0) }
  }

  /// The mount that a file is of; nil if its process has ended, or is just beginning. The file of one that was killed is removed.
  ///
  /// - Throws: Why the file of one that is alive cannot be read.
  package static func runningMount(of file: FilePath) throws(MountError) -> RunningMount? {
    guard let watch = try Watch.open(file) else { return nil }
    if watch.hasEnded {
      remove(file)
      return nil
    }
    return try watch.mount
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
  ///
  /// - Throws: Where none is found: why one of the others, which may be it, cannot be read.
  static func watch(_ mountpoint: FilePath, stateRoot: FilePath) throws(MountError) -> Watch? {
    var failure: MountError?
    for state in try names(in: stateRoot) {
      do throws(MountError) {
        for file in try files(stateFolder: stateRoot.appending(state)) {
          do throws(MountError) {
            guard let watch = try Watch.open(file) else { continue }
            if watch.hasEnded { continue }
            if try watch.mount?.mountpoint == mountpoint { return watch }
          } catch { failure = failure ?? error }
        }
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
    return nil
  }

  /// The file of a mount, open: it tells how the mount has ended also when it was removed since.
  struct Watch: ~Copyable {
    private let path: FilePath
    private let descriptor: Int32

    private init(path: FilePath, descriptor: Int32) {
      (self.path, self.descriptor) = (path, descriptor)
    }

    /// Nil if there is no such file (any more).
    static func open(_ path: FilePath) throws(MountError) -> Watch? {
      let descriptor = path.withPlatformString { Glibc.open($0, O_RDONLY | O_CLOEXEC) }
      guard descriptor >= 0 else {
        if errno == ENOENT { return nil }
        throw .system(call: "open", path: path, errno: errno)
      }
      return Watch(path: path, descriptor: descriptor)
    }

    /// What the file says; nil when its process has written nothing yet.
    var mount: RunningMount? {
      get throws(MountError) {
        lseek(descriptor, 0, SEEK_SET)
        return MountRegistry.parse(try SmallFile.load(from: descriptor, path: path))
      }
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

  /// What is in a folder; nothing where there is none.
  static func names(in folder: FilePath) throws(MountError) -> [String] {
    do throws(Errno) {
      return try FolderNames.all(in: folder).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory { return [] }
      throw .system(call: "open", path: folder, errno: error.rawValue)
    }
  }
}
