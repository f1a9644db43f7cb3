import BlobStore
import Glibc
import NIOHTTP1
import Synchronization
import SystemPackage

/// A bucket of any store that speaks S3, or the part of one below a prefix.
///
/// Every request is signed with Signature Version 4, its body included, so that the server refuses an upload that was
/// changed on its way. The HTTP layer sees that a download has the announced length; the vault's own authentication sees the rest.
/// Objects are put in one step, which S3 makes atomic and durable by itself.
///
/// **If-None-Match.** A store may ignore the condition silently (`rclone serve s3` does), so one that has not yet
/// been seen to honour it is asked for the blob's size first. Once it has answered 412 it is trusted.
package final class S3Store: BlobStore {
  package struct Configuration: Sendable {
    /// Such as `https://s3.eu-central-1.amazonaws.com`, without a path.
    package var endpoint: Endpoint
    package var bucket: String
    /// Empty, or parts that are joined with `/`.
    package var prefix: String
    package var region: String
    /// The bucket in the path rather than in front of the host.
    package var usesPathStyle: Bool
    package var credentials: RemoteCredentials
    package var authorities: FilePath?
    package var proxy: HTTPProxy?
    package var timeouts = Timeouts()
    /// Names in one answer to a listing; the server may give fewer.
    package var pageSize = 1000
    /// Of one folder, before its listing counts as endless.
    package var folderLimit = 200_000

    package init(
      endpoint: Endpoint, bucket: String, prefix: String = "", region: String,
      usesPathStyle: Bool, credentials: RemoteCredentials, authorities: FilePath? = nil
    ) {
      self.endpoint = endpoint
      self.bucket = bucket
      self.prefix = prefix
      self.region = region
      self.usesPathStyle = usesPathStyle
      self.credentials = credentials
      self.authorities = authorities
    }
  }

  /// What has been seen of `If-None-Match`.
  private enum Condition: UInt8, AtomicRepresentable {
    case unknown, honoured, refused
  }

  let configuration: Configuration
  private let transport: HTTPTransport
  private let signature: SignatureV4
  private let condition = Atomic(Condition.unknown)
  /// Seconds that the server's clock is ahead of ours, once it has refused a request for that.
  private let clockOffset = Atomic<Int>(0)

  /// Asks nothing of the server yet.
  ///
  /// - Throws: `untrusted` for a file of certificates that is none.
  package static func open(_ configuration: Configuration) throws(BlobStoreError) -> S3Store {
    let transport = try HTTPTransport.open(
      timeouts: configuration.timeouts, authorities: configuration.authorities,
      proxy: configuration.proxy)
    return S3Store(configuration, transport)
  }

  private init(_ configuration: Configuration, _ transport: HTTPTransport) {
    self.configuration = configuration
    self.transport = transport
    signature = SignatureV4(
      accessKey: configuration.credentials.user, secretKey: configuration.credentials.secret,
      region: configuration.region)
  }

  // MARK: Blobs

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let reply = try send(S3Request(.GET, path, limit: limit))
    guard reply.isSuccess else { throw failure(reply, path) }
    return reply.body
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    guard count > 0 else { return try noBytes(of: path) }
    var request = S3Request(.GET, path, limit: count)
    request.headers.append((name: "Range", value: ByteRange.header(offset, count)))
    return try ByteRange.body(of: try send(request), about: path, from: offset, count: count) {
      failure($0, path)
    }
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    let reply = try send(S3Request(.HEAD, path))
    if reply.status == 404 { return nil }
    guard reply.isSuccess else { throw failure(reply, path) }
    guard reply.headers.contains(name: "ETag") else { throw foreign(reply, path) }
    guard let size = reply.contentLength else {
      throw .unexpectedReply(path: path.string, status: reply.status, text: "without a length")
    }
    return size
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    var request = S3Request(.PUT, path)
    request.body = bytes
    request.headers.append((name: "Content-Type", value: "application/octet-stream"))
    if condition == .ifAbsent {
      let seen = self.condition.load(ordering: .relaxed)
      if seen != .honoured, try size(of: path) != nil { throw .alreadyExists(path: path.string) }
      if seen != .refused { request.headers.append((name: "If-None-Match", value: "*")) }
    }
    let reply = try send(request)
    if reply.isSuccess {
      // So every S3 says that it has stored an object. A proxy whose login has run out answers with a page of its own.
      if reply.headers.contains(name: "ETag"), reply.body.isEmpty { return }
      if try size(of: path) == UInt64(bytes.count) { return }
      throw foreign(reply, path)
    }
    if condition == .ifAbsent {
      switch reply.status {
      case 412:
        self.condition.store(.honoured, ordering: .relaxed)
        throw .alreadyExists(path: path.string)
      // Something else is being written there right now.
      case 409: throw .throttled(path: path.string)
      case 501 where self.condition.load(ordering: .relaxed) == .unknown:
        self.condition.store(.refused, ordering: .relaxed)
        return try put(path, bytes, condition)
      default: break
      }
    }
    throw failure(reply, path)
  }

  package var decidesRaces: Bool { condition.load(ordering: .relaxed) == .honoured }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    let reply = try send(S3Request(.DELETE, path))
    if reply.status == 204 { return }
    if reply.isSuccess {
      if try size(of: path) == nil { return }
      throw foreign(reply, path)
    }
    let failure = failure(reply, path)
    if failure != .notFound(path: path.string) { throw failure }
  }

  /// An object that was put is durable by then.
  package func flush() {}

  // MARK: Requests

  func send(_ request: S3Request) throws(BlobStoreError) -> HTTPReply {
    let reply = try sendOnce(request)
    guard reply.status == 403,
      S3Failure(reply, request.path).code == "RequestTimeTooSkewed",
      let date = reply.headers.first(name: "Date"), let theirs = HTTPDate.seconds(date)
    else { return reply }
    // Our clock is wrong, or theirs: it is theirs that must be content.
    clockOffset.store(Int(theirs) - Int(Glibc.time(nil)), ordering: .relaxed)
    return try sendOnce(request)
  }

  private func sendOnce(_ request: S3Request) throws(BlobStoreError) -> HTTPReply {
    let seconds = Int64(Glibc.time(nil)) + Int64(clockOffset.load(ordering: .relaxed))
    let time = SignatureV4.timestamp(seconds)
    let place = place(of: request.path, isBucket: request.isBucket)
    let hash = RequestHash.hex(
      request.body.map { RequestHash.sha256($0) } ?? RequestHash.sha256(""))
    var headers = request.headers
    headers.append((name: "x-amz-date", value: time))
    headers.append((name: "x-amz-content-sha256", value: hash))
    if let token = configuration.credentials.sessionToken {
      headers.append((name: "x-amz-security-token", value: token))
    }
    let signed = SignatureV4.Request(
      method: request.method.rawValue, path: place.path, query: request.query,
      headers: headers + [(name: "host", value: place.host)], payloadHash: hash)
    headers.append(
      (name: "Authorization", value: signature.authorization(of: signed, time: time)))
    headers.append((name: "Host", value: place.host))
    let query = SignatureV4.queryString(request.query)
    let url =
      "\(configuration.endpoint.scheme)://\(place.host)\(place.path)"
      + (query.isEmpty ? "" : "?\(query)")
    return try transport.send(
      HTTPCall(
        method: request.method, url: url, headers: headers, body: request.body,
        path: request.path, limit: request.limit))
  }

  private func place(of path: BlobPath, isBucket: Bool) -> (host: String, path: String) {
    let endpoint = configuration.endpoint
    let key = isBucket ? "" : PercentEncoding.encode(self.key(path), keeping: "/")
    if configuration.usesPathStyle {
      let bucket = PercentEncoding.encode(configuration.bucket)
      return (endpoint.authority, isBucket ? "/\(bucket)" : "/\(bucket)/\(key)")
    }
    return ("\(configuration.bucket).\(endpoint.authority)", "/\(key)")
  }

  func key(_ path: BlobPath) -> String {
    [configuration.prefix, path.string].filter { !$0.isEmpty }.joined(separator: "/")
  }

  func failure(_ reply: HTTPReply, _ path: BlobPath) -> BlobStoreError {
    S3Failure(reply, path).error(bucket: configuration.bucket)
  }

  /// Of an answer that sounds like success and is none of S3's.
  private func foreign(_ reply: HTTPReply, _ path: BlobPath) -> BlobStoreError {
    .unexpectedReply(
      path: path.string, status: reply.status,
      text:
        "it is not S3 that says so; a proxy or a network that wants a login may stand in between")
  }
}

/// A request to the bucket, before it is signed.
struct S3Request {
  var method: HTTPMethod
  var path: BlobPath
  /// About the bucket as a whole; the path is then only for errors.
  var isBucket = false
  var query: [(name: String, value: String)] = []
  var headers: [(name: String, value: String)] = []
  var body: UnsafeRawBufferPointer?
  var limit: Int

  init(_ method: HTTPMethod, _ path: BlobPath, limit: Int = 1 << 20) {
    self.method = method
    self.path = path
    self.limit = limit
  }
}
