import BlobStore
import NIOHTTP1

extension S3Store {
  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    var entries: [BlobEntry] = []
    var token: String?
    repeat {
      let page = try listing(of: folder, delimiter: "/", after: token)
      for blob in page.blobs where !blob.name.isEmpty { entries.append(blob) }
      for name in page.folders {
        entries.append(BlobEntry(name: name, kind: .folder, size: 0, fingerprint: 0))
      }
      token = page.next
      if entries.count > configuration.folderLimit {
        throw .endlessListing(folder: folder.string, limit: configuration.folderLimit)
      }
    } while token != nil
    return entries.listed()
  }

  /// All that is below the folder, a page at a time, however deep.
  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    let listing = try listing(of: position.folder, delimiter: nil, after: position.token)
    var page = WalkPage(found: [], unvisited: [])
    for blob in listing.blobs {
      // A marker that some tools put where a folder is.
      if blob.name.isEmpty || (blob.name.hasSuffix("/") && blob.size == 0) { continue }
      let text = position.folder.isRoot ? blob.name : "\(position.folder)/\(blob.name)"
      let path = try? BlobPath(parsing: text)
      let name = path?.name ?? blob.name
      let entry = BlobEntry(
        name: name, kind: .blob, size: blob.size, fingerprint: blob.fingerprint)
      page.found.append(WalkPage.Found(path: path, entry: entry))
    }
    if let next = listing.next {
      page.unvisited.append(WalkPosition(position.folder, after: next))
    }
    return page
  }

  private struct Listing {
    /// Names are relative to the folder, and may be anything.
    var blobs: [BlobEntry] = []
    var folders: [String] = []
    var next: String?
  }

  /// So many pages with nothing on them may come one after the other, as where much was removed.
  private static let emptyPageLimit = 100

  /// The next page that has anything on it, or the last one.
  private func listing(
    of folder: BlobPath, delimiter: String?, after token: String?
  ) throws(BlobStoreError) -> Listing {
    var token = token
    for _ in 0..<Self.emptyPageLimit {
      let page = try onePage(of: folder, delimiter: delimiter, after: token)
      guard page.blobs.isEmpty, page.folders.isEmpty, let next = page.next else { return page }
      token = next
    }
    throw .unexpectedReply(
      path: folder.string, status: 0, text: "a listing that goes on and names nothing")
  }

  private func onePage(
    of folder: BlobPath, delimiter: String?, after token: String?
  ) throws(BlobStoreError) -> Listing {
    let key = key(folder)
    let prefix = key.isEmpty ? "" : "\(key)/"
    var request = S3Request(.GET, folder, limit: 16 << 20)
    request.isBucket = true
    request.query = [
      (name: "list-type", value: "2"), (name: "prefix", value: prefix),
      (name: "max-keys", value: "\(configuration.pageSize)"),
      (name: "encoding-type", value: "url"),
    ]
    if let delimiter { request.query.append((name: "delimiter", value: delimiter)) }
    if let token { request.query.append((name: "continuation-token", value: token)) }
    let reply = try send(request)
    guard reply.isSuccess else {
      // There are no folders to be absent: a 404 is about the bucket.
      let failure = failure(reply, folder)
      throw failure == .notFound(path: folder.string)
        ? .noSuchStore(name: "bucket \(configuration.bucket)") : failure
    }
    let document = try XMLReply.read("ListBucketResult", from: reply.body, path: folder)
    return try read(document, below: prefix, of: folder, after: token)
  }

  /// `ListBucketResult` of `ListObjectsV2`.
  private func read(
    _ document: XMLElement, below prefix: String, of folder: BlobPath, after token: String?
  ) throws(BlobStoreError) -> Listing {
    let isEncoded = document.text(of: "EncodingType")?.lowercased() == "url"
    func name(_ key: String) -> String {
      // In this encoding a plus is a space; a real plus comes as %2B.
      let text = isEncoded ? String(key.map { $0 == "+" ? " " : $0 }) : key
      let decoded = isEncoded ? PercentEncoding.decode(text) ?? key : key
      // A key that was not asked for is handed over whole, as a name that no path can have.
      return decoded.hasPrefix(prefix) ? String(decoded.dropFirst(prefix.count)) : "/\(decoded)"
    }
    var listing = Listing()
    func incomplete(_ text: String) -> BlobStoreError {
      .unexpectedReply(path: folder.string, status: 0, text: text)
    }
    for object in document.all("Contents") {
      guard let key = object.text(of: "Key"),
        let size = object.text(of: "Size").flatMap({ UInt64($0) })
      else { throw incomplete("a listing of objects without name or size") }
      listing.blobs.append(
        BlobEntry(
          name: name(key), kind: .blob, size: size,
          fingerprint: Fingerprint.of(object.text(of: "ETag") ?? "", size)))
    }
    for entry in document.all("CommonPrefixes") {
      guard let prefix = entry.text(of: "Prefix") else {
        throw incomplete("a listing of folders without a name")
      }
      let name = name(prefix)
      listing.folders.append(name.hasSuffix("/") ? String(name.dropLast()) : name)
    }
    if document.text(of: "IsTruncated") == "true" {
      guard let next = document.text(of: "NextContinuationToken"), !next.isEmpty, next != token
      else { throw incomplete("a listing that goes on without saying where") }
      listing.next = next
    }
    return listing
  }
}
