import CLinux
import Glibc
import SystemPackage

/// Asks a mount, from whatever process, to make part of the vault all that was changed in it.
package enum CommitRequest {
  /// Returns when it has: fsync(2) of the mount's top folder does it, after what programs have written into shared
  /// mappings was sent there.
  ///
  /// - Throws: `notSaved` when something could not be saved; `system` when this process may not look into the mount.
  package static func run(_ mountpoint: FilePath) throws(MountError) {
    let descriptor = mountpoint.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .system(call: "open", path: mountpoint, errno: errno) }
    defer { close(descriptor) }
    let flushed = kv_syncfs(descriptor)
    guard flushed == 0 else { throw .notSaved(mountpoint, errno: -flushed) }
    guard fsync(descriptor) == 0 else { throw .notSaved(mountpoint, errno: errno) }
  }
}
