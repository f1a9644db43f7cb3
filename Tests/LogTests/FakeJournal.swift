import Glibc
import SystemPackage

/// What listens where the journal would.
final class FakeJournal {
  let path: String
  private let descriptor: Int32

  init(at path: FilePath) throws {
    self.path = path.string
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.string.utf8)) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw Errno(rawValue: errno) }
  }

  /// The fields of the next entry; nil if none came.
  func next() -> [String: String]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    var fields: [String: String] = [:]
    for line in String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
      fields[parts[0]] = parts.count == 2 ? parts[1] : nil
    }
    return fields
  }

  deinit { close(descriptor) }
}
