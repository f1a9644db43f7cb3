import SystemPackage

/// Which vault is mounted, where, and how.
package struct MountSetup: Sendable {
  /// As it was given; made where it is missing.
  let mountpoint: FilePath
  /// The vault's folder.
  let vault: FilePath
  /// What this machine keeps of the vault: `Unmount` and `MountRegistry` find the mount there.
  let stateFolder: FilePath
  package let options: MountOptions

  package init(
    mountpoint: FilePath, vault: FilePath, stateFolder: FilePath, options: MountOptions
  ) {
    self.mountpoint = mountpoint
    self.vault = vault
    self.stateFolder = stateFolder
    self.options = options
  }
}
