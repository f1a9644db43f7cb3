import BlobStore
import Threads
import VaultFiles

/// A mount's whole life in a process of its own, for the command line.
package enum MountService {
  /// Mounts, calls `ready`, serves until somebody unmounts, a signal comes or the mount is idle for too long, and
  /// returns when everything is committed and the mountpoint is removed.
  ///
  /// Takes over SIGINT, SIGTERM and SIGHUP. Throws `MountError` before `ready`, `FileError` when the last changes
  /// could not be committed. Once `ready` was called, `closing` is, when all is over but for whoever waits in `Unmount`.
  package static func run(
    _ tree: FileTree, _ setup: MountSetup, ready: (Mount) -> Void,
    closing: (_ isWhole: Bool) -> Void
  ) throws -> Mount.Ending {
    EndSignals.takeOver()
    OpenFileLimit.raise()
    let mount = try Mount.start(tree, setup)
    let isStarted = SystemThread.detach { mount.requestEnd(.signalled(EndSignals.wait())) }
    precondition(isStarted, "no thread can be started")
    ready(mount)
    return try mount.waitUntilEnded(closing: closing)
  }
}
