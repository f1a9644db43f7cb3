import Glibc

extension Renderer {
  /// What is installed with this program: beside it, or in `libexec`. Nil where there is none.
  package static func installed() -> Renderer? {
    let this = "/proc/self/exe"
    var status = stat()
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(this, &buffer, buffer.count)
    guard count > 0, stat(this, &status) == 0 else { return nil }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return nil }
    for place in ["kinvault-render", "../libexec/kinvault/kinvault-render"] {
      let program = path[...slash] + place
      // In a folder that others write to, it might be anybody's, or a link to what was made for something else.
      guard let owner = ownerOfFile(String(program)), owner == status.st_uid || owner == 0,
        access(String(program), X_OK) == 0
      else { continue }
      return Renderer(program: String(program))
    }
    return nil
  }

  /// Nil for what is no file, a link included.
  private static func ownerOfFile(_ path: String) -> uid_t? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.st_uid
  }
}
