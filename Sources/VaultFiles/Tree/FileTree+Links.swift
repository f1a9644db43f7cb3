import Vault
import VaultModel

extension FileTree {
  /// The most names of one file.
  static let linkLimit = 10_000

  /// Gives a file one more name, in the same member. Counts one reference of the kernel. A file that was written is sealed first, as
  /// before a rename.
  ///
  /// - Throws: `crossDevice` for another member's directory, `notPermitted` for a directory, `alreadyExists`,
  ///   `notFound` for a file that has no name any more, `tooManyLinks`, `accessDenied`, `readOnly`.
  package func link(
    _ inode: Inode, to parent: Inode, _ name: FileName
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .crossDevice }
    let (file, draft) = try look { (tree) throws(TreeObstacle) in
      guard let file = try tree.node(inode) as? FileNode else { throw .failed(.notPermitted) }
      guard try tree.directory(parent).view === file.view else { throw .failed(.crossDevice) }
      _ = try tree.loaded(parent, without: name)
      return (TreeReference(file), file.draft)
    }
    try look { (tree) throws(TreeObstacle) in try tree.requireNames(of: tree[file]) }
    if let draft { try publish(file, draft) }
    try storeInlineContent(of: file, as: name)
    return try look { (tree) throws(TreeObstacle) in
      guard let file = try tree.node(inode) as? FileNode else { throw .failed(.notPermitted) }
      let directory = try tree.loaded(parent, without: name)
      // News may have brought more of them while it was sealed.
      try tree.requireUnseenNames(of: file, beside: [directory])
      guard !file.links.isEmpty else { throw .failed(.notFound) }
      guard file.links.count < Self.linkLimit else { throw .failed(.tooManyLinks) }
      file.view.willChange(file)
      file.view.willChange(item: name, of: directory.record, exists: false)
      file.links.append(Link(record: directory.record, name: name))
      tree.setSlot(.node(file), name, in: directory)
      file.changed = .now
      tree.touch(directory)
      file.references += 1
      return tree.attributes(of: file)
    }
  }
}
