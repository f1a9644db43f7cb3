import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// Servers behind a proxy that the environment names, as every other program of the machine finds it.
struct ProxyTests {
  private let webDAV: RcloneWebDAVServer
  private let program: GuardedProgram
  private let port: UInt16
  private let folder: TemporaryFolder

  /// `tinyproxy`, which asks for a password.
  init() throws {
    webDAV = try RcloneWebDAVServer()
    let folder = try TemporaryFolder()
    self.folder = folder
    let server = try ServerPrograms.start(home: folder.path) { ports in
      let configuration = """
        Port \(ports[0])
        Listen 127.0.0.1
        BasicAuth anna pass-word
        MaxClients 50

        """
      try DirectoryStore(opening: folder.path).put("proxy.conf", Array(configuration.utf8))
      return ["tinyproxy", "-d", "-c", folder.appending("proxy.conf").string]
    }
    program = server.program
    port = server.ports[0]
  }

  /// The server under an address that is this machine's too, but for which proxies are asked.
  private func store(_ environment: [String: String]) throws -> any BlobStore {
    let port = try #require(webDAV.endpoint.port)
    let address = try RemoteAddress.parse("http://0.0.0.0:\(port)/somewhere").address
    var options = RemoteOptions(environment: environment)
    options.retries.attempts = 1
    return try RemoteOpening.open(
      address, credentials: RcloneWebDAVServer.credentials, options: options)
  }

  private var proxy: String { "http://anna:pass%2Dword@127.0.0.1:\(port)" }

  @Test func bytesGoThroughIt() throws {
    let store = try store(["http_proxy": proxy])
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    try store.put("folder/blob", bytes)
    #expect(try store.read("folder/blob", limit: 1 << 20) == bytes)
    #expect(try store.list("folder").map(\.name) == ["blob"])
  }

  @Test(arguments: ["anna:wrong@", ""])
  func withoutTheRightPasswordItSaysSo(_ user: String) throws {
    let store = try store(["http_proxy": "http://\(user)127.0.0.1:\(port)"])
    let error = #expect(throws: BlobStoreError.self) { try store.read("blob", limit: 9) }
    #expect(error?.message.contains("the proxy") == true)
    #expect(error?.message.contains("password") == true)
  }

  @Test func nobodyGoesAroundAProxyThatIsNotThere() throws {
    let free = LoopbackPorts.take(1)[0]
    let store = try store(["http_proxy": "127.0.0.1:\(free)"])
    #expect {
      try store.read("blob", limit: 9)
    } throws: {
      if case .unreachable(_, let reason) = $0 as? BlobStoreError {
        reason.hasPrefix("its proxy: 127.0.0.1")
      } else {
        false
      }
    }
  }

  @Test func exceptionsGoDirectly() throws {
    let store = try store(["http_proxy": "127.0.0.1:1", "no_proxy": "0.0.0.0"])
    #expect(throws: BlobStoreError.notFound(path: "blob")) { try store.read("blob", limit: 9) }
  }
}

/// Which proxy the environment means for a server.
struct ProxySettingTests {
  private func proxy(
    _ server: String, _ environment: [String: String]
  ) throws -> HTTPProxy? {
    try HTTPProxy(for: try #require(Endpoint(server)), environment: environment)
  }

  @Test(arguments: [
    ("http://proxy:3128", "proxy", 3128), ("proxy:3128/", "proxy", 3128), ("proxy", "proxy", 80),
    ("HTTP://[::1]:8080", "::1", 8080), ("http://u:p@10.0.0.1:99", "10.0.0.1", 99),
  ])
  func readsWhatCurlReads(_ text: String, _ host: String, _ port: Int) throws {
    let proxy = try #require(HTTPProxy(text))
    #expect(proxy.kind == .http)
    #expect(proxy.host == host)
    #expect(proxy.port == port)
  }

  @Test func readsUsersAndSOCKS() throws {
    #expect(
      HTTPProxy("http://a%3Ab:c%40d@h:1")?.credentials
        == RemoteCredentials(user: "a:b", secret: "c@d"))
    #expect(HTTPProxy("http://h:1")?.credentials == nil)
    let socks = try #require(HTTPProxy("socks5h://h"))
    #expect(socks.kind == .socks5)
    #expect(socks.port == 1080)
  }

  @Test(arguments: [
    "https://h:1", "ftp://h", "http://", "http://h:99999", "socks5://u:p@h:1", "http://h/path",
    "http://%zz@h",
  ])
  func refusesWhatItCannotUse(_ text: String) throws {
    #expect(HTTPProxy(text) == nil)
    let error = #expect(throws: BlobStoreError.self) {
      try proxy("https://cloud.example.org", ["https_proxy": text])
    }
    #expect(error?.message.contains("https_proxy") == true)
  }

  @Test func theSchemeDecides() throws {
    let environment = ["https_proxy": "a", "http_proxy": "b", "ALL_PROXY": "c", "HTTP_PROXY": "d"]
    #expect(try proxy("https://h", environment)?.host == "a")
    #expect(try proxy("http://h", environment)?.host == "b")
    #expect(try proxy("http://h", ["ALL_PROXY": "c", "HTTP_PROXY": "d"])?.host == "c")
    #expect(try proxy("http://h", ["HTTP_PROXY": "d"]) == nil)
    #expect(try proxy("https://h", ["HTTPS_PROXY": "d"])?.host == "d")
    #expect(try proxy("https://h", ["https_proxy": "", "HTTPS_PROXY": "d"]) == nil)
    #expect(try proxy("https://h", [:]) == nil)
  }

  @Test(arguments: [
    ("https://cloud.example.org", "example.org", true),
    ("https://cloud.example.org", ".example.org", true),
    ("https://cloud.example.org", "*.Example.org", true),
    ("https://example.org", "other,example.org", true), ("https://example.org", "a, *", true),
    ("https://notexample.org", "example.org", false), ("https://h:8443", "h:8443", true),
    ("https://h", "h:443", true), ("https://h", "h:8443", false),
    ("https://h:8443", "h:443", false),
    ("https://[fd00::1]:99", "fd00::1", true), ("https://10.0.0.1", "10.0.0.2", false),
    ("https://localhost", "", true), ("https://127.0.0.9:9000", "", true),
    ("https://h", "", false), ("https://h", ".", false),
  ])
  func exceptions(_ server: String, _ list: String, _ isExcepted: Bool) throws {
    #expect(try (proxy(server, ["https_proxy": "p", "no_proxy": list]) == nil) == isExcepted)
  }
}
