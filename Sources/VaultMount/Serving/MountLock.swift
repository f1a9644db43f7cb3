import BlobStore
import Glibc
import SystemPackage
import Threads

/// The right to change a vault by way of a mount. One mount of a machine has it at a time, from before it is there until all
/// that was changed in it is committed, and it ends with the process. Docs/Format.md, "This machine's state".
///
/// A mount knows nothing of the open files of another one, and both write as one device: what the one saves would take the
/// place of what the other has just saved, as if whoever wrote it had seen that.
final class MountLock: Sendable {
  private static let fileName = "mount-lock"
  /// How long a mount that is shown no more, or not yet, is waited for.
  private static let patience = Duration.seconds(30)

  private let file: Guarded<FileLock?>

  private init(_ file: consuming FileLock?) { self.file = Guarded(file) }

  /// Waits for a mount that is just ending.
  ///
  /// - Parameter wanted: Where the vault is to be shown, absolute and without links; for what the person is told.
  /// - Throws: `alreadyMounted` when another mount that may be written is shown there, `mountedElsewhere` when it is elsewhere;
  ///   `notEnded` when one that is shown no more is still served after half a minute.
  static func take(for wanted: FilePath, stateFolder: FilePath) throws(MountError) -> MountLock {
    let path = stateFolder.appending(fileName)
    let end = ContinuousClock.now + patience
    while true {
      if let lock = try attempt(at: path) { return lock }
      var hidden: RunningMount?
      for mount in try MountRegistry.runningMounts(stateFolder: stateFolder) {
        guard let entry = try MountTable.entry(at: mount.mountpoint),
          entry.type == MountTable.vaultType
        else {
          hidden = mount
          continue
        }
        if entry.isReadOnly { continue }
        if mount.mountpoint == wanted { throw .alreadyMounted(wanted) }
        throw .mountedElsewhere(mount.mountpoint, wanted: wanted)
      }
      guard ContinuousClock.now < end else {
        if let hidden { throw .notEnded(hidden.mountpoint, process: hidden.process) }
        throw .system(call: "flock", path: path, errno: EWOULDBLOCK)
      }
      SystemThread.pause(for: .milliseconds(50))
    }
  }

  /// Nil while another mount has it. Where no lock can be made there is no mount that may be written either.
  static func attempt(at path: FilePath) throws(MountError) -> MountLock? {
    do throws(BlobStoreError) {
      let file = try FileLock.attempt(at: path)
      guard file != nil else { return nil }
      return MountLock(file)
    } catch {
      let reason: Int32 =
        switch error {
        case .noSpace: ENOSPC
        case .readOnly: EROFS
        case .permission: EACCES
        case .notFound: ENOENT
        case .io(_, let number): number
        default: EIO
        }
      throw .system(call: "open", path: path, errno: reason)
    }
  }

  /// Lets another mount begin. Twice is as good as once.
  func release() { file.withLock { $0 = nil } }
}
