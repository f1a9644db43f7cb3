import Glibc

extension Renderer {
  /// With what is installed with this program: beside it, or in `libexec`. Nil where there is none.
  package static func installed() -> Renderer? {
    let this = "/proc/self/exe"
    var status = stat()
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(this, &buffer, buffer.count)
    guard count > 0, stat(this, &status) == 0 else { return nil }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return nil }
    var programs: [ForeignFormat: String] = [:]
    for format in ForeignFormat.allCases {
      // In a folder that others write to, it might be anybody's, or a link to what was made for something else.
      programs[format] = ["", "../libexec/kinvault/"].map {
        "\(path[...slash])\($0)kinvault-render-\(format)"
      }.first {
        guard let owner = ownerOfFile($0) else { return false }
        return (owner == status.st_uid || owner == 0) && access($0, X_OK) == 0
      }
    }
    return programs.isEmpty ? nil : Renderer { programs[$0] }
  }

  /// Nil for what is no file, a link included.
  private static func ownerOfFile(_ path: String) -> uid_t? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.st_uid
  }
}
