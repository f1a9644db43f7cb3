import Glibc
import SystemPackage

/// A system call on a file that failed, though nothing at that step should make it.
struct CallFailure: Error, CustomStringConvertible {
  let call: String
  let path: String
  let errno: Int32
  var description: String { "\(call) \(path): \(Errno(rawValue: errno))" }

  /// - Returns: What the call returned, if that is no failure.
  @discardableResult
  static func check(_ result: Int32, _ call: String, _ path: String) throws(CallFailure) -> Int32 {
    guard result >= 0 else { throw CallFailure(call: call, path: path, errno: Glibc.errno) }
    return result
  }
}

/// All that a program sees of a folder: paths from it on, with what is there.
struct ShownTree: Equatable {
  struct Entry: Equatable, CustomStringConvertible {
    var mode: UInt32
    /// How many names a file has; of folders nobody counts them.
    var linkCount: UInt64
    /// Nil: a folder.
    var content: [UInt8]?

    var text: String { String(decoding: content ?? [], as: UTF8.self) }
    var description: String {
      "mode \(String(mode, radix: 8)), \(linkCount) names, "
        + (content.map { "\($0.count) bytes: \(text.prefix(24))" } ?? "a folder")
    }
  }

  private(set) var entries: [String: Entry] = [:]

  var folders: [String] { entries.filter { $0.value.content == nil }.keys.sorted() }
  var files: [String] { entries.filter { $0.value.content != nil }.keys.sorted() }
  /// The beginnings of all files that are texts of a ledger.
  var texts: Set<String> { Set(entries.values.compactMap { $0.content.flatMap(LedgerText.in) }) }

  init(reading root: FilePath) throws { try add(root, as: "") }

  private mutating func add(_ folder: FilePath, as prefix: String) throws {
    for name in try Self.names(in: folder) {
      let (path, shown) = (folder.appending(name), prefix + name)
      var status = stat()
      try CallFailure.check(lstat(path.string, &status), "lstat", path.string)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      entries[shown] = Entry(
        mode: status.st_mode, linkCount: isFolder ? 0 : UInt64(status.st_nlink),
        content: isFolder ? nil : try Self.content(of: path))
      if isFolder { try add(path, as: shown + "/") }
    }
  }

  private static func names(in folder: FilePath) throws(CallFailure) -> [String] {
    guard let stream = opendir(folder.string) else {
      throw CallFailure(call: "opendir", path: folder.string, errno: Glibc.errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else {
      throw CallFailure(call: "readdir", path: folder.string, errno: Glibc.errno)
    }
    return names
  }

  static func content(of path: FilePath) throws -> [UInt8] {
    let file = try CallFailure.check(open(path.string, O_RDONLY | O_CLOEXEC), "open", path.string)
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &buffer, buffer.count)
      try CallFailure.check(count < 0 ? -1 : 0, "read", path.string)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// What the other one shows otherwise.
  func differences(from other: ShownTree) -> [String] {
    Set(entries.keys).union(other.entries.keys).sorted().compactMap { path in
      let (mine, theirs) = (entries[path], other.entries[path])
      if mine == theirs { return nil }
      return "\(path): \(mine?.description ?? "-"); \(theirs?.description ?? "-")"
    }
  }
}
