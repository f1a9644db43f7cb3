import Glibc
import SystemPackage

/// Asks the kernel to take a mount away: by umount2(2) where we may, else by `fusermount3`.
enum KernelUnmount {
  /// Returns when the path is no longer mounted. `lazily` takes it out of the tree at once, and the kernel
  /// ends it when the last program has let go; else a mount in use throws `.busy`.
  static func run(_ path: FilePath, lazily: Bool) throws(MountError) {
    let flags = Int32(UMOUNT_NOFOLLOW) | (lazily ? Int32(MNT_DETACH) : 0)
    if path.withPlatformString({ umount2($0, flags) }) == 0 { return }
    switch errno {
    case EBUSY: throw .busy(path, programs: ProgramsInUse.find(under: path))
    case EINVAL, ENOENT: throw .notMounted(path)
    case EPERM: try runFusermount(path, lazily: lazily)
    case let other: throw .system(call: "umount", path: path, errno: other)
    }
  }

  private static func runFusermount(_ path: FilePath, lazily: Bool) throws(MountError) {
    let status = try Program.run(
      "fusermount3",
      arguments: (lazily ? ["-u", "-z", "-q", "--"] : ["-u", "-q", "--"]) + [path.string])
    guard status != 0 else { return }
    // Its exit status does not tell why; only whether the mount is still there does.
    guard try MountTable.entry(at: path) != nil else { return }
    throw .busy(path, programs: ProgramsInUse.find(under: path))
  }
}
