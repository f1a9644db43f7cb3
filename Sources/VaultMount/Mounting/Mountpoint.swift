import BlobStore
import Glibc
import SystemPackage

/// The directory under a mount: made, kept from being written to by accident, and removed again.
///
/// People have saved plaintext into a folder whose vault was not mounted. So a directory that we make has mode 0
/// whenever no mount covers it, and one that was there already loses its write bits.
struct Mountpoint: Sendable {
  /// Absolute, without links.
  let path: FilePath
  /// Whether the directory goes when the mount does.
  let isOurs: Bool

  /// Makes the directory, or checks that the one there is an empty directory. A dead mount left by a killed
  /// process is cleared first. On return the directory can be mounted upon by this user.
  static func prepare(_ given: FilePath, vault: FilePath) throws(MountError) -> Mountpoint {
    let path = try resolve(given)
    let vaultPath = try realPath(vault)
    guard !path.starts(with: vaultPath), !vaultPath.starts(with: path) else {
      throw .overlapsVault(mountpoint: path, vault: vaultPath)
    }
    if try MountTable.isVaultMount(path) {
      guard isDead(path) else { throw .alreadyMounted(path) }
      try KernelUnmount.run(path, lazily: true)
    }
    let made = path.withPlatformString { mkdir($0, 0) } == 0
    guard made || errno == EEXIST else { throw .system(call: "mkdir", path: path, errno: errno) }
    let point = Mountpoint(path: path, isOurs: made || isLeftOver(path))
    do {
      try point.openForMounting()
    } catch {
      if made { point.cleanUp() }
      throw error
    }
    return point
  }

  /// An absolute form of the path, in which only the last component may be missing or be a dead mount.
  ///
  /// The last component is not looked at: on a dead mount every call fails with `ENOTCONN`, on a busy one it may wait.
  static func resolve(_ given: FilePath) throws(MountError) -> FilePath {
    guard !isLink(given), let name = given.lastComponent, name.kind == .regular else {
      return try realPath(given)
    }
    let parent = given.removingLastComponent()
    return try realPath(parent.isEmpty ? "." : parent).appending(name)
  }

  /// Takes the directory's write bits (all its bits, when we made it) once a mount covers it.
  ///
  /// `descriptor` was opened before the mount and so still leads to the directory underneath.
  ///
  /// - Returns: False where the disk has no such bits, or the directory is somebody else's.
  func protect(descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0
      && fchmod(descriptor, isOurs ? 0 : status.st_mode & 0o7555) == 0
  }

  /// The directory itself, opened before the mount covers it.
  func openDescriptor() throws(MountError) -> Int32 {
    let descriptor = path.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    return descriptor
  }

  /// Removes the directory when it is ours and nothing is mounted there. What is not empty stays.
  func cleanUp() {
    guard isOurs else { return }
    _ = path.withPlatformString { rmdir($0) }
  }

  /// Whether the mount at this path has lost its process.
  static func isDead(_ path: FilePath) -> Bool {
    var status = statvfs()
    return path.withPlatformString { statvfs($0, &status) } != 0
      && (errno == ENOTCONN || errno == ECONNABORTED)
  }

  /// Removes the directory that a killed process of ours left behind, if it is one.
  static func removeLeftOver(_ path: FilePath) {
    Mountpoint(path: path, isOurs: isLeftOver(path)).cleanUp()
  }

  /// Gives the owner access, which `fusermount3` asks for, and checks that the directory is empty.
  private func openForMounting() throws(MountError) {
    var status = stat()
    guard path.withPlatformString({ lstat($0, &status) }) == 0 else {
      throw .system(call: "lstat", path: path, errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path) }
    if geteuid() != 0, status.st_uid == geteuid(), status.st_mode & 0o700 != 0o700 {
      guard path.withPlatformString({ chmod($0, status.st_mode & 0o7777 | 0o700) }) == 0 else {
        throw .system(call: "chmod", path: path, errno: errno)
      }
    }
    guard try Self.isEmpty(path) else { throw .notEmpty(path) }
  }

  /// Whether this is what a killed process of ours left behind: an own directory of mode 0.
  private static func isLeftOver(_ path: FilePath) -> Bool {
    var status = stat()
    return path.withPlatformString { lstat($0, &status) } == 0 && status.st_uid == geteuid()
      && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o7777 == 0
  }

  private static func isEmpty(_ path: FilePath) throws(MountError) -> Bool {
    do { return try FolderNames.all(in: path).isEmpty } catch {
      throw .system(call: "opendir", path: path, errno: error.rawValue)
    }
  }

  private static func isLink(_ path: FilePath) -> Bool {
    var status = stat()
    return path.withPlatformString { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private static func realPath(_ path: FilePath) throws(MountError) -> FilePath {
    guard let found = path.withPlatformString({ realpath($0, nil) }) else {
      throw .system(call: "realpath", path: path, errno: errno)
    }
    defer { free(found) }
    return FilePath(platformString: found)
  }
}
