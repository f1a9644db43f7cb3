import Threads
import VaultModel

extension FileTree {
  /// The beginning of a file was read from the disk: has those opened that are likely to be next.
  func readAhead(after file: TreeReference<FileNode>, of objects: MemberObjects) {
    let chunks: [ContentDigest] = withTree { tree in
      let file = tree[file]
      guard let link = file.links.first, let directory = file.view.directories[link.record],
        let files = directory.files
      else { return [] }
      return directory.sequence.read(link.name) { Array(files.keys) }.compactMap { name in
        let content: Item.Content? =
          switch files[name] {
          case .stored(let item): item.content
          case .node(let node): node.content
          case nil: nil
          }
        // The beginning of a longer file has an index before it.
        guard case .chunks(let names) = content else { return nil }
        return names.first ?? nil
      }
    }
    if !chunks.isEmpty { objects.willReadBeginnings(of: chunks) }
  }

  /// A folder is opened: has those loaded that are likely to be next.
  func loadAhead(after inode: Inode) {
    let inodes: [Inode] = withTree { tree in
      guard let node = tree.nodes[inode] as? DirectoryNode, let record = node.parent,
        let parent = node.view.directories[record]
      else { return [] }
      let names = parent.folderSequence.read(node.title) { Array(tree.records(in: parent).keys) }
      return names.compactMap { name in
        let next = parent.records?[name].flatMap { node.view.directories[$0] }
        return next.flatMap { $0.files == nil && $0.salvage == nil ? $0.inode : nil }
      }
    }
    guard !inodes.isEmpty else { return }
    // What no thread can be had for is loaded when it is opened.
    _ = SystemThread.detach { [self] in
      for inode in inodes {
        // Whoever opens it is told what is wrong.
        _ = try? look { (tree) throws(TreeObstacle) in _ = try tree.readable(inode) }
      }
    }
  }
}
