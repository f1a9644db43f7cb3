import BlobStore
import Glibc
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

import struct SystemPackage.Errno

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
  /// Why something in it was left out, and what: sockets and devices, what was written to all the time, and what could not be
  /// read.
  package private(set) var leftOut: [PlainFileError] = []
  package private(set) var recordCount = 0
  package private(set) var fileCount = 0
  package private(set) var byteCount: UInt64 = 0
  /// Whether something of it is in the vault, also where `run` has thrown.
  package private(set) var hasCommitted = false

  package init(into member: Member, files: FileImport) {
    self.member = member
    self.files = files
  }

  /// Makes the directory a record called `title` in `parent`; durable when it returns. What cannot be read in it is left out.
  package mutating func run(
    _ directory: PlainFile, titled title: FileName, in parent: RecordID
  ) throws(PlainFileError) {
    try add(directory, titled: title, in: parent)
    try commit()
  }

  private mutating func add(
    _ directory: PlainFile, titled title: FileName, in parent: RecordID
  ) throws(PlainFileError) {
    let path = directory.description
    let folder = try OpenFile(directory, O_RDONLY | O_DIRECTORY)
    var edit = RecordEdit(
      record: .random(), isNew: true,
      place: RecordPlace(parent: parent, title: title, isDeleted: false),
      attributes: try files.attributes(of: folder, path: path))
    var folders: [FileName] = []
    for name in try names(in: folder, path: path) {
      let inner = PlainFile(name, in: folder.descriptor, at: path)
      do {
        if try inner.status().st_mode & S_IFMT == S_IFDIR {
          folders.append(name)
          continue
        }
        let item = try files.item(for: inner, named: name)
        edit.items[name] = item
        fileCount += 1
        byteCount += item.size
        waitingBytes += item.size
      } catch {
        try leaveOut(error)
      }
    }
    edits.append(edit)
    recordCount += 1
    if waitingBytes >= Self.commitByteCount || edits.count >= Self.commitRecordCount {
      try commit()
    }
    for name in folders {
      let inner = PlainFile(name, in: folder.descriptor, at: path)
      do { try add(inner, titled: name, in: edit.record) } catch { try leaveOut(error) }
    }
  }

  /// - Throws: The error, where it is the vault's: then nothing more comes in.
  private mutating func leaveOut(_ error: PlainFileError) throws(PlainFileError) {
    if case .vault = error { throw error }
    leftOut.append(error)
  }

  private mutating func commit() throws(PlainFileError) {
    guard !edits.isEmpty else { return }
    let part = edits
    let member = self.member
    let commit = try inVault(member.commit(part))
    hasCommitted = true
    if let failure = commit.firstFailure { throw .vault(failure) }
    edits = []
    waitingBytes = 0
  }

  /// The names in a directory, sorted.
  private func names(
    in folder: borrowing OpenFile, path: String
  ) throws(PlainFileError) -> [FileName] {
    let all: [[UInt8]]
    do { all = try FolderNames.all(in: folder.descriptor) } catch {
      throw .system(call: "read", path: path, errno: error.rawValue)
    }
    var names: [FileName] = []
    for bytes in all {
      // Only a file system that is not Linux's own has longer names.
      guard let name = FileName(bytes) else {
        throw .system(
          call: "read", path: "\(path)/\(String(decoding: bytes, as: UTF8.self))",
          errno: ENAMETOOLONG)
      }
      names.append(name)
    }
    return names.sorted()
  }
}
