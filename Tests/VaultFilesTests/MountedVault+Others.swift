import Vault

@testable import VaultFiles

/// How tests begin that have more than one mount, or more than one process, of a vault.
extension MountedVault {
  /// A vault in which something is committed already.
  static func prepared(_ prepare: (FileTree) throws -> Void) throws -> MountedVault {
    let mounted = try MountedVault()
    try prepare(mounted.tree)
    try mounted.tree.commitNow()
    return mounted
  }

  /// The tree of another process of this device.
  func mountAgain(readOnly: Bool = false) throws -> FileTree {
    FileTree.load(vault: try openAgain(readOnly: readOnly), options: options)
  }

  /// The tree of another device of the same person, which shares the folder.
  func mountOnAnotherDevice() throws -> FileTree {
    FileTree.load(vault: try openOnAnotherDevice(), options: options)
  }

  /// Has another process of this device change something, commit it and end.
  func command(_ change: (FileTree) throws -> Void) throws {
    let process = try openAgain()
    let tree = FileTree.load(vault: process, options: options)
    try change(tree)
    try tree.commitNow()
    try process.close()
  }
}
