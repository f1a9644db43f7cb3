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
}
