import AsyncHTTPClient
import BlobStore

/// A program on the way to a server, as some networks demand it. It sees the server's name and, where that speaks TLS,
/// nothing else: an HTTP proxy is asked for a tunnel (`CONNECT`) in any case.
package struct HTTPProxy: Hashable, Sendable {
  package enum Kind: Sendable { case http, socks5 }

  package var kind: Kind
  package var host: String
  package var port: Int
  /// What an HTTP proxy may ask for.
  package var credentials: RemoteCredentials?

  /// What curl and most programs take: `http://USER:PASSWORD@HOST:PORT`, of which only the host is needed, or
  /// `socks5://HOST:PORT`. Nil for anything else.
  package init?(_ text: some StringProtocol) {
    var rest = Substring(text)
    kind = .http
    if let mark = rest.firstRange(of: "://") {
      switch rest[..<mark.lowerBound].lowercased() {
      case "http": break
      case "socks5", "socks5h": kind = .socks5
      default: return nil
      }
      rest = rest[mark.upperBound...]
    }
    if let at = rest.lastIndex(of: "@") {
      let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard kind == .http, let user = PercentEncoding.decode(parts[0]),
        let secret = PercentEncoding.decode(parts.count > 1 ? parts[1] : "")
      else { return nil }
      credentials = RemoteCredentials(user: user, secret: secret)
      rest = rest[rest.index(after: at)...]
    }
    guard let endpoint = Endpoint("http://\(rest)") else { return nil }
    host = endpoint.bareHost
    port = endpoint.port ?? (kind == .http ? 80 : 1080)
  }

  /// The one that the environment names for a server: `https_proxy` or `http_proxy`, else `all_proxy`, unless `no_proxy`
  /// excepts the server. `HTTP_PROXY` is not read, which a web server sets to what a visitor wrote; the others may be
  /// written in capitals.
  ///
  /// - Throws: `untrusted` if it is none that can be used: going there directly would not be what was meant.
  package init?(
    for endpoint: Endpoint, environment: [String: String]
  ) throws(BlobStoreError) {
    var names = ["\(endpoint.scheme)_proxy", "all_proxy"]
    names += names.filter { $0 != "http_proxy" }.map { $0.uppercased() }
    // An empty one says: none.
    guard let name = names.first(where: { environment[$0] != nil }),
      let text = environment[name], !text.isEmpty,
      !Self.isExcepted(endpoint, by: environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    else { return nil }
    guard let proxy = HTTPProxy(text) else {
      throw .untrusted(
        reason: "the variable \(name) names no proxy like http://HOST:PORT or socks5://HOST:PORT")
    }
    self = proxy
  }

  /// This machine is never reached through a proxy.
  private static func isExcepted(_ endpoint: Endpoint, by list: String) -> Bool {
    let host = endpoint.bareHost
    if host == "localhost" || host.hasPrefix("127.") || host == "::1" { return true }
    let port = endpoint.port ?? (endpoint.scheme == "https" ? 443 : 80)
    return list.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
      if entry == "*" || entry == host { return true }
      var name = entry.drop { $0 == "*" || $0 == "." }
      // One colon is before a port, more are an address.
      if let colon = name.lastIndex(of: ":"), name.firstIndex(of: ":") == colon {
        guard name[name.index(after: colon)...] == "\(port)" else { return false }
        name = name[..<colon]
      }
      return host == name || host.hasSuffix(".\(name)")
    }
  }
}

extension HTTPClient.Configuration.Proxy {
  init(_ proxy: HTTPProxy) {
    switch proxy.kind {
    case .http:
      self = .server(
        host: proxy.host, port: proxy.port,
        authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.secret) })
    case .socks5: self = .socksServer(host: proxy.host, port: proxy.port)
    }
  }
}
