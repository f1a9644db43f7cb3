import BlobStore
import RemoteStores
import Synchronization
import TestSupport
import Testing

/// What a server says is never believed further than it must be.
struct HostileServerTests {
  private func s3(
    _ server: CannedServer, _ change: (inout S3Store.Configuration) -> Void = { _ in }
  ) throws -> S3Store {
    var configuration = S3Store.Configuration(
      endpoint: try #require(server.endpoint), bucket: "b", region: "us-east-1",
      usesPathStyle: true,
      credentials: RemoteCredentials(user: "id", secret: "top-secret", sessionToken: "token"))
    change(&configuration)
    return try S3Store.open(configuration)
  }

  private func webDAV(_ server: CannedServer) throws -> WebDAVStore {
    var configuration = WebDAVStore.Configuration(
      endpoint: try #require(server.endpoint), folder: "dav",
      credentials: RemoteCredentials(user: "anna", secret: "top-secret"))
    configuration.listingLimit = 100_000
    return try WebDAVStore.open(configuration)
  }

  /// For a server that says nothing. What answers gets the usual time, however busy the machine is.
  private static var impatient: Timeouts {
    var timeouts = Timeouts()
    timeouts.idle = .milliseconds(400)
    timeouts.total = .milliseconds(1500)
    return timeouts
  }

  private static func reply(_ status: String, _ body: String, _ headers: String = "") -> String {
    "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
  }

  private func error(_ call: () throws -> Void) -> BlobStoreError? {
    do {
      try call()
      return nil
    } catch {
      return error as? BlobStoreError
    }
  }

  @Test func neverSendsTheSecret() throws {
    let server = CannedServer(always: Self.reply("200 OK", "x"))
    _ = try s3(server).read("a", limit: 9)
    let request = try #require(server.requests.first)
    #expect(!request.contains("top-secret"))
    #expect(request.lowercased().contains("x-amz-security-token: token"))
  }

  @Test func aNameThatIsListedTwiceIsThereOnce() throws {
    let blob = "<Contents><Key>b/name</Key><Size>3</Size><ETag>e</ETag></Contents>"
    let folder = "<CommonPrefixes><Prefix>b/name/</Prefix></CommonPrefixes>"
    let other = "<Contents><Key>b/a</Key><Size>4</Size><ETag>f</ETag></Contents>"
    let server = CannedServer(
      always: Self.reply(
        "200 OK",
        "<ListBucketResult>\(blob)\(other)\(folder)\(blob)\(folder)</ListBucketResult>"))
    let entries = try s3(server).list("b")
    #expect(entries.map(\.name) == ["a", "name", "name"])
    #expect(Set(entries.map(\.kind)) == [.blob, .folder])
    #expect(entries.count(where: \.isFolder) == 1)
  }

  @Test func followsNoRedirect() throws {
    let other = CannedServer(always: Self.reply("200 OK", "stolen"))
    let server = CannedServer(
      always: Self.reply(
        "307 Temporary Redirect", "", "Location: http://127.0.0.1:\(other.port)/a?token=abc\r\n"))
    for store in [try s3(server), try webDAV(server)] as [any BlobStore] {
      let error = try #require(error { _ = try store.read("a", limit: 9) })
      #expect(!error.isTransient)
      #expect(error.message.contains("127.0.0.1"))
      #expect(!error.message.contains("abc"))
    }
    #expect(other.requests.isEmpty)
  }

  @Test func cutsAGiantBodyAtTheLimit() throws {
    let announced = CannedServer(always: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx")
    #expect(throws: BlobStoreError.tooLarge(path: "a", size: 99_999_999_999, limit: 10)) {
      try s3(announced).read("a", limit: 10)
    }
    let endless = CannedServer { _, _ in
      .drip(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFF\r\nxxxxxxxx")
    }
    guard case .tooLarge = error({ _ = try s3(endless).read("a", limit: 10) }) else {
      Issue.record("not cut")
      return
    }
  }

  @Test func noticesABodyCutShort() throws {
    let server = CannedServer(always: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
    let error = try #require(error { _ = try s3(server).read("a", limit: 1000) })
    #expect(error.isTransient, "\(error)")
  }

  @Test func endsSilenceAndDripping() throws {
    let silent = CannedServer { _, _ in .silence }
    let impatient = { (configuration: inout S3Store.Configuration) in
      configuration.timeouts = Self.impatient
    }
    #expect(throws: BlobStoreError.timedOut(path: "a")) {
      try s3(silent, impatient).read("a", limit: 9)
    }
    let dripping = CannedServer { _, _ in
      .drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    }
    #expect(throws: BlobStoreError.timedOut(path: "a")) {
      try s3(dripping, impatient).read("a", limit: 1000)
    }
  }

  /// Before any byte, after the head of an answer, and in the middle of a body.
  @Test(arguments: [
    nil, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe beginning",
  ])
  func aServerThatFallsSilentIsToldAfterOneWait(_ beginning: String?) throws {
    // As the program opens remotes, but for how long it waits.
    var options = RemoteOptions(environment: [:])
    #expect(options.timeouts.idle == .seconds(30))
    #expect(options.retries.patience == .seconds(30))
    (options.timeouts.idle, options.retries.patience) = (.milliseconds(400), .milliseconds(400))
    for isS3 in [true, false] {
      let server = CannedServer { _, _ in beginning.map { .stall($0) } ?? .silence }
      let address =
        isS3
        ? "s3://bucket?endpoint=http://127.0.0.1:\(server.port)"
        : "http://127.0.0.1:\(server.port)/dav"
      let store = try RemoteOpening.open(
        RemoteAddress.parse(address).address,
        credentials: RemoteCredentials(user: "anna", secret: "top-secret"), options: options)
      let start = ContinuousClock.now
      let error = try #require(error { _ = try store.read("a", limit: 1 << 20) })
      // Far from the minutes that trying again would take.
      #expect(ContinuousClock.now - start < .seconds(60))
      #expect(error == .timedOut(path: "a"))
      #expect(error.message == "a: the store did not answer in time")
      #expect(server.askedCount == 1)
    }
  }

  @Test func endsAnUploadThatNobodyReads() throws {
    let deaf = CannedServer { _, _ in .silence }
    let bytes = [UInt8](repeating: 1, count: 64 << 20)
    let store = try s3(deaf) {
      $0.timeouts = Self.impatient
      $0.timeouts.total = .seconds(600)
    }
    #expect(throws: BlobStoreError.timedOut(path: "a")) { try store.put("a", bytes) }
  }

  /// It is told after half a minute, and not after one for each time that might be tried.
  @Test func silenceIsWaitedForOnce() throws {
    #expect(Timeouts().idle == RetryingStore.Policy().patience)
    #expect(Timeouts().idle <= .seconds(30))
    let silent = CannedServer { _, _ in .silence }
    var policy = RetryingStore.Policy()
    policy.patience = Self.impatient.idle
    let store = RetryingStore(try s3(silent) { $0.timeouts = Self.impatient }, policy: policy)
    #expect(throws: BlobStoreError.timedOut(path: "a")) { try store.read("a", limit: 9) }
    #expect(silent.askedCount == 1)
  }

  @Test func asksOnceMoreWhereTheConnectionBreaksOff() throws {
    let reads = CannedServer { _, number in
      number == 1 ? .bytes(Self.reply("404 Not Found", "")) : .hangUp
    }
    #expect(throws: BlobStoreError.notFound(path: "a")) { try webDAV(reads).read("a", limit: 9) }
    #expect(reads.requests.map { String($0.prefix(4)) } == ["GET ", "GET "])
    // Whether the first one has made the blob is for the caller to find out.
    let conditional = CannedServer { request, _ in
      request.hasPrefix("HEAD") ? .bytes(Self.reply("404 Not Found", "")) : .hangUp
    }
    let broken = try #require(error { try s3(conditional).put("a", [1], .ifAbsent) })
    #expect(broken.isTransient, "\(broken)")
    #expect(conditional.requests.map { String($0.prefix(4)) } == ["HEAD", "PUT "])
  }

  @Test func saysThatNobodyAnswers() throws {
    let port = LoopbackPorts.take(1)[0]
    let endpoint = try #require(Endpoint("http://127.0.0.1:\(port)"))
    let store = try WebDAVStore.open(
      WebDAVStore.Configuration(endpoint: endpoint, folder: "", credentials: nil))
    guard case .unreachable = error({ _ = try store.read("a", limit: 9) }) else {
      Issue.record("not unreachable")
      return
    }
    let hangingUp = CannedServer { _, _ in .hangUp }
    let broken = try #require(error { _ = try s3(hangingUp).read("a", limit: 9) })
    #expect(broken.isTransient, "\(broken)")
  }

  @Test(arguments: [
    "not HTTP at all\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
  ])
  func survivesNonsense(_ text: String) throws {
    let server = CannedServer(always: text)
    #expect(throws: BlobStoreError.self) { try s3(server).read("a", limit: 9) }
  }

  @Test(arguments: [
    "", "<", "<a><b></a>", "{}", "<ListBucketResult><Contents></Contents></ListBucketResult>",
    "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><ListBucketResult>&b;</ListBucketResult>",
    String(repeating: "<a>", count: 20_000), "\u{FEFF}\0<\0a\0/\0>\0",
  ])
  func refusesXMLThatIsNone(_ body: String) throws {
    let server = CannedServer(always: Self.reply("200 OK", body))
    guard case .unexpectedReply = error({ _ = try s3(server).list(.root) }) else {
      Issue.record("S3 took it")
      return
    }
    let second = CannedServer(always: Self.reply("207 Multi-Status", body))
    // One of them is another document without a response in it.
    if let error = error({ _ = try webDAV(second).list(.root) }) {
      guard case .unexpectedReply = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func endsAListingThatGoesOnForEver() throws {
    let server = CannedServer { _, number in
      let names = (0..<10).map { "<Contents><Key>\(number)-\($0)</Key><Size>1</Size></Contents>" }
      return .bytes(
        Self.reply(
          "200 OK",
          "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>\(number)"
            + "</NextContinuationToken>\(names.joined())</ListBucketResult>"))
    }
    let store = try s3(server) { $0.folderLimit = 95 }
    #expect(throws: BlobStoreError.endlessListing(folder: "", limit: 95)) { try store.list(.root) }
    #expect(throws: BlobStoreError.endlessListing(folder: "", limit: 50)) {
      try store.walk(under: .root, limit: 50) { _, _ in .goOn }
    }
    let circle = CannedServer(
      always: Self.reply(
        "200 OK",
        "<ListBucketResult><IsTruncated>true</IsTruncated>"
          + "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>"))
    guard case .unexpectedReply = error({ _ = try s3(circle).list(.root) }) else {
      Issue.record("went in circles")
      return
    }
  }

  /// There is nothing to be counted, and no page says the same as the one before.
  @Test func endsAListingThatGoesOnAndNamesNothing() throws {
    let server = CannedServer { _, number in
      .bytes(
        Self.reply(
          "200 OK",
          "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>\(number % 2)"
            + "</NextContinuationToken></ListBucketResult>"))
    }
    let store = try s3(server)
    guard case .unexpectedReply = error({ _ = try store.list(.root) }) else {
      Issue.record("the listing did not end")
      return
    }
    guard case .unexpectedReply = error({ try store.walk(under: .root) { _, _ in .goOn } }) else {
      Issue.record("the walk did not end")
      return
    }
    #expect(server.requests.count == 200)
  }

  /// As where much was removed a short while ago.
  @Test func goesOnAfterPagesWithNothingOnThem() throws {
    let server = CannedServer { _, number in
      let next =
        "<IsTruncated>true</IsTruncated><NextContinuationToken>\(number)</NextContinuationToken>"
      let blob = "<Contents><Key>a</Key><Size>1</Size></Contents>"
      return .bytes(
        Self.reply(
          "200 OK", "<ListBucketResult>\(number < 20 ? next : blob)</ListBucketResult>"))
    }
    #expect(try s3(server).list(.root).map(\.name) == ["a"])
  }

  @Test func reportsKeysThatLeadElsewhere() throws {
    let keys = [
      "p/ok", "p/../up", "p//x", "other/file", "p/a/../../b", "/etc/passwd", "p/%2E%2E/y",
    ]
    let contents = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
    let server = CannedServer(
      always: Self.reply(
        "200 OK",
        "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
          + "\(contents)</ListBucketResult>"))
    let store = try s3(server) { $0.prefix = "p" }
    var paths: [BlobPath] = []
    var impossible = 0
    try store.walk(under: .root) { path, _ in
      if let path { paths.append(path) } else { impossible += 1 }
      return .goOn
    }
    #expect(paths == ["ok"])
    #expect(impossible == keys.count - 1)
  }

  @Test func reportsHrefsThatLeadElsewhere() throws {
    let hrefs = [
      "/dav/", "/dav/ok", "http://evil.example/dav/also%20ok", "/dav/../etc/passwd", "/etc/passwd",
      "/dav/a/b", "/dav/%2e%2e", "/dav/a%2Fb", "/dav/%zz",
    ]
    let responses = hrefs.map { href in
      let type = href == "/dav/" ? "<D:resourcetype><D:collection/></D:resourcetype>" : ""
      return "<D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(type)"
        + "<D:getcontentlength>3</D:getcontentlength></D:prop>"
        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    }
    let server = CannedServer(
      always: Self.reply(
        "207 Multi-Status",
        "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">\(responses.joined())"
          + "</D:multistatus>"))
    var paths: Set<BlobPath> = []
    var impossible = 0
    try webDAV(server).walk(under: .root) { path, _ in
      if let path { paths.insert(path) } else { impossible += 1 }
      return .goOn
    }
    #expect(paths == ["ok", "also ok"])
    // Two of the six say the same name.
    #expect(impossible == 5)
  }

  /// Some servers say no sizes in listings, or 0.
  @Test(arguments: ["", "<D:getcontentlength>0</D:getcontentlength>"])
  func aSizeThatIsNotSaidIsThatOfWhatIsSent(_ listed: String) throws {
    let found =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/dav/a</D:href>"
      + "<D:propstat><D:prop><D:resourcetype/>\(listed)</D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
    func size(_ sent: String) throws -> UInt64? {
      let server = CannedServer { request, _ in
        .bytes(request.hasPrefix("PROPFIND") ? Self.reply("207 Multi-Status", found) : sent)
      }
      defer { withExtendedLifetime(server) {} }
      return try webDAV(server).size(of: "a")
    }
    let part = Self.reply("206 Partial Content", "x", "Content-Range: bytes 0-0/1234\r\n")
    #expect(try size(part) == 1234)
    #expect(try size(Self.reply("200 OK", "abc")) == 3)
    #expect(try size(Self.reply("416 No Range", "", "Content-Range: bytes */0\r\n")) == 0)
    #expect(try size(Self.reply("404 Not Found", "")) == nil)
    #expect(throws: BlobStoreError.self) { try size(Self.reply("403 Forbidden", "")) }
  }

  /// A blob that the server cannot tell of just now must not pass for one that is gone. Most say so once for the whole of it,
  /// others with the properties.
  @Test(arguments: [false, true])
  func whatAListingCannotTellOfIsNotAbsent(saysItWithProperties: Bool) throws {
    func server(_ status: String) -> CannedServer {
      let line = "<D:status>HTTP/1.1 \(status)</D:status>"
      let told =
        saysItWithProperties
        ? "<D:propstat><D:prop><D:getetag/></D:prop>\(line)</D:propstat>" : line
      let own =
        "<D:response><D:href>/dav/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype>"
        + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
      let child = "<D:response><D:href>/dav/a</D:href>\(told)</D:response>"
      return CannedServer { request, _ in
        let responses = request.hasPrefix("PROPFIND /dav/a ") ? child : own + child
        return .bytes(
          Self.reply(
            "207 Multi-Status",
            "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">\(responses)</D:multistatus>"))
      }
    }
    for status in ["404 Not Found", "410 Gone"] {
      let absent = server(status)
      #expect(try webDAV(absent).list(.root).isEmpty)
      #expect(try webDAV(absent).size(of: "a") == nil)
    }
    for (status, mayPass) in [
      ("403 Forbidden", false), ("423 Locked", true), ("429 Slow", true), ("500 Oops", true),
      ("507 Full", false),
    ] {
      let refusing = server(status)
      let listing = try #require(error { _ = try webDAV(refusing).list(.root) }, "\(status)")
      let size = try #require(error { _ = try webDAV(refusing).size(of: "a") }, "\(status)")
      #expect(listing.isTransient == mayPass && size.isTransient == mayPass, "\(listing) \(size)")
    }
  }

  /// Another thread or another device has made it meanwhile; servers have many words for that.
  @Test(arguments: [
    "403 Forbidden", "405 Method Not Allowed", "409 Conflict", "423 Locked", "500 Oops",
  ])
  func aFolderThatIsThereByNowIsWrittenInto(_ status: String) throws {
    let folder =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/dav/f/</D:href>"
      + "<D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
    let isAsked = Mutex(false)
    let server = CannedServer { request, _ in
      let method = request.prefix { $0 != " " }
      let isThere = isAsked.withLock { isAsked in
        isAsked = isAsked || method == "MKCOL"
        return isAsked
      }
      return switch method {
      case "MKCOL": .bytes(Self.reply(status, ""))
      case "PROPFIND" where isThere: .bytes(Self.reply("207 Multi-Status", folder))
      case "PROPFIND": .bytes(Self.reply("404 Not Found", ""))
      case "PUT" where !isThere: .bytes(Self.reply("409 Conflict", ""))
      default: .bytes(Self.reply("201 Created", ""))
      }
    }
    try webDAV(server).put("f/a", [1, 2, 3])
    #expect(server.requests.contains { $0.hasPrefix("MKCOL /dav/f/ ") })
    #expect(server.requests.contains { $0.hasPrefix("MOVE /dav/f/") })
  }

  /// lighttpd and WsgiDAV answer so when two move to one place at once.
  @Test(arguments: [PutCondition.always, .ifAbsent], [false, true])
  func aMoveThatMeetsAnotherOne(_ condition: PutCondition, hasWinner: Bool) throws {
    let found =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/dav/a</D:href>"
      + "<D:propstat><D:prop><D:getcontentlength>3</D:getcontentlength></D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
    let server = CannedServer { request, _ in
      switch request.prefix(while: { $0 != " " }) {
      case "MOVE": .bytes(Self.reply("409 Conflict", ""))
      case "PROPFIND" where hasWinner: .bytes(Self.reply("207 Multi-Status", found))
      case "PROPFIND": .bytes(Self.reply("404 Not Found", ""))
      default: .bytes(Self.reply("201 Created", ""))
      }
    }
    let expected: BlobStoreError =
      condition == .ifAbsent && hasWinner ? .alreadyExists(path: "a") : .throttled(path: "a")
    #expect(error({ try webDAV(server).put("a", [1, 2, 3], condition) }) == expected)
  }

  /// Some are answered so of what was not done: a lock on the folder (Apache), a change that is put off, the page of a proxy
  /// whose login has run out. Others say no more of what they have done.
  @Test(arguments: ["200 OK", "202 Accepted", "207 Multi-Status"], [false, true])
  func whatSoundsLikeSuccessIsLookedAfter(_ status: String, isDone: Bool) throws {
    let found =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/dav/a</D:href>"
      + "<D:propstat><D:prop><D:getcontentlength>3</D:getcontentlength></D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
    let putting = CannedServer { request, _ in
      switch request.prefix(while: { $0 != " " }) {
      case "MOVE": .bytes(Self.reply(status, "<html>Log in</html>"))
      // Of the file itself and not of the temporary one.
      case "PROPFIND" where isDone && request.hasPrefix("PROPFIND /dav/a "):
        .bytes(Self.reply("207 Multi-Status", found))
      case "PROPFIND": .bytes(Self.reply("404 Not Found", ""))
      default: .bytes(Self.reply("201 Created", ""))
      }
    }
    let put = error { try webDAV(putting).put("a", [1, 2, 3]) }
    #expect((put == nil) == isDone, "\(String(describing: put))")
    // It is asked whether the file is there, told to remove it, and asked once more.
    let removing = CannedServer { _, number in
      switch number {
      case 1: .bytes(Self.reply(status, "<html>Log in</html>"))
      case 2 where isDone: .bytes(Self.reply("404 Not Found", ""))
      default: .bytes(Self.reply("207 Multi-Status", found))
      }
    }
    let removed = error { try webDAV(removing).remove("a") }
    #expect((removed == nil) == isDone, "\(String(describing: removed))")
    #expect(removing.requests.count == 3)
  }

  /// The same of S3, which says with an ETag and nothing else that it has stored an object, and with 204 that it has removed one.
  @Test(arguments: ["200 OK", "202 Accepted"], [false, true])
  func whatSoundsLikeSuccessOfS3IsLookedAfter(_ status: String, isDone: Bool) throws {
    func server(isThere: Bool) -> CannedServer {
      let head =
        isThere
        ? "200 OK\r\nETag: \"e\"\r\nContent-Length: 3" : "404 Not Found\r\nContent-Length: 0"
      return CannedServer { request, _ in
        request.hasPrefix("HEAD")
          ? .bytes("HTTP/1.1 \(head)\r\nConnection: close\r\n\r\n")
          // Pages have ETags, too.
          : .bytes(Self.reply(status, "<html>Log in</html>", "ETag: \"page\"\r\n"))
      }
    }
    let (putting, removing) = (server(isThere: isDone), server(isThere: !isDone))
    let put = error { try s3(putting).put("a", [1, 2, 3]) }
    #expect((put == nil) == isDone, "\(String(describing: put))")
    let removed = error { try s3(removing).remove("a") }
    #expect((removed == nil) == isDone, "\(String(describing: removed))")
  }

  /// A network that wants a login first answers everything so.
  @Test func aLoginPageIsNoObject() throws {
    let page = "<html>Log in</html>"
    let server = CannedServer { request, _ in
      .bytes(
        request.hasPrefix("HEAD")
          ? "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(page.utf8.count)\r\n\r\n"
          : Self.reply("200 OK", page))
    }
    let bytes = Array(page.utf8)
    for found in [
      error { _ = try s3(server).size(of: "a") }, error { try s3(server).put("a", bytes) },
      error { try s3(server).put("a", bytes, .ifAbsent) },
      error { try s3(server).remove("a") },
    ] {
      guard case .unexpectedReply("a", 200, _)? = found else {
        Issue.record("it was believed: \(String(describing: found))")
        continue
      }
    }
  }

  @Test func aListingThatIsTooLongEnds() throws {
    let server = CannedServer(
      always: Self.reply("207 Multi-Status", String(repeating: " ", count: 200_000)))
    #expect(throws: BlobStoreError.endlessListing(folder: "", limit: 100_000)) {
      try webDAV(server).list(.root)
    }
  }

  /// What was asked for is "34" of "0123456789".
  @Test(arguments: [
    ("206 Part", "bytes 3-4/10", "34", "34"), ("206 Part", "bytes 3-4/*", "34", "34"),
    ("200 OK", "bytes 3-4/10", "34", "34"), ("200 OK", nil, "0123456789", "34"),
    ("206 Part", "bytes 0-9/10", "0123456789", "34"), ("206 Part", "bytes 3-3/4", "3", "3"),
    ("200 OK", nil, "0123", "3"), ("200 OK", nil, "012", ""), ("416 No", "bytes */3", "", ""),
    ("416 No", nil, "", ""),
    ("206 Part", nil, "34", nil), ("206 Part", "bytes 4-5/10", "45", nil),
    ("206 Part", "bytes 3-3/10", "3", nil), ("206 Part", "bytes 3-3/*", "3", nil),
    ("206 Part", "bytes 3-5/10", "34", nil), ("206 Part", "bytes 3-4/4", "34", nil),
    ("206 Part", "bytes 0-1/10", "01", nil), ("206 Part", "3-4", "34", nil),
    ("206 Part", "bytes 3-18446744073709551615/*", "34", nil),
    ("206 Part", "lines 3-4/10", "34", nil),
    ("416 No", "bytes */10", "", nil),
  ])
  func takesNoOtherPartForTheRightOne(
    status: String, range: String?, body: String, part: String?
  ) throws {
    let header = range.map { "Content-Range: \($0)\r\n" } ?? ""
    let server = CannedServer(always: Self.reply(status, body, header))
    let store = try webDAV(server)
    if let part {
      #expect(try store.read("a", at: 3, count: 2) == Array(part.utf8))
    } else if case .unexpectedReply("a", _, _) = error({ _ = try store.read("a", at: 3, count: 2) })
    {
      #expect(server.requests.count == 1)
    } else {
      Issue.record("it was taken")
    }
  }

  @Test(arguments: [
    ("403 Forbidden", "AccessDenied", false), ("503 Slow", "SlowDown", true),
    ("500 Oops", "InternalError", true), ("404 Gone", "NoSuchBucket", false),
    ("400 Bad", "XAmzContentSHA256Mismatch", true), ("507 Full", "", false),
  ])
  func tellsWhatMayPassFromWhatStays(status: String, code: String, mayPass: Bool) throws {
    let server = CannedServer(
      always: Self.reply(status, "<Error><Code>\(code)</Code><Message>m</Message></Error>"))
    let error = try #require(error { try s3(server).put("a", [1]) })
    #expect(error.isTransient == mayPass, "\(error)")
  }

  @Test func showsNothingThatATerminalWouldObey() throws {
    let server = CannedServer(
      always: Self.reply(
        "403 No",
        "<Error><Code>No</Code><Message>\u{9B}31m\u{202E}bad\n\(String(repeating: "x", count: 9000))</Message></Error>"
      ))
    let message = try #require(error { try s3(server).put("a", [1]) }?.message)
    #expect(
      message.unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "\u{9B}" && $0 != "\u{202E}" })
    #expect(message.count < 300)
  }

  @Test func signsByTheServersClockWhenOursIsWrong() throws {
    let server = CannedServer { _, number in
      .bytes(
        number == 0
          ? Self.reply(
            "403 Forbidden", "<Error><Code>RequestTimeTooSkewed</Code></Error>",
            "Date: Fri, 01 Jan 2038 10:11:12 GMT\r\n")
          : Self.reply("200 OK", "x"))
    }
    #expect(try s3(server).read("a", limit: 9) == Array("x".utf8))
    #expect(server.requests.count == 2)
    #expect(server.requests[1].contains("x-amz-date: 20380101T10111"))
  }

  @Test func putsAfterLookingWhereTheConditionIsNotKnown() throws {
    let server = CannedServer { request, _ in
      .bytes(
        request.hasPrefix("HEAD")
          ? "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
          : request.lowercased().contains("if-none-match")
            ? Self.reply("501 Not Implemented", "<Error><Code>NotImplemented</Code></Error>")
            : Self.reply("200 OK", "", "ETag: \"e\"\r\n"))
    }
    try s3(server).put("a", [1], .ifAbsent)
    #expect(server.requests.map { String($0.prefix(4)) } == ["HEAD", "PUT ", "HEAD", "PUT "])
  }
}
