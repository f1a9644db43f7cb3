import CLinux
import Glibc
import Threads

/// How names come to stand for other files, and for none, so that a power cut leaves none that stands for what is another
/// file's.
///
/// FAT and exFAT keep where a file begins in its folder, beside its name, and which parts of the disk are free in a table.
/// Any sync of any file writes the table, but not the folder that a name was taken from. So a name may be on the disk
/// still when what it stands for is free, or another file's: the next machine either finds that out and makes the disk
/// read-only, or removes the name, and with it the other file's content. Nothing is free, though, while somebody has the
/// file open. Therefore whatever loses its name is held here until the folder is on the disk.
extension DirectoryStore {
  /// Has `change` give `name` to another file, and waits until that is on disk if it is to be `durable`, and wherever
  /// another file has to make way for it on FAT.
  ///
  /// - Parameter folder: One that is `readable`, for both.
  /// - Returns: 0 or -errno, that of `change` first.
  func give(
    _ name: UnsafePointer<CChar>, in folder: Int32, durably: Bool, _ change: () -> Int32
  ) -> Int32 {
    let held = hold(name, in: folder)
    guard held >= 0 || held == -ENOENT else { return held }
    defer { if held >= 0 { close(held) } }
    let error = change()
    guard error == 0, durably || held >= 0 else { return error }
    return settle(name, in: folder)
  }

  /// Has `change` take `name` from whatever it stands for.
  func take(
    _ name: UnsafePointer<CChar>, from folder: Int32, _ change: () -> Int32
  ) -> Int32 {
    let held = hold(name, in: folder)
    if held == -ENOENT { return change() }
    // Without a descriptor left, say, what it stands for may be free before the folder is on the disk.
    guard held >= 0 else { return held }
    defer { close(held) }
    let error = change()
    guard error == 0 else { return error }
    // A sync of the folder alone has left names of removed objects on a stick that was pulled; why is not known.
    let flushed = retryingInterrupted { kv_syncfs(folder) }
    return flushed == 0 ? errorOf { fsync(folder) } : flushed
  }

  /// Keeps what has the name from being free before the descriptor is closed.
  ///
  /// - Returns: The descriptor, or -errno; -ENOENT where there is no need, or nothing.
  private func hold(_ name: UnsafePointer<CChar>, in folder: Int32) -> Int32 {
    guard fileSystem == .fat else { return -ENOENT }
    return retryingInterrupted { kv_hold(folder, name) }
  }

  /// Waits until a file that was just renamed is on disk under its name; -errno if it does not get there.
  ///
  /// Mostly the folder is enough. FAT keeps a file's size and place beside its name, and a rename leaves them to be
  /// written with the file: until then the name stands for an empty file, or for the one that was replaced. The folder
  /// comes first, so that the old name is gone before the new one stands for anything.
  private func settle(_ name: UnsafePointer<CChar>, in folder: Int32) -> Int32 {
    let error = errorOf { fsync(folder) }
    guard error == 0, fileSystem == .fat || fileSystem == .unknown else { return error }
    let file = retryingInterrupted {
      kv_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
    }
    // What somebody else has removed by now needs to be nowhere.
    guard file >= 0 else { return file == -ENOENT ? 0 : file }
    defer { close(file) }
    return errorOf { fsync(file) }
  }

  // MARK: Renames that a barrier makes durable

  /// Remembers that a file was renamed and is no more where it was.
  func noteLeft(_ path: BlobPath) {
    guard fileSystem == .fat, let parent = path.parent else { return }
    leftFolders.withLock { _ = $0.insert(parent) }
  }

  /// Has the disk know the old names gone, before a sync of everything gives the new ones what they stand for.
  func syncLeftFolders() throws(BlobStoreError) {
    let left = leftFolders.withLock { folders in
      defer { folders = [] }
      return folders
    }
    var waiting = left
    // One that was not reached has told nobody yet what became of it.
    defer { leftFolders.withLock { $0.formUnion(waiting) } }
    for path in left {
      // What fails fails this barrier, whoever comes next.
      waiting.remove(path)
      let folder = open(path, O_RDONLY | O_DIRECTORY)
      if folder == -ENOENT || folder == -ENOTDIR { continue }
      try Descriptor(folder, path: path.string).sync(path: path.string)
    }
  }
}
