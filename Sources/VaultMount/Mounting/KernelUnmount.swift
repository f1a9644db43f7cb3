import Glibc
import SystemPackage

/// Asks the kernel to take a mount away: by umount2(2) where we may, else by `fusermount3`.
enum KernelUnmount {
  /// How long a program gets to let go of the mount: a file manager, or a preview of what was just opened, does by itself.
  private static let patience = Duration.seconds(2)

  /// Returns when the path is no longer mounted. `lazily` takes it out of the tree at once, and the kernel
  /// ends it when the last program has let go; else a mount that is in use for two seconds throws `.busy`.
  static func run(_ path: FilePath, lazily: Bool) throws(MountError) {
    let end = ContinuousClock.now + patience
    while try !ask(path, lazily: lazily) {
      // Who uses it is looked for once: that takes longer than asking.
      guard ContinuousClock.now < end else {
        throw .busy(path, programs: ProgramsInUse.find(under: path))
      }
      usleep(100_000)
    }
  }

  /// Whether it is not mounted any more; false when something uses it.
  private static func ask(_ path: FilePath, lazily: Bool) throws(MountError) -> Bool {
    let flags = Int32(UMOUNT_NOFOLLOW) | (lazily ? Int32(MNT_DETACH) : 0)
    if path.withPlatformString({ umount2($0, flags) }) == 0 { return true }
    switch errno {
    case EBUSY: return false
    case EINVAL, ENOENT: throw .notMounted(path)
    case EPERM: return try runFusermount(path, lazily: lazily)
    case let other: throw .system(call: "umount", path: path, errno: other)
    }
  }

  private static func runFusermount(_ path: FilePath, lazily: Bool) throws(MountError) -> Bool {
    let status = try Program.run(
      "fusermount3",
      arguments: (lazily ? ["-u", "-z", "-q", "--"] : ["-u", "-q", "--"]) + [path.string])
    if status == 0 { return true }
    // Its exit status does not tell why; only whether the mount is still there does.
    return try MountTable.entry(at: path) == nil
  }
}
