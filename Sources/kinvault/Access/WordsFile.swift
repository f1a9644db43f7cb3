import Glibc

/// A new file for the 24 words that only its owner can read.
///
/// It is made before the vault is, so that a vault is never made whose words cannot be kept.
struct WordsFile {
  private let path: String
  private let descriptor: Int32

  /// - Throws: `alreadyExists`: a file is never overwritten.
  init(creating path: String) throws(CommandError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw .alreadyExists("\(path) exists already. The words are never written over a file.")
      }
      throw .system(call: "open", path: path, errno: errno)
    }
  }

  /// Writes the words, one a line; on disk when it returns.
  func write(_ words: [String]) throws(CommandError) {
    defer { close(descriptor) }
    let bytes = Array((words.joined(separator: "\n") + "\n").utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
      throw .system(call: "write", path: path, errno: errno)
    }
  }

  /// Takes the file away again, after what it was for has failed.
  func remove() { unlink(path) }
}
