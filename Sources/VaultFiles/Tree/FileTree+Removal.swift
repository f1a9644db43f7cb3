import Vault
import VaultModel

extension FileTree {
  /// Removes a file's name. The file lives on while another name, or an open handle, has it.
  ///
  /// - Throws: `notFound`, `isDirectory`, `accessDenied`, `readOnly`.
  package func unlink(_ parent: Inode, _ name: FileName) throws(FileError) {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .isDirectory }
    try look { (tree) throws(TreeObstacle) in
      let directory = try tree.loaded(parent, with: name)
      try tree.checkCanChange(directory)
      if tree.records(in: directory)[name] != nil { throw .failed(.isDirectory) }
      guard let file = tree.file(name, in: directory) else { throw .failed(.notFound) }
      tree.removeLink(name, of: file, in: directory)
      tree.touch(directory)
      tree.collapse(file)
    }
  }

  /// Removes an empty record.
  ///
  /// - Throws: `notPermitted` for a member, `notEmpty`, `notDirectory`, `notFound`, `accessDenied`, `readOnly`.
  package func removeDirectory(_ parent: Inode, _ name: FileName) throws(FileError) {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .notPermitted }
    try look { (tree) throws(TreeObstacle) in
      let directory = try tree.loaded(parent)
      guard let record = tree.records(in: directory)[name] else {
        throw .failed(directory.files?[name] == nil ? .notFound : .notDirectory)
      }
      guard let node = tree.directory(record, of: directory.view) else { throw .failed(.notFound) }
      // To know whether it is empty.
      try tree.require(node, beside: [directory])
      try tree.checkCanChange(directory)
      try tree.remove(node, named: name, from: directory)
    }
  }
}

extension TreeState {
  /// Takes a name away from a file. The directories of all its names have to be loaded.
  mutating func removeLink(_ name: FileName, of file: FileNode, in directory: DirectoryNode) {
    let view = directory.view
    // The other names' items say where the file's names are, so they change too.
    if file.links.count > 1 { view.willChange(file) }
    view.willChange(item: name, of: directory.record, exists: true)
    setSlot(nil, name, in: directory)
    file.links.removeAll { $0 == Link(record: directory.record, name: name) }
    file.changed = .now
    view.forgetUncommitted(item: name, of: directory.record)
  }

  /// Removes an empty loaded record.
  mutating func remove(
    _ node: DirectoryNode, named name: FileName, from directory: DirectoryNode
  ) throws(TreeObstacle) {
    _ = records(in: node)
    guard node.isEmpty else { throw .failed(.notEmpty) }
    let view = node.view
    if view.pending[node.record]?.isNew == true, view.inFlight[node.record] == nil {
      view.pending[node.record] = nil  // nobody ever heard of it
    } else {
      view.willChange(placeOf: node)
    }
    node.isRemoved = true
    node.changed = .now
    directory.forgetRecord(named: name)
    view.touched[node.record] = nil
    touch(directory)
    collapse(node)
  }
}
