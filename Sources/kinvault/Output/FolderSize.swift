import Glibc
import SystemPackage

/// What a folder takes on the disk.
enum FolderSize {
  static func measure(_ folder: FilePath) -> (fileCount: Int, byteCount: UInt64) {
    var result = (fileCount: 0, byteCount: UInt64(0))
    guard let listing = opendir(folder.string) else { return result }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      let name = String(decoding: bytes, as: UTF8.self)
      guard name != ".", name != ".." else { continue }
      let path = folder.appending(name)
      var status = stat()
      guard lstat(path.string, &status) == 0 else { continue }
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
