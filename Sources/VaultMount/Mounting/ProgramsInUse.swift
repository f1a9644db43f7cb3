import BlobStore
import Glibc
import SystemPackage

/// Finds who keeps a mount busy, as far as this user may see: for a message, not for a decision.
enum ProgramsInUse {
  /// Names with process ids, `less (4711)`, of at most five programs whose current folder or open files lie there.
  static func find(under mountpoint: FilePath) -> [String] {
    var found: [String] = []
    let numbers = FolderNames.readable(in: "/proc").compactMap {
      Int32(String(decoding: $0, as: UTF8.self))
    }
    for process in numbers where process != getpid() && found.count < 5 {
      let folder = FilePath("/proc/\(process)")
      guard uses(folder, mountpoint) else { continue }
      let name = (try? SmallFile.load(folder.appending("comm"))) ?? []  // the process may be gone
      found.append("\(String(decoding: name.filter { $0 > 0x1f }, as: UTF8.self)) (\(process))")
    }
    return found
  }

  private static func uses(_ folder: FilePath, _ mountpoint: FilePath) -> Bool {
    let open = folder.appending("fd")
    let links =
      [folder.appending("cwd")]
      + FolderNames.readable(in: open).map { open.appending(String(decoding: $0, as: UTF8.self)) }
    return links.contains { target(of: $0)?.starts(with: mountpoint) ?? false }
  }

  private static func target(of link: FilePath) -> FilePath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = link.withPlatformString { readlink($0, &buffer, buffer.count) }
    return count > 0 ? FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) }) : nil
  }
}
