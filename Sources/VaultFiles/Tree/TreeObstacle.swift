import VaultModel

/// Why something cannot be answered under the tree lock.
enum TreeObstacle: Error {
  case failed(FileError)
  /// Something has to be loaded first, without the lock; then it is looked again.
  indirect case missing(MissingFiles)
}

/// The files of a directory that somebody needs and that are not in memory.
struct MissingFiles {
  enum Need {
    /// Each of them, or it fails. These directories are needed at the same time, and stay loaded therefore: where each
    /// forgot the others for its own sake, nobody would ever have all.
    case all(keeping: [TreeReference<DirectoryNode>])
    /// Where their list is damaged, those that can be read (`DirectoryNode.salvage`).
    case readable
    /// Those that are further names of this file, beside what is in the directories that are kept. What cannot be read is
    /// left out, so that damage there does not hide the file here.
    case names(of: TreeReference<FileNode>, keeping: [TreeReference<DirectoryNode>])
  }

  let directory: TreeReference<DirectoryNode>
  let record: RecordID
  let member: ShownMember
  let need: Need

  init(of node: DirectoryNode, _ need: Need) {
    directory = TreeReference(node)
    record = node.record
    member = node.view.shown
    self.need = need
  }
}
