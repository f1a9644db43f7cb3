import Glibc
import SystemPackage

/// A folder that goes with the test.
final class TemporaryFolder {
  let path: FilePath

  init() {
    var template = Array("/tmp/kinvault-mount-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { preconditionFailure("mkdtemp: \(errno)") }
    path = FilePath(platformString: template)
  }

  func folder(_ name: String, mode: mode_t = 0o755) -> FilePath {
    let folder = path.appending(name)
    precondition(mkdir(folder.string, mode) == 0)
    return folder
  }

  func file(_ name: String, _ content: String = "") -> FilePath {
    let file = path.appending(name)
    let descriptor = open(file.string, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0)
    precondition(write(descriptor, content, content.utf8.count) == content.utf8.count)
    close(descriptor)
    return file
  }

  deinit {
    remove(path)
    rmdir(path.string)
  }

  private func remove(_ folder: FilePath) {
    guard let handle = opendir(folder.string) else { return }
    defer { closedir(handle) }
    while let entry = readdir(handle) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      let path = folder.appending(name)
      if unlink(path.string) != 0 {
        remove(path)
        rmdir(path.string)
      }
    }
  }
}

/// The permission bits of a file, or nil when it is missing.
func permissions(_ path: FilePath) -> mode_t? {
  var status = stat()
  return lstat(path.string, &status) == 0 ? status.st_mode & 0o7777 : nil
}
