import Glibc
import SystemPackage

/// Finds who keeps a mount busy, as far as this user may see: for a message, not for a decision.
enum ProgramsInUse {
  /// Names with process ids, `less (4711)`, of at most five programs whose current folder or open files lie there.
  static func find(under mountpoint: FilePath) -> [String] {
    var found: [String] = []
    for process in names(in: "/proc") where process.allSatisfy(\.isNumber) {
      guard found.count < 5 else { break }
      guard process != String(getpid()), uses(process, mountpoint) else { continue }
      let name = (try? SmallFile.load("/proc/\(process)/comm")) ?? []  // the process may be gone
      found.append("\(String(decoding: name.filter { $0 > 0x1f }, as: UTF8.self)) (\(process))")
    }
    return found
  }

  private static func uses(_ process: String, _ mountpoint: FilePath) -> Bool {
    let folder = "/proc/\(process)"
    let links = ["\(folder)/cwd"] + names(in: "\(folder)/fd").map { "\(folder)/fd/\($0)" }
    return links.contains { target(of: $0)?.isOrLiesUnder(mountpoint) ?? false }
  }

  private static func target(of link: String) -> FilePath? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { readlink(link, $0.baseAddress, $0.count) }
    return count > 0 ? FilePath(bytes: buffer[..<count]) : nil
  }

  private static func names(in folder: String) -> [String] {
    guard let handle = opendir(folder) else { return [] }
    defer { closedir(handle) }
    var result: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { result.append(name) }
    }
    return result
  }
}
