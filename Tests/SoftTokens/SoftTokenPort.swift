import Synchronization
import Tokens

/// Software tokens as if they were plugged in: libfido2 opens them by a path, and reads and writes reports.
package enum SoftTokenPort {
  private static let plugged = Mutex<[String: SoftToken]>([:])

  /// Plugs a token in; it can be opened under the path from now on.
  package static func plug(_ token: SoftToken, named name: String = "soft token") -> SecurityToken {
    let path = "soft:\(UInt64.random(in: 0...(.max)))"
    plugged.withLock { $0[path] = token }
    return SecurityToken(path: path, name: name, port: port)
  }

  private final class Connection: Sendable {
    let reports: Mutex<TokenReports>

    init(_ token: SoftToken) { reports = Mutex(TokenReports(to: token)) }
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
      connection.reports.withLock { $0.take(report) }
      return Int32(count)
    })
}
