import BlobStore
import NIOHTTP1
import SystemPackage
import Threads

/// A folder on a WebDAV server (RFC 4918), such as Nextcloud's.
///
/// **Putting.** Several servers leave a cut-short file under its name when an upload breaks off, and few decide a race of
/// `PUT`s with a condition, but all of them seen so far move a whole file at once. So a blob is put under a temporary name
/// that readers ignore (`.<name>.tmp-…`), then moved; `ifAbsent` is `Overwrite: F`. That is two requests a blob.
///
/// **Listing** asks one folder at a time (`Depth: 1`), since servers refuse or choke on more. What a reply says about
/// anything but that folder's own children is reported as an impossible name and not followed.
package final class WebDAVStore: BlobStore {
  package struct Configuration: Sendable {
    package var endpoint: Endpoint
    /// Of the folder, not yet percent-encoded; parts joined with `/`, none before or after.
    package var folder: String
    /// Nil where the server asks for none.
    package var credentials: RemoteCredentials?
    package var authorities: FilePath?
    package var proxy: HTTPProxy?
    package var timeouts = Timeouts()
    /// Of one folder's listing in bytes, before it counts as endless: some 100,000 names.
    package var listingLimit = 64 << 20

    package init(
      endpoint: Endpoint, folder: String, credentials: RemoteCredentials?,
      authorities: FilePath? = nil
    ) {
      self.endpoint = endpoint
      self.folder = folder
      self.credentials = credentials
      self.authorities = authorities
    }
  }

  let configuration: Configuration
  private let transport: HTTPTransport
  private let authorization: String?

  /// Asks nothing of the server yet.
  ///
  /// - Throws: `untrusted` for a file of certificates that is none.
  package static func open(_ configuration: Configuration) throws(BlobStoreError) -> WebDAVStore {
    let transport = try HTTPTransport.open(
      timeouts: configuration.timeouts, authorities: configuration.authorities,
      proxy: configuration.proxy)
    return WebDAVStore(configuration, transport)
  }

  private init(_ configuration: Configuration, _ transport: HTTPTransport) {
    self.configuration = configuration
    self.transport = transport
    authorization = configuration.credentials.map {
      "Basic \(Base64.encode(Array("\($0.user):\($0.secret)".utf8)))"
    }
  }

  /// Some servers answer a range with the whole blob; larger ones cannot be read in parts from them.
  private static let wholeBlobLimit = 16 << 20

  // MARK: Blobs

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let reply = try send(.GET, path, limit: limit)
    guard reply.isSuccess else { throw reply.failure(path) }
    return reply.body
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    guard count > 0 else { return try noBytes(of: path) }
    let reply = try send(
      .GET, path, headers: [(name: "Range", value: ByteRange.header(offset, count))],
      limit: max(count, Self.wholeBlobLimit))
    return try ByteRange.body(of: reply, about: path, from: offset, count: count) {
      $0.failure(path)
    }
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    guard let resource = try properties(of: path, depth: 0).first else { return nil }
    if resource.isFolder { throw .notABlob(path: path.string) }
    if resource.size > 0 { return resource.size }
    return try sentSize(of: path)
  }

  /// The size of a blob of which the server says none, or 0: what it sends has one.
  private func sentSize(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    let reply = try send(
      .GET, path, headers: [(name: "Range", value: ByteRange.header(0, 1))],
      limit: Self.wholeBlobLimit)
    if reply.status == 404 { return nil }
    guard reply.isSuccess || reply.status == 416 else { throw reply.failure(path) }
    return ByteRange.wholeSize(from: reply) ?? 0
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    let folder = path.parent ?? .root
    let temporary = folder.appending(TemporaryName.make(for: path.name))
    var reply = try send(.PUT, temporary, body: bytes)
    // Servers have many words for a folder that is missing: 404, 409, 403, nginx's 500.
    if !reply.isSuccess, try !isThere(folder) {
      try makeFolder(folder)
      reply = try send(.PUT, temporary, body: bytes)
    }
    guard reply.isSuccess else { throw refusal(reply, path) }
    do {
      try move(temporary, to: path, condition, byteCount: UInt64(bytes.count))
    } catch {
      // It was not moved, or nobody knows: then it is absent, and removing it does no harm.
      _ = try? send(.DELETE, temporary)
      throw error
    }
  }

  private func move(
    _ temporary: BlobPath, to path: BlobPath, _ condition: PutCondition, byteCount: UInt64
  ) throws(BlobStoreError) {
    let reply = try send(
      .MOVE, temporary,
      headers: [
        (name: "Destination", value: url(fullPath(path))),
        (name: "Overwrite", value: condition == .always ? "T" : "F"),
      ])
    if Self.isMade(reply) { return }
    if reply.isSuccess, try size(of: temporary) == nil, try size(of: path) == byteCount { return }
    if condition == .ifAbsent {
      if reply.status == 412 { throw .alreadyExists(path: path.string) }
      // A server that meets the winner of a race on the way has other words for it.
      if try size(of: path) != nil { throw .alreadyExists(path: path.string) }
    }
    throw refusal(reply, path)
  }

  /// Whether a change was surely made. Other answers that HTTP counts as success are none by themselves: 207 names what was in
  /// the way (RFC 4918, sections 9.6.1 and 9.9.4), 202 promises it for later, and 200 may be the page of a proxy that wants a
  /// login.
  private static func isMade(_ reply: HTTPReply) -> Bool { [201, 204].contains(reply.status) }

  /// Why nothing was written. With 409 two at once were in each other's way: a moment later it goes.
  private func refusal(_ reply: HTTPReply, _ path: BlobPath) -> BlobStoreError {
    reply.status == 409 ? .throttled(path: path.string) : reply.failure(path)
  }

  /// `MOVE` with `Overwrite: F` mostly has one winner; Apache looks first and moves then, so that now and then two have
  /// won.
  package var decidesRaces: Bool { false }

  /// Makes a folder and those above it, the store's own root and what leads there included. From the bottom up, as
  /// mostly only one is missing.
  private func makeFolder(_ folder: BlobPath) throws(BlobStoreError) {
    let parts = fullPath(folder).split(separator: "/")
    var missing = 0
    while try !makeFolder(parts.dropLast(missing), for: folder) {
      missing += 1
      if missing == parts.count { throw .noSuchStore(name: "/\(configuration.folder)") }
    }
    for count in (parts.count - missing)..<parts.count {
      guard try makeFolder(parts[...count], for: folder) else {
        throw .notFound(path: folder.string)
      }
    }
  }

  /// False when the one above it is missing. Whatever the server refuses with, the folder may be there by now: another
  /// thread, or another device, has made it.
  private func makeFolder(
    _ parts: ArraySlice<Substring>, for folder: BlobPath
  ) throws(BlobStoreError) -> Bool {
    let place = "/\(parts.joined(separator: "/"))/"
    let reply = try send(.MKCOL, folder, at: place)
    if reply.isSuccess { return true }
    if try isThere(folder, at: place) { return true }
    if reply.status == 404 || reply.status == 409 { return false }
    throw reply.failure(folder)
  }

  /// Whether a folder is there, in the server's eyes.
  private func isThere(_ folder: BlobPath, at place: String? = nil) throws(BlobStoreError) -> Bool {
    let usual = folder.isRoot ? fullPath(folder) : "\(fullPath(folder))/"
    let found = try properties(of: folder, depth: 0, at: place ?? usual)
    return found.first?.isFolder ?? false
  }

  /// Asks first whether it is a folder: `DELETE` would take everything in it along.
  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    guard try size(of: path) != nil else { return }
    let reply = try send(.DELETE, path)
    if Self.isMade(reply) || reply.status == 404 { return }
    if reply.isSuccess, try size(of: path) == nil { return }
    throw reply.failure(path)
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    var entries: [BlobEntry] = []
    for resource in try properties(of: folder, depth: 1) {
      if resource.name.isEmpty {
        if !resource.isFolder { throw .notABlob(path: folder.string) }
        continue
      }
      entries.append(
        BlobEntry(
          name: resource.name, kind: resource.isFolder ? .folder : .blob,
          size: resource.isFolder ? 0 : resource.size, fingerprint: resource.fingerprint))
    }
    return entries.listed()
  }

  /// A server that has answered has done what it will do for durability.
  package func flush() {}

  // MARK: Requests

  /// - Parameter place: From the server's root on, not encoded; nil: where the path is.
  func send(
    _ method: HTTPMethod, _ path: BlobPath, at place: String? = nil,
    headers: [(name: String, value: String)] = [], body: UnsafeRawBufferPointer? = nil,
    limit: Int = 1 << 20
  ) throws(BlobStoreError) -> HTTPReply {
    var headers = headers
    if let authorization { headers.append((name: "Authorization", value: authorization)) }
    let call = HTTPCall(
      method: method, url: url(place ?? fullPath(path)), headers: headers, body: body, path: path,
      limit: limit)
    var reply = try transport.send(call)
    // Locked, by another request to the same folder; they are short.
    for _ in 0..<40 where reply.status == 423 {
      SystemThread.pause(for: .milliseconds(25))
      reply = try transport.send(call)
    }
    return reply
  }

  private func url(_ place: String) -> String {
    "\(configuration.endpoint)\(PercentEncoding.encode(place, keeping: "/"))"
  }

  /// From the server's root on, not encoded; the store's own root ends with `/`.
  func fullPath(_ path: BlobPath) -> String {
    let root = configuration.folder.isEmpty ? "/" : "/\(configuration.folder)/"
    return path.isRoot ? root : root + path.string
  }
}
