import CLinux

import struct SystemPackage.FilePath

/// What it takes on a file system that a file which was written, synced and then renamed is on disk under its new name.
/// A copy of the disk that was taken right after such a rename has shown it for each that is named here.
package enum FileSystemKind: Hashable, Sendable {
  /// A sync leaves nothing behind in the disk's cache, and the folder's is enough: journaled ext4, xfs, btrfs, and what is
  /// in memory only.
  case journaled
  /// ext2, and ext4 without a journal: the folder's is enough, but `syncfs` may leave its last writes in the disk's cache.
  case inodes
  /// FAT and exFAT, which keep a file's size and place beside its name: the folder's, then the file's own. And no name may
  /// be taken from a file before the disk knows: `DirectoryStore.take`.
  case fat
  /// All that nothing is known of (FUSE, networks): the folder's, then the file's own.
  case unknown

  /// That of an open folder.
  package static func find(of folder: Int32) -> FileSystemKind {
    switch kv_file_system(folder) {
    case KV_XFS, KV_BTRFS, KV_MEMORY_FS: .journaled
    // A journal of ext4's is found by its thread: `OrderedFiles`.
    case KV_EXT_FS: .inodes
    case KV_FAT_FS: .fat
    default: .unknown
    }
  }
}

extension FilePath {
  /// The folder's inode number, which tells it from a copy of it; 0 where it cannot be asked, and where the number is another
  /// one whenever the disk comes back: FAT, exFAT, and whatever a program makes of a disk (FUSE).
  package var lastingFolderNumber: UInt64 { kv_lasting_inode_number(string) }
}
