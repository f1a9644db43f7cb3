import CLinux
import Glibc
import SystemPackage

/// Makes the kernel send what programs wrote into shared mappings and did not flush.
enum WriteBack {
  /// Returns when it has. The mount must still be served.
  static func run(_ mountpoint: FilePath) {
    let descriptor = mountpoint.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = kv_syncfs(descriptor)  // what fails here, fails again at the program's own msync
  }
}
