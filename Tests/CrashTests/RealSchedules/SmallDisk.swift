import SystemPackage
import TestSupport

/// A disk in memory that can be filled up.
final class SmallDisk {
  private let root: FilePath
  private var filler: FilePath { root.appending("filler") }

  init(megabytes: Int, at root: FilePath) throws {
    self.root = root
    try run("mkdir", [root.string])
    try run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "kinvault-test", root.string])
  }

  deinit {
    _ = try? CommandRunner.run("umount", ["-l", root.string])
  }

  /// Leaves no byte.
  func fill() throws {
    let result = try CommandRunner.run(
      "sh", ["-c", "head -c 1G /dev/zero > '\(filler)'"])
    guard result.status != 0 else { throw CommandFailure(description: "the disk is not full") }
  }

  func makeRoom() throws { try run("rm", [filler.string]) }
}
