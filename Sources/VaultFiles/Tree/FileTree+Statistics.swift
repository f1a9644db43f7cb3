import Glibc
import SystemPackage

extension FileTree {
  /// What the file system that holds the vault folder says of its space.
  package func statistics() throws(FileError) -> FileSystemStatistics {
    var found = statvfs()
    guard let folder = vault.folder, folder.withPlatformString({ statvfs($0, &found) }) == 0 else {
      throw .inputOutput
    }
    return FileSystemStatistics(
      blockSize: UInt64(found.f_frsize), blocks: UInt64(found.f_blocks),
      freeBlocks: UInt64(found.f_bfree), availableBlocks: UInt64(found.f_bavail),
      files: UInt64(found.f_files), freeFiles: UInt64(found.f_ffree), nameLimit: 255)
  }
}
