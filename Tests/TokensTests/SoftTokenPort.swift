import Synchronization
import Tokens

/// Software tokens as if they were plugged in: libfido2 opens them by a path, and reads and writes reports of 64 bytes
/// (CTAP 2.0 section 8.1).
enum SoftTokenPort {
  private static let plugged = Mutex<[String: SoftToken]>([:])
  private static let reportSize = 64

  /// Plugs a token in; it can be opened under the path from now on.
  static func plug(_ token: SoftToken, named name: String = "soft token") -> SecurityToken {
    let path = "soft:\(UInt64.random(in: 0...(.max)))"
    plugged.withLock { $0[path] = token }
    return SecurityToken(path: path, name: name, port: port)
  }

  private final class Connection: Sendable {
    let token: SoftToken
    let reports = Mutex(Reports())

    init(_ token: SoftToken) { self.token = token }
  }

  private struct Reports {
    var incoming: [UInt8] = []
    var command: UInt8 = 0
    var wanted = 0
    var channel: [UInt8] = []
    var outgoing: [[UInt8]] = []
  }

  private static let port = SecurityToken.TokenPort(
    open: { path in
      guard let path, let token = SoftTokenPort.plugged.withLock({ $0[String(cString: path)] })
      else { return nil }
      return Unmanaged.passRetained(Connection(token)).toOpaque()
    },
    close: { handle in
      if let handle { Unmanaged<Connection>.fromOpaque(handle).release() }
    },
    read: { handle, bytes, count, _ in
      guard let handle, let bytes else { return -1 }
      let connection = Unmanaged<Connection>.fromOpaque(handle).takeUnretainedValue()
      guard
        let report = connection.reports.withLock({
          $0.outgoing.isEmpty ? nil : $0.outgoing.removeFirst()
        })
      else { return -1 }
      for (index, byte) in report.prefix(count).enumerated() { bytes[index] = byte }
      return Int32(min(count, report.count))
    },
    write: { handle, bytes, count in
      guard let handle, let bytes, count > 1 else { return -1 }
      let connection = Unmanaged<Connection>.fromOpaque(handle).takeUnretainedValue()
      // The first byte is the number of the report.
      let report = Array(UnsafeBufferPointer(start: bytes, count: count).dropFirst())
      SoftTokenPort.take(report, connection)
      return Int32(count)
    })

  private static func take(_ report: [UInt8], _ connection: Connection) {
    connection.reports.withLock { reports in
      let isFirst = report[4] & 0x80 != 0
      if isFirst {
        reports.channel = Array(report.prefix(4))
        reports.command = report[4] & 0x7f
        reports.wanted = Int(report[5]) << 8 | Int(report[6])
        reports.incoming = Array(report.dropFirst(7))
      } else {
        reports.incoming += report.dropFirst(5)
      }
      guard reports.incoming.count >= reports.wanted else { return }
      let message = Array(reports.incoming.prefix(reports.wanted))
      switch reports.command {
      case 0x06:
        // A channel for whoever asks; it speaks CBOR and nothing older.
        send(message + [1, 2, 3, 4, 2, 1, 0, 0, 0x0c], &reports)
      case 0x10: send(connection.token.answer(message), &reports)
      default: break
      }
    }
  }

  private static func send(_ message: [UInt8], _ reports: inout Reports) {
    var rest = message[...]
    var report =
      reports.channel + [
        reports.command | 0x80, UInt8(message.count >> 8), UInt8(message.count & 0xff),
      ]
    var sequence: UInt8 = 0
    while true {
      let part = rest.prefix(reportSize - report.count)
      rest = rest.dropFirst(part.count)
      report += part
      report += [UInt8](repeating: 0, count: reportSize - report.count)
      reports.outgoing.append(report)
      if rest.isEmpty { return }
      report = reports.channel + [sequence]
      sequence += 1
    }
  }
}
