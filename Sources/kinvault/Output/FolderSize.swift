import BlobStore
import Glibc
import SystemPackage

/// What a folder takes on the disk.
enum FolderSize {
  static func measure(_ folder: FilePath) -> (fileCount: Int, byteCount: UInt64) {
    var result = (fileCount: 0, byteCount: UInt64(0))
    for name in FolderNames.readable(in: folder) {
      let path = folder.appending(bytes: name)
      var status = stat()
      guard path.withPlatformString({ lstat($0, &status) }) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        let inner = measure(path)
        result.fileCount += inner.fileCount
        result.byteCount += inner.byteCount
      } else {
        result.fileCount += 1
        result.byteCount += UInt64(max(0, status.st_blocks)) * 512
      }
    }
    return result
  }
}
