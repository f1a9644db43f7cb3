import Glibc
import SystemPackage
import Vault

extension FileTree {
  /// What the file system that holds the vault folder says of its space. Of what is available there, that is taken off which no
  /// file gets: programs ask before they write, and many do not look at what closing a file says.
  package func statistics() throws(FileError) -> FileSystemStatistics {
    var found = statvfs()
    guard let folder = vault.folder, folder.withPlatformString({ statvfs($0, &found) }) == 0 else {
      throw .inputOutput
    }
    let blockSize = max(UInt64(found.f_frsize), 1)
    let reserved = (Vault.reservedByteCount + blockSize - 1) / blockSize
    let available = UInt64(found.f_bavail)
    return FileSystemStatistics(
      blockSize: blockSize, blocks: UInt64(found.f_blocks), freeBlocks: UInt64(found.f_bfree),
      availableBlocks: available > reserved ? available - reserved : 0,
      files: UInt64(found.f_files), freeFiles: UInt64(found.f_ffree), nameLimit: 255)
  }
}
