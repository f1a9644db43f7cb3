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
    let reply: HTTPReply
    do {
      reply = try askForProperties(
        of: path, depth: depth,
        at: place ?? (depth > 0 && !path.isRoot ? "\(fullPath(path))/" : nil))
    } catch .tooLarge {
      throw .endlessListing(folder: path.string, limit: configuration.listingLimit)
    }
    if reply.status == 404 { return [] }
    guard reply.isSuccess else { throw reply.failure(path) }
    guard reply.status == 207 else {
      throw .unexpectedReply(
        path: path.string, status: reply.status, text: "this is not a WebDAV server")
    }
    let document = try XMLReply.read("multistatus", from: reply.body, path: path)
    var resources: [Resource] = []
    for response in document.all("response") {
      guard let href = response.text(of: "href") else {
        throw .unexpectedReply(
          path: path.string, status: 0, text: "a listing of what has no address")
      }
      if let found = try resource(response, at: href, below: path) { resources.append(found) }
    }
    return resources
  }

  private func askForProperties(
    of path: BlobPath, depth: Int, at place: String?
  ) throws(BlobStoreError) -> HTTPReply {
    let question = Array(
      """
      <?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/>\
      <getcontentlength/><getetag/><getlastmodified/></prop></propfind>
      """.utf8)
    let result = question.withUnsafeBytes { body -> Result<HTTPReply, BlobStoreError> in
      do throws(BlobStoreError) {
        return .success(
          try send(
            .PROPFIND, path, at: place,
            headers: [
              (name: "Depth", value: "\(depth)"),
              (name: "Content-Type", value: "application/xml; charset=utf-8"),
            ], body: body, limit: configuration.listingLimit))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Nil for what the server lists and then says is not there.
  ///
  /// - Throws: What its status means where it says neither what it is nor that it is not there: what cannot be told just now
  ///   is not absent.
  private func resource(
    _ response: XMLElement, at href: String, below path: BlobPath
  ) throws(BlobStoreError) -> Resource? {
    let found = response.all("propstat")
      .filter { $0.text(of: "status")?.contains(" 200") ?? true }
      .compactMap { $0.first("prop") }
    if found.isEmpty {
      if let reason = failure(response, at: href, of: path) { throw reason }
      return nil
    }
    let isFolder = found.contains { $0.first("resourcetype")?.first("collection") != nil }
    let size =
      found.lazy.compactMap { $0.text(of: "getcontentlength") }.compactMap { UInt64($0) }.first ?? 0
    let token =
      found.lazy.compactMap { $0.text(of: "getetag") }.first { !$0.isEmpty }
      ?? found.lazy.compactMap { $0.text(of: "getlastmodified") }.first ?? ""
    return Resource(
      name: name(in: href, below: path), isFolder: isFolder, size: size,
      fingerprint: isFolder ? 0 : Fingerprint.of(token, size))
  }

  /// Why nothing is said of what is listed; nil where it is not there (404, 410).
  private func failure(
    _ response: XMLElement, at href: String, of path: BlobPath
  ) -> BlobStoreError? {
    let texts = ([response] + response.all("propstat")).compactMap { $0.text(of: "status") }
    // Of `HTTP/1.1 404 Not Found` the number; 0 where there is none.
    let statuses = texts.map { text -> Int in
      let words = text.split(whereSeparator: \.isWhitespace)
      return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
    if !statuses.isEmpty, statuses.allSatisfy({ [404, 410].contains($0) }) { return nil }
    let status = statuses.first { ![404, 410].contains($0) } ?? 0
    return HTTPReply(status: status, headers: HTTPHeaders(), body: []).failure(
      path, "said of \(href) in a listing")
  }

  /// What a `href` says below a path. It may be a whole URL or begin at the server's root.
  private func name(in href: String, below path: BlobPath) -> String {
    var text = href.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    if let mark = text.firstRange(of: "://"), !text.hasPrefix("/") {
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
