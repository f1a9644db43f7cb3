import SystemPackage
import TestSupport

/// An ext4 file system in a file: it can be filled, lose its power and grow.
final class LoopDisk {
  private let folder: TemporaryFolder
  private let image: FilePath
  let root: FilePath

  init(megabytes: Int) throws {
    folder = try TemporaryFolder()
    image = folder.appending("image")
    root = folder.appending("disk")
    try run("truncate", ["-s", "\(megabytes)M", image.string])
    // Nothing reserved for root, which the tests are.
    try run("mkfs.ext4", ["-q", "-F", "-m", "0", image.string])
    try run("mkdir", [root.string])
    try attach()
  }

  deinit {
    _ = try? CommandRunner.run("umount", ["-l", root.string])
  }

  private func attach() throws {
    try run("mount", ["-o", "loop", image.string, root.string])
  }

  /// As when the power goes and comes back: all that was not on the disk is lost.
  func losePower(using body: () throws -> Void) throws {
    try CrashVault.cutPower(of: root)
    // Whoever uses the disk goes first.
    try body()
    try run("umount", [root.string])
    try attach()
  }
}
