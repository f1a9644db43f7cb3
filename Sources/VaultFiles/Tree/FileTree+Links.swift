import VaultModel

extension FileTree {
  /// The most names of one file.
  static let linkLimit = 10_000

  /// Gives a file one more name, in the same member. Counts one reference of the kernel.
  ///
  /// - Throws: `crossDevice` for another member's directory, `notPermitted` for a directory, `alreadyExists`,
  ///   `notFound` for a file that has no name any more, `tooManyLinks`, `accessDenied`, `readOnly`.
  package func link(
    _ inode: Inode, to parent: Inode, _ name: FileName
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .crossDevice }
    guard let node = state.lock.withLock({ state.nodes[inode] }) else { throw .stale }
    guard let file = node as? FileNode else { throw .notPermitted }
    try lockLoaded(namesOf: file)
    state.lock.unlock()
    let directory = try lockForNewName(parent, name)
    defer { state.lock.unlock() }
    guard directory.view === file.view else { throw .crossDevice }
    guard !file.links.isEmpty else { throw .notFound }
    guard file.links.count < Self.linkLimit else { throw .tooManyLinks }
    file.view.willChange(file)
    file.view.willChange(item: name, of: directory.record, exists: false)
    file.links.append(Link(record: directory.record, name: name))
    state.setSlot(.node(file), name, in: directory)
    file.changed = .now()
    touch(directory)
    file.references += 1
    return attributes(of: file)
  }
}
