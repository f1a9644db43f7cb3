import Glibc
import SystemPackage

/// Takes a mount away from outside the process that serves it.
package enum Unmount {
  /// What an unmount waits for.
  package enum Step: Hashable, Sendable {
    /// The mount makes part of the vault what was changed in it.
    case saving
    /// The mount is gone, and the process that served it sends what is new to its remotes and closes the vault.
    case ending(process: Int32)
  }

  /// The absolute path without links by which a mountpoint is known, also while nothing is mounted there.
  package static func resolve(_ given: FilePath) throws(MountError) -> FilePath {
    try Mountpoint.resolve(given)
  }

  /// Returns when the mount is gone and its process has committed everything and ended.
  ///
  /// The mount commits first, and when it cannot, stays: `.notSaved`. A mount that is in use for
  /// two seconds throws `.busy`; one that `fusermount3` leaves for another reason `.notUnmounted`.
  ///
  /// `lazily` it leaves the tree at once without either, the programs that have files open keep them, and the call does
  /// not wait for the process, which ends with the last of them. A dead mount that a killed process left is cleared.
  /// Throws `.stillServing` after five minutes, `.lostAtEnd` when what was changed after that first commit is not saved,
  /// `.system` where this machine's state cannot be read, which says so.
  ///
  /// - Parameter begins: Told of each step before that is waited for.
  package static func run(
    _ given: FilePath, stateRoot: FilePath, lazily: Bool = false,
    begins: (Step) -> Void = { _ in }
  ) throws(MountError) {
    let path = try Mountpoint.resolve(given)
    guard try MountTable.isVaultMount(path) else { throw .notMounted(path) }
    guard let watch = try MountRegistry.watch(path, stateRoot: stateRoot) else {
      let isDead = Mountpoint.isDead(path)
      if !lazily, !isDead {
        begins(.saving)
        try commit(path)
      }
      try KernelUnmount.run(path, lazily: lazily || isDead)
      Mountpoint.removeLeftOver(path)
      return
    }
    if !lazily {
      begins(.saving)
      try commit(path)
    }
    try KernelUnmount.run(path, lazily: lazily)
    if lazily { return }
    let process = try watch.mount?.process ?? 0
    begins(.ending(process: process))
    guard watch.waitForEnd(seconds: 300) else { throw .stillServing(path, process: process) }
    if let lost = try watch.mount?.report.unsaved.first {
      throw .lostAtEnd(path, errno: lost.errno)
    }
  }

  private static func commit(_ path: FilePath) throws(MountError) {
    do { try CommitRequest.run(path) } catch {
      // Somebody else's mount, which root may take away and not look into: it commits when it ends.
      if case .system(_, _, let number) = error, number == EACCES || number == EPERM { return }
      throw error
    }
  }
}
