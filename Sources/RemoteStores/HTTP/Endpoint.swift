/// Where a server listens: `https://host:port`, without user, path and query.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  package var scheme: String
  /// A name, an IPv4 address, or an IPv6 address in brackets.
  package var host: String
  /// Nil for the scheme's own.
  package var port: Int?

  /// Nil unless it is `http://` or `https://` with a host and perhaps a port and a final `/`.
  package init?(_ text: some StringProtocol) {
    guard let mark = text.firstRange(of: "://") else { return nil }
    scheme = text[..<mark.lowerBound].lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    var rest = text[mark.upperBound...]
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
      guard let number = Int(rest[rest.index(after: colon)...]), (1...65535).contains(number) else {
        return nil
      }
      port = number == (scheme == "https" ? 443 : 80) ? nil : number
      rest = rest[..<colon]
    }
    host = rest.lowercased()
    let inner = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    let allowed: (UInt8) -> Bool =
      host.hasPrefix("[")
      ? { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") || Self.isAlphanumeric($0) }
      : { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || Self.isAlphanumeric($0) }
    guard !inner.isEmpty, inner.utf8.allSatisfy(allowed) else { return nil }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// `host`, or `host:port` unless it is the scheme's own.
  package var authority: String {
    port.map { "\(host):\($0)" } ?? host
  }

  /// `host`, an IPv6 address without its brackets.
  var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

  package var description: String { "\(scheme)://\(authority)" }
}
