import Threads
import Vault
import VaultErrors
import VaultModel

extension FileTree {
  // MARK: Lookup

  /// What a name in a directory stands for. Counts one reference of the kernel.
  ///
  /// - Throws: `notFound`, `notDirectory`, `accessDenied`; `inputOutput` if the name may be in a part of the directory's record
  ///   that is damaged.
  package func lookup(_ parent: Inode, _ name: FileName) throws(FileError) -> Attributes {
    if parent == Self.root { return try lookupMember(name) }
    return try look { (tree) throws(TreeObstacle) in
      if let node = try tree.record(name, in: parent) { return tree.entry(of: node) }
      let directory = try tree.readable(parent)
      guard let node = tree.child(name, of: directory) else {
        let mayBeThere = directory.files == nil && directory.salvage?.mayLack(name) ?? true
        throw .failed(mayBeThere ? .inputOutput : .notFound)
      }
      if let file = node as? FileNode {
        try tree.requireUnseenNames(of: file, beside: [directory])
      }
      return tree.entry(of: node)
    }
  }

  private func lookupMember(_ name: FileName) throws(FileError) -> Attributes {
    try look { (tree) throws(TreeObstacle) in
      guard let view = tree.members[name], let node = tree.directory(.root, of: view) else {
        throw .failed(.notFound)
      }
      return tree.entry(of: node)
    }
  }

  /// The kernel gives up references that it was given before.
  package func forget(_ inode: Inode, _ count: UInt64) {
    withTree { tree in
      guard let node = tree.nodes[inode] else { return }
      node.references -= min(count, node.references)
      tree.collapse(node)
    }
  }

  // MARK: Making

  /// Makes a record, or a member at the top. Counts one reference of the kernel.
  ///
  /// - Throws: `alreadyExists`, `accessDenied`, `readOnly`, `notFound` in a removed directory.
  package func makeDirectory(
    _ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    if parent == Self.root { return try makeMember(name) }
    return try look { (tree) throws(TreeObstacle) in
      let directory = try tree.loaded(parent, without: name)
      try tree.checkDepth(below: directory)
      return tree.entry(
        of: tree.newDirectory(name, in: directory, mode: mode, caller: caller))
    }
  }

  private func makeMember(_ name: FileName) throws(FileError) -> Attributes {
    try top.withLock { _ throws(FileError) in
      guard withTree({ $0.members[name] == nil }) else { throw .alreadyExists }
      do throws(VaultError) { _ = try vault.addMember(named: name) } catch {
        throw FileError(error)
      }
      renewNames(adopts: true, besides: [name])
      return try lookupMember(name)
    }
  }

  /// Makes an empty regular file, a fifo or a socket, as the type bits of `mode` say (none: a regular file). Counts one
  /// reference of the kernel.
  ///
  /// - Throws: `notPermitted` for devices; what `makeDirectory` throws.
  package func makeNode(
    _ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    let type = mode & FileMode.typeMask
    guard [0, FileMode.regular, FileMode.fifo, FileMode.socket].contains(type) else {
      throw .notPermitted
    }
    let full = (type == 0 ? FileMode.regular : type) | mode & FileMode.permissionMask
    return try makeFile(parent, name, NewFile(mode: full, caller: caller))
  }

  /// Makes a symbolic link. Counts one reference of the kernel.
  ///
  /// - Throws: `nameTooLong` for a target of more than 4,095 bytes, `invalidArgument` for one that is empty or has a
  ///   NUL; what `makeDirectory` throws.
  package func symlink(
    _ parent: Inode, _ name: FileName, target: [UInt8], caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    guard target.count <= Limits.symlinkTargetBytes else { throw .nameTooLong }
    guard !target.isEmpty, !target.contains(0) else { throw .invalidArgument }
    return try makeFile(
      parent, name,
      NewFile(mode: FileMode.symlink | 0o777, content: .symlink(target), caller: caller))
  }

  private func makeFile(
    _ parent: Inode, _ name: FileName, _ file: NewFile
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    return try look { (tree) throws(TreeObstacle) in
      let directory = try tree.loaded(parent, without: name)
      let node = tree.newFile(name, in: directory, as: file)
      node.isPublished = true
      return tree.entry(of: node)
    }
  }

  /// What a symbolic link points at.
  package func readLink(_ inode: Inode) throws(FileError) -> [UInt8] {
    try look { (tree) throws(TreeObstacle) in
      guard let node = tree.nodes[inode] as? FileNode, case .symlink(let target) = node.content
      else { throw .failed(.invalidArgument) }
      return target
    }
  }
}
