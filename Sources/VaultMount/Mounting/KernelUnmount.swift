import Glibc
import Processes
import SystemPackage
import Threads

/// Asks the kernel to take a mount away: by umount2(2) where we may, else by `fusermount3`.
enum KernelUnmount {
  /// How long a program gets to let go of the mount: a file manager, or a preview of what was just opened, does by itself.
  private static let patience = Duration.seconds(2)

  private enum Answer {
    case isGone
    case isBusy
    /// What `fusermount3` said. It has one exit status for all that keeps it from unmounting, mostly that programs use it.
    case isRefused(String)
  }

  /// Returns when the path is no longer mounted. `lazily` takes it out of the tree at once, and the kernel
  /// ends it when the last program has let go; else a mount that is in use for two seconds throws `.busy`, and
  /// one that `fusermount3` does not take away, and that no program is seen to use, `.notUnmounted`.
  static func run(_ path: FilePath, lazily: Bool) throws(MountError) {
    let end = ContinuousClock.now + patience
    while true {
      let answer = try ask(path, lazily: lazily)
      if case .isGone = answer { return }
      guard ContinuousClock.now < end else {
        // Who uses it is looked for once: that takes longer than asking.
        let programs = ProgramsInUse.find(under: path)
        if case .isRefused(let reason) = answer, programs.isEmpty {
          throw .notUnmounted(path, reason: reason)
        }
        throw .busy(path, programs: programs)
      }
      SystemThread.pause(for: .milliseconds(100))
    }
  }

  private static func ask(_ path: FilePath, lazily: Bool) throws(MountError) -> Answer {
    let flags = Int32(UMOUNT_NOFOLLOW) | (lazily ? Int32(MNT_DETACH) : 0)
    if path.withPlatformString({ umount2($0, flags) }) == 0 { return .isGone }
    switch errno {
    case EBUSY: return .isBusy
    case EINVAL, ENOENT: throw .notMounted(path)
    case EPERM: return try runFusermount(path, lazily: lazily)
    case let other: throw .system(call: "umount", path: path, errno: other)
    }
  }

  private static func runFusermount(_ path: FilePath, lazily: Bool) throws(MountError) -> Answer {
    let (ending, errors) = try Program.run(
      "fusermount3", arguments: (lazily ? ["-u", "-z", "--"] : ["-u", "--"]) + [path.string])
    // Its exit status does not tell why; only whether the mount is still there does.
    if ending.isSuccess { return .isGone }
    return try MountTable.entry(at: path) == nil ? .isGone : .isRefused(errors)
  }
}
