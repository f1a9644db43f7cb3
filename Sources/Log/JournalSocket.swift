import Glibc

/// The journal of systemd, by its native protocol: https://systemd.io/JOURNAL_NATIVE_PROTOCOL.
package struct JournalSocket: LogDestination {
  package static let path = "/run/systemd/journal/socket"

  private let path: String

  package init(path: String = JournalSocket.path) { self.path = path }

  /// Whether there seems to be a journal.
  package var exists: Bool { access(path, W_OK) == 0 }

  /// Sends one datagram. A journal that is busy is not waited for.
  package func write(_ line: LogLine) -> Bool {
    guard var address = Self.address(of: path) else { return false }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Self.encode(line)
    let sent = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
          socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return sent == bytes.count
  }

  /// A line for each field. No value holds a line feed: words, numbers and ids have none.
  static func encode(_ line: LogLine) -> [UInt8] {
    var lines = [
      "MESSAGE=\(line.text)", "PRIORITY=\(line.priority)", "SYSLOG_IDENTIFIER=kinvault",
    ]
    lines += line.fields.map { "KINVAULT_\($0.name.uppercased())=\($0.value)" }
    return Array(lines.map { "\($0)\n" }.joined().utf8)
  }

  private static func address(of path: String) -> sockaddr_un? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }
}
