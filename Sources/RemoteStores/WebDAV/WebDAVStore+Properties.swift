import BlobStore
import NIOHTTP1

extension WebDAVStore {
  /// What a server says about a blob or folder.
  struct Resource {
    /// Relative to what was asked about: empty for itself. One that is no child has a `/` in front.
    var name: String
    var isFolder: Bool
    var size: UInt64
    var fingerprint: UInt64
  }

  /// The resource itself, and with a depth of 1 its children; empty when it is absent.
  ///
  /// - Parameter place: Where to ask, if that is not where the path is: from the server's root on, not encoded.
  func properties(
    of path: BlobPath, depth: Int, at place: String? = nil
  ) throws(BlobStoreError) -> [Resource] {
    let question = Array(
      """
      <?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/>\
      <getcontentlength/><getetag/><getlastmodified/></prop></propfind>
      """.utf8)
    let result = question.withUnsafeBytes { body -> Result<HTTPReply, BlobStoreError> in
      do throws(BlobStoreError) {
        return .success(
          try send(
            .PROPFIND, path, at: place ?? (depth > 0 && !path.isRoot ? "\(fullPath(path))/" : nil),
            headers: [
              (name: "Depth", value: "\(depth)"),
              (name: "Content-Type", value: "application/xml; charset=utf-8"),
            ], body: body, limit: configuration.listingLimit))
      } catch {
        return .failure(error)
      }
    }
    let reply: HTTPReply
    do throws(BlobStoreError) {
      reply = try result.get()
    } catch .tooLarge {
      throw .endlessListing(folder: path.string, limit: configuration.listingLimit)
    }
    if reply.status == 404 { return [] }
    guard reply.isSuccess else { throw reply.failure(path) }
    guard reply.status == 207 else {
      throw .unexpectedReply(
        path: path.string, status: reply.status, text: "this is not a WebDAV server")
    }
    let document = try XMLReply.decode(Multistatus.self, from: reply.body, path: path)
    return (document.response ?? []).compactMap { resource($0, below: path) }
  }

  private struct Multistatus: Decodable {
    var response: [Response]?
  }
  private struct Response: Decodable {
    var href: String
    var propstat: [PropertyStatus]?
  }
  private struct PropertyStatus: Decodable {
    var prop: Properties
    var status: String?
  }
  private struct Properties: Decodable {
    var resourcetype: ResourceType?
    var getcontentlength: String?
    var getetag: String?
    var getlastmodified: String?
  }
  private struct ResourceType: Decodable {
    struct Empty: Decodable {}
    var collection: Empty?
  }

  /// Nil for what the server lists and then says is not there.
  private func resource(_ response: Response, below path: BlobPath) -> Resource? {
    let found = (response.propstat ?? []).filter { $0.status?.contains(" 200") ?? true }.map(\.prop)
    guard !found.isEmpty else { return nil }
    let isFolder = found.contains { $0.resourcetype?.collection != nil }
    let size = found.lazy.compactMap(\.getcontentlength).compactMap { UInt64($0) }.first ?? 0
    let token =
      found.lazy.compactMap(\.getetag).first { !$0.isEmpty }
      ?? found.lazy.compactMap(\.getlastmodified).first ?? ""
    return Resource(
      name: name(in: response.href, below: path), isFolder: isFolder, size: size,
      fingerprint: isFolder ? 0 : Fingerprint.of(token, size))
  }

  /// What a `href` says below a path. It may be a whole URL or begin at the server's root.
  private func name(in href: String, below path: BlobPath) -> String {
    var text = href.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    if let mark = text.range(of: "://"), !text.hasPrefix("/") {
      let rest = text[mark.upperBound...]
      text = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
    }
    if text.hasSuffix("/") { text = text.dropLast() }
    guard let decoded = PercentEncoding.decode(text) else { return "/\(text)" }
    let own = fullPath(path).hasSuffix("/") ? String(fullPath(path).dropLast()) : fullPath(path)
    if decoded == own { return "" }
    guard decoded.hasPrefix("\(own)/") else { return "/\(decoded)" }
    let rest = decoded.dropFirst(own.count + 1)
    return rest.isEmpty || rest.contains("/") ? "/\(decoded)" : String(rest)
  }
}
