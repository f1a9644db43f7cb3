import Glibc
import VaultModel

/// Takes a plain directory in as a record, with everything in it: directories become records of their
/// own, files their attachments.
///
/// Committed in parts, so that a folder of any size does not wait for its last file. What was
/// committed before a failure stays.
package struct FolderImport {
  /// A commit is made when this much waits for one.
  private static let commitByteCount: UInt64 = 256 << 20
  private static let commitRecordCount = 256

  private let member: Member
  private var files: FileImport
  private var edits: [RecordEdit] = []
  private var waitingBytes: UInt64 = 0
  /// What could not be taken in: sockets and devices.
  package private(set) var skipped: [String] = []
  package private(set) var recordCount = 0
  package private(set) var fileCount = 0
  package private(set) var byteCount: UInt64 = 0

  package init(into member: Member, files: FileImport) {
    self.member = member
    self.files = files
  }

  /// Makes the directory at `path` a record called `title` in `parent`; durable when it returns.
  package mutating func run(
    _ path: String, titled title: FileName, in parent: RecordID
  ) throws(PlainFileError) {
    try add(path, titled: title, in: parent)
    try commit()
  }

  private mutating func add(
    _ path: String, titled title: FileName, in parent: RecordID
  ) throws(PlainFileError) {
    var edit = RecordEdit(
      record: .random(), isNew: true,
      place: RecordPlace(parent: parent, title: title, isDeleted: false),
      attributes: try files.attributes(ofDirectory: path))
    var folders: [FileName] = []
    for name in try names(in: path) {
      let inner = "\(path)/\(name.string)"
      var status = stat()
      guard lstat(inner, &status) == 0 else {
        throw .system(call: "stat", path: inner, errno: errno)
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        folders.append(name)
        continue
      }
      do throws(PlainFileError) {
        let item = try files.item(for: inner, named: name)
        edit.items[name] = item
        fileCount += 1
        byteCount += item.size
        waitingBytes += item.size
      } catch {
        guard case .notImportable = error else { throw error }
        skipped.append(inner)
      }
    }
    edits.append(edit)
    recordCount += 1
    if waitingBytes >= Self.commitByteCount || edits.count >= Self.commitRecordCount {
      try commit()
    }
    for name in folders { try add("\(path)/\(name.string)", titled: name, in: edit.record) }
  }

  private mutating func commit() throws(PlainFileError) {
    guard !edits.isEmpty else { return }
    let part = edits
    let member = self.member
    let commit = try inVault { () throws(VaultError) in try member.commit(part) }
    if let failure = commit.failures.values.first { throw .vault(failure) }
    edits = []
    waitingBytes = 0
  }

  /// The names in a directory, sorted, without `.` and `..`.
  private func names(in path: String) throws(PlainFileError) -> [FileName] {
    guard let folder = opendir(path) else {
      throw .system(call: "open", path: path, errno: errno)
    }
    defer { closedir(folder) }
    var names: [FileName] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else { break }
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if bytes == [UInt8(ascii: ".")] || bytes == Array("..".utf8) { continue }
      // Paths are text here, so a name that is no UTF-8 could not be opened again.
      guard let name = FileName(bytes), String(validating: bytes, as: UTF8.self) != nil else {
        throw .invalidName(path: "\(path)/\(String(decoding: bytes, as: UTF8.self))")
      }
      names.append(name)
    }
    guard errno == 0 else { throw .system(call: "read", path: path, errno: errno) }
    return names.sorted()
  }
}
