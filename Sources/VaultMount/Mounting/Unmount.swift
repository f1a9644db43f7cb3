import Glibc
import SystemPackage

/// Takes a mount away from outside the process that serves it.
package enum Unmount {
  /// Returns when the mount is gone and its process has committed everything and ended.
  ///
  /// A mount in use throws `.busy`, unless `lazily`: then it leaves the tree at once, the programs that have files
  /// open keep them, and the call does not wait for the process, which ends with the last of them. A dead mount
  /// that a killed process left is cleared. Throws `.stillServing` after five minutes.
  package static func run(
    _ given: FilePath, stateRoot: FilePath, lazily: Bool = false
  ) throws(MountError) {
    let path = try Mountpoint.resolve(given)
    guard try MountTable.isVaultMount(path) else { throw .notMounted(path) }
    let serving = MountRegistry.allRunningMounts(stateRoot: stateRoot).last {
      $0.mountpoint == path
    }
    let isDead = serving == nil && Mountpoint.isDead(path)
    try KernelUnmount.run(path, lazily: lazily || isDead)
    guard let serving else {
      Mountpoint.removeLeftOver(path)
      return
    }
    if lazily { return }
    guard MountRegistry.waitForEnd(of: serving, stateRoot: stateRoot, seconds: 300) else {
      throw .stillServing(path, process: serving.process)
    }
  }
}
