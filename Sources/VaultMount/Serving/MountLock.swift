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
  /// - Throws: What `refuse` throws; `notEnded` when one that is shown no more is still served after half a minute.
  static func take(for wanted: FilePath, stateFolder: FilePath) throws(MountError) -> MountLock {
    let path = stateFolder.appending(fileName)
    let end = ContinuousClock.now + patience
    while true {
      if let lock = try attempt(at: path) { return lock }
      let hidden = try refuse(wanted, stateFolder)
      guard ContinuousClock.now < end else {
        if let hidden { throw .notEnded(hidden.mountpoint, process: hidden.process) }
        throw .system(call: "flock", path: path, errno: EWOULDBLOCK)
      }
      SystemThread.pause(for: .milliseconds(50))
    }
  }

  /// Refuses a mount while another one has the right and is shown; without the lock, and so before the vault is opened, which
  /// takes long where it is large.
  static func refuseAtOnce(_ wanted: FilePath, stateFolder: FilePath) throws(MountError) {
    let path = stateFolder.appending(fileName)
    guard let holder = try MountRegistry.Watch.open(path) else { return }
    if holder.hasEnded { return }
    _ = try refuse(wanted, stateFolder)
  }

  /// - Returns: A mount that is shown no more, or not yet.
  /// - Throws: `alreadyMounted` when one that may be written is shown where the vault is wanted, `mountedElsewhere` when it is
  ///   elsewhere, `mountedUnseen` when only the process that serves it sees it.
  private static func refuse(
    _ wanted: FilePath, _ stateFolder: FilePath
  ) throws(MountError) -> RunningMount? {
    var hidden: RunningMount?
    for mount in try MountRegistry.runningMounts(stateFolder: stateFolder) {
      if let entry = MountTable.entry(of: mount, in: try MountTable.load()) {
        if entry.isReadOnly { continue }
        if entry.mountpoint == wanted { throw .alreadyMounted(wanted) }
        throw .mountedElsewhere(entry.mountpoint, wanted: wanted)
      }
      let seenThere = MountTable.load(seenBy: mount.process)
      guard let entry = MountTable.entry(of: mount, in: seenThere) else {
        hidden = mount
        continue
      }
      if entry.isReadOnly { continue }
      // Between the two looks it may have begun to be shown.
      guard MountTable.entry(of: mount, in: try MountTable.load()) == nil else {
        hidden = mount
        continue
      }
      throw .mountedUnseen(entry.mountpoint, process: mount.process)
    }
    return hidden
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
