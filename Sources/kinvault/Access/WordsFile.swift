import Glibc
import SystemPackage

/// A new file for the 24 words, alone or on a page, that only its owner can read.
///
/// It is made before the vault is, so that a vault is never made whose words cannot be kept.
struct WordsFile {
  private let path: String
  private let descriptor: Int32

  /// Takes an empty file of this user's that is there, as a kinvault init that was killed leaves it.
  ///
  /// - Throws: `alreadyExists`: a file with anything in it is never overwritten.
  init(creating path: String) throws(CommandError) {
    self.path = path
    let flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let made = open(path, flags | O_CREAT | O_EXCL, 0o600)
    if made >= 0 {
      descriptor = made
      return
    }
    guard errno == EEXIST else { throw .system(call: "open", path: path, errno: errno) }
    let present = open(path, flags)
    var status = stat()
    guard present >= 0, fstat(present, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size == 0, status.st_nlink == 1, status.st_uid == geteuid(),
      fchmod(present, 0o600) == 0
    else {
      if present >= 0 { close(present) }
      throw .alreadyExists("\(path) exists already. The words are never written over a file.")
    }
    descriptor = present
  }

  /// Writes the words, one a line; on disk when it returns.
  func write(_ words: [String]) throws(CommandError) {
    try write(words.joined(separator: "\n") + "\n")
  }

  /// Writes the text; on disk when it returns. Once only.
  func write(_ text: String) throws(CommandError) {
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
      throw .system(call: "write", path: path, errno: errno)
    }
    try syncFolder()
  }

  /// The file's name must be on disk as well.
  private func syncFolder() throws(CommandError) {
    let folder = FilePath(path).removingLastComponent()
    let parent = folder.isEmpty ? "." : folder.string
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", path: parent, errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(call: "fsync", path: parent, errno: errno) }
  }

  /// Takes the file away again, after what it was for has failed.
  func remove() {
    guard unlink(path) != 0, errno != ENOENT else { return }
    let reason = String(cString: strerror(errno))
    Terminal.note(
      "kinvault: \(Terminal.visible(path)) could not be removed (\(reason)). If there are words in it, remove it yourself."
    )
  }
}
