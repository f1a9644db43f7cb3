import AsyncHTTPClient
import BlobStore
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SystemPackage

/// How long a server may take.
package struct Timeouts: Hashable, Sendable {
  package var connect: Duration = .seconds(10)
  /// Without a single byte in either direction.
  package var idle: Duration = .seconds(30)
  /// For a whole request, besides the time that its bytes take at `slowest` bytes per second.
  package var total: Duration = .seconds(60)
  package var slowest = 16 << 10

  package init() {}

  func whole(byteCount: Int) -> Duration {
    total + .seconds(Double(byteCount) / Double(max(slowest, 1)))
  }
}

/// Sends requests to one server and waits for the answers, from any number of threads. Redirects are never followed: the
/// next host would see what is meant for this one.
final class HTTPTransport: Sendable {
  private let client: HTTPClient
  private let timeouts: Timeouts
  private let authorities: FilePath?
  private let usesProxy: Bool

  /// Ready to send; asks nothing of the server yet.
  ///
  /// - Parameter authorities: A PEM file with the certificates that may vouch for the server, instead of the system's.
  /// - Throws: `untrusted` if that is no such file.
  static func open(
    timeouts: Timeouts = Timeouts(), authorities: FilePath? = nil, proxy: HTTPProxy? = nil,
    connectionCount: Int = 32
  ) throws(BlobStoreError) -> HTTPTransport {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let authorities {
      do {
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authorities.string))
      } catch {
        throw .untrusted(
          reason: "\(authorities.string) is not a readable file of certificates (PEM)")
      }
    }
    return HTTPTransport(
      tls, timeouts: timeouts, authorities: authorities, proxy: proxy,
      connectionCount: connectionCount)
  }

  private init(
    _ tls: TLSConfiguration, timeouts: Timeouts, authorities: FilePath?, proxy: HTTPProxy?,
    connectionCount: Int
  ) {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(timeouts.connect)))
    configuration.proxy = proxy.map { HTTPClient.Configuration.Proxy($0) }
    configuration.httpVersion = .http1Only
    // Servers close what is kept, Apache and lighttpd after 5 seconds: better to be the first.
    configuration.connectionPool = HTTPClient.Configuration.ConnectionPool(
      idleTimeout: .seconds(4), concurrentHTTP1ConnectionsPerHostSoftLimit: connectionCount)
    // Whoever calls decides about trying again.
    configuration.connectionPool.retryConnectionEstablishment = false
    // One loop for the client and all its connections. On more than one, a server that answers before it has read
    // everything, and hangs up, ends the whole program: word that a request was sent goes from the connection's loop to
    // the request's and back, and gives back a connection that is struck off the list by then ("A connection that we
    // don't know was released?"; async-http-client 1.37). On one loop that word has no way to go, and a whole request is
    // handed to its connection before any answer can come.
    client = HTTPClient(
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton.next(), configuration: configuration)
    self.timeouts = timeouts
    self.authorities = authorities
    usesProxy = proxy != nil
  }

  deinit {
    // Nothing can be under way: whoever waits for an answer holds a reference.
    try? client.syncShutdown()
  }

  /// The answer, whatever its status. Throws `tooLarge`, `timedOut`, `unreachable`, `untrusted` and
  /// `unexpectedReply`.
  func send(_ call: HTTPCall) throws(BlobStoreError) -> HTTPReply {
    let path = call.path.string
    var server: (host: String, port: Int)?
    do {
      var headers = HTTPHeaders(call.headers.map { ($0.name, $0.value) })
      headers.add(name: "User-Agent", value: "kinvault")
      let body = call.body.map { Self.inPieces(ByteBuffer(bytes: $0)) }
      let request = try HTTPClient.Request(
        url: call.url, method: call.method, headers: headers, body: body)
      server = (request.host, request.port)
      return try answer(to: request, for: call)
    } catch let error as BodyCollector.TooLarge {
      throw .tooLarge(path: path, size: error.size, limit: call.limit)
    } catch {
      throw failure(error, path: path, server: server)
    }
  }

  private func failure(
    _ error: any Error, path: String, server: (host: String, port: Int)?
  ) -> BlobStoreError {
    if let server, let reason = untrustedReason(error, of: server) {
      return .untrusted(reason: reason)
    }
    let failure = BlobStoreError(transport: error, path: path, usesProxy: usesProxy)
    // That of a connection which was not made says by itself with whom.
    guard case .unreachable(_, let reason) = failure, let server, !(error is NIOConnectionError)
    else { return failure }
    return .unreachable(path: path, reason: "\(server.host), port \(server.port): \(reason)")
  }

  /// Asks for an answer that does not end, without a limit in time, for as long as something comes now and then.
  ///
  /// - Parameters:
  ///   - longestSilence: Without a single byte.
  ///   - onLine: Called on the client's thread: with nil when the answer begins, then with every line that is not empty.
  func listen(
    to url: String, path: BlobPath, longestSilence: Duration,
    _ onLine: @escaping @Sendable (String?) -> Void
  ) -> HTTPListening {
    let listener = LineListener(onLine)
    let failure: @Sendable (any Error) -> BlobStoreError = { [self] error in
      self.failure(error, path: path.string, server: nil)
    }
    do {
      let request = try HTTPClient.Request(url: url, headers: ["User-Agent": "kinvault"])
      let server = (host: request.host, port: request.port)
      let task = client.execute(request: request, delegate: listener)
      let watch = Self.watch(task, for: TimeAmount(longestSilence)) { listener.lastProgress }
      task.futureResult.whenComplete { _ in watch.cancel() }
      return HTTPListening(.success(task)) { [self] error in
        self.failure(error, path: path.string, server: server)
      }
    } catch {
      return HTTPListening(.failure(failure(error)), failure: failure)
    }
  }

  /// Ends a request when nothing has moved for so long. The client's own `read` and `write` timeouts do not bear with
  /// servers that stand still in either direction.
  private static func watch(
    _ task: HTTPClient.Task<HTTPReply>, for silence: TimeAmount,
    lastProgress: @escaping @Sendable () -> NIODeadline
  ) -> RepeatedTask {
    task.eventLoop.scheduleRepeatedTask(
      initialDelay: silence, delay: .nanoseconds(silence.nanoseconds / 8)
    ) { _ in
      if lastProgress() + silence <= .now() { task.fail(reason: HTTPClientError.readTimeout) }
    }
  }

  /// A body in pieces, each of which shows how far it has come. All are handed over at once: a wait for the connection
  /// to take more would never end where a server refuses a body of which it has read only a part.
  private static func inPieces(_ bytes: ByteBuffer) -> HTTPClient.Body {
    let size = 256 << 10
    guard bytes.readableBytes > size else { return .byteBuffer(bytes) }
    return .stream(contentLength: Int64(bytes.readableBytes)) { writer in
      var rest = bytes
      var pieces: [ByteBuffer] = []
      while let piece = rest.readSlice(length: min(size, rest.readableBytes)),
        piece.readableBytes > 0
      {
        pieces.append(piece)
      }
      return pieces.map { writer.write(.byteBuffer($0)) }[0]
    }
  }

  /// Asks once more where a connection broke off before anything of an answer came: a server may close one that was kept
  /// just as it is used again (RFC 9110 section 9.2.2).
  private func answer(to request: HTTPClient.Request, for call: HTTPCall) throws -> HTTPReply {
    let collector = BodyCollector(call)
    do {
      return try answer(to: request, for: call, collector)
    } catch {
      guard call.isRepeatable, !collector.hasBegun, Self.isBroken(error) else { throw error }
      return try answer(to: request, for: call, BodyCollector(call))
    }
  }

  private func answer(
    to request: HTTPClient.Request, for call: HTTPCall, _ collector: BodyCollector
  ) throws -> HTTPReply {
    let byteCount = (call.body?.count ?? 0) + (call.method == .GET ? call.limit : 0)
    let deadline = NIODeadline.now() + TimeAmount(timeouts.whole(byteCount: byteCount))
    let task = client.execute(request: request, delegate: collector, deadline: deadline)
    let watch = Self.watch(task, for: TimeAmount(timeouts.idle)) { collector.lastProgress }
    defer { watch.cancel() }
    return try task.wait()
  }

  /// Whether the other side ended the connection.
  private static func isBroken(_ error: any Error) -> Bool {
    switch error {
    case let error as HTTPClientError: error == .remoteConnectionClosed
    case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
    case ChannelError.ioOnClosedChannel, ChannelError.eof, HTTPParserError.invalidEOFState: true
    default: false
    }
  }

  /// Why the server is not trusted, in words; nil when the error is none of TLS.
  private func untrustedReason(
    _ error: any Error, of server: (host: String, port: Int)
  ) -> String? {
    switch error {
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      return "the name does not match: its certificate is for another one than \(server.host). "
        + "Use the name that it is for, or have the server's certificate made for this one too"
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: break
    default: return nil
    }
    // Through a proxy it cannot be looked at.
    if usesProxy {
      return "its certificate is not trusted or has expired, or it does not speak TLS 1.2"
    }
    let certificate = ServerCertificate.ask(
      host: server.host, port: server.port, timeout: TimeAmount(timeouts.connect))
    return certificate?.trouble(now: Int64(time(nil)), authorities: authorities)
      ?? "it does not speak TLS 1.2 or newer; perhaps its address begins with http://"
  }
}

extension BlobStoreError {
  /// Why there was no answer.
  fileprivate init(transport error: any Error, path: String, usesProxy: Bool) {
    switch error {
    case let error as HTTPClientError:
      let late: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout,
      ]
      if late.contains(error) {
        self = .timedOut(path: path)
      } else if [.remoteConnectionClosed, .requestStreamCancelled, .cancelled].contains(error) {
        self = .unreachable(path: path, reason: "it broke off the connection")
      } else if error == .proxyAuthenticationRequired {
        self = .denied(path: path, reason: "the proxy asks for a user and a password")
      } else if [.invalidProxyResponse, .socksHandshakeTimeout, .httpProxyHandshakeTimeout]
        .contains(error)
      {
        self = .unreachable(
          path: path,
          reason:
            "the proxy does not connect to it (is it allowed to, and are user and password right?)")
      } else {
        self = .unexpectedReply(path: path, status: 0, text: error.shortDescription)
      }
    case let error as NIOConnectionError:
      self = .unreachable(
        path: path, reason: usesProxy ? "its proxy: \(error.reason)" : error.reason)
    case let error as IOError:
      self = .unreachable(path: path, reason: "\(Errno(rawValue: error.errnoCode))")
    case HTTPParserError.invalidEOFState:
      self = .garbled(path: path, reason: "the answer was cut short")
    case is HTTPParserError:
      self = .unexpectedReply(path: path, status: 0, text: "not a proper HTTP answer")
    case is ChannelError:
      self = .unreachable(path: path, reason: "the connection ended")
    default:
      self = .unreachable(path: path, reason: ReplyText.oneLine("\(error)"))
    }
  }
}

extension NIOConnectionError {
  fileprivate var reason: String {
    if dnsAError != nil || dnsAAAAError != nil, connectionErrors.isEmpty {
      return "there is no host \(host), or no network"
    }
    if let error = connectionErrors.first?.error as? IOError {
      return "\(host), port \(port): \(Errno(rawValue: error.errnoCode))"
    }
    return "\(host), port \(port)"
  }
}

extension TimeAmount {
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
