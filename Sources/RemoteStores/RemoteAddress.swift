import BlobStore
import SystemPackage

/// Where a remote is, as a person types it. Holds no password: one inside a URL is split off when it is parsed.
package enum RemoteAddress: Hashable, Sendable {
  case directory(FilePath)
  case s3(S3Address)
  case webDAV(WebDAVAddress)
  /// What rclone calls a remote and a path, `remote:path`.
  case rclone(String)

  package struct S3Address: Hashable, Sendable {
    package var bucket: String
    package var prefix = ""
    /// Nil: Amazon's, or what the shared AWS files say.
    package var endpoint: Endpoint?
    package var region: String?
    /// Nil: in the path at a custom endpoint, in the host at Amazon's.
    package var usesPathStyle: Bool?
    package var authorities: FilePath?
    /// In the shared AWS files.
    package var profile: String?

    package init(bucket: String) {
      self.bucket = bucket
    }
  }

  package struct WebDAVAddress: Hashable, Sendable {
    package var endpoint: Endpoint
    /// Not percent-encoded; parts joined with `/`.
    package var folder: String
    package var user: String?
    package var authorities: FilePath?
  }

  /// What was typed, taken apart.
  package struct Parsed: Hashable, Sendable {
    package var address: RemoteAddress
    /// A password that stood in the URL.
    package var password: String?
  }

  /// The forms, for messages and help.
  package static let forms = """
    a folder, s3://BUCKET/PREFIX, https://SERVER/PATH (WebDAV) or rclone:REMOTE:PATH
    """
}

/// Why a text is no address. `message` never repeats what could be a password.
package struct RemoteAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  package var description: String { message }
}

extension RemoteAddress {
  /// Takes apart what a person typed. A relative path stays relative.
  package static func parse(_ text: String) throws(RemoteAddressError) -> Parsed {
    if text.isEmpty { throw fail("an empty address; it can be \(forms)") }
    if text.utf8.contains(0) || text.contains(where: \.isNewline) {
      throw fail("an address is one line of text")
    }
    if let rest = text.dropping("rclone:") {
      guard rest.contains(":"), !rest.hasPrefix("//") else {
        throw fail("after rclone: comes one of its remotes and a path: rclone:REMOTE:PATH")
      }
      // Settings behind a name, or in place of one: `:webdav,bearer_token_command=…:`, `:sftp,host=…,pass=…:`.
      guard !rest.dropFirst(rest.hasPrefix(":") ? 1 : 0).prefix(while: { $0 != ":" }).contains(",")
      else {
        throw fail(
          "settings for rclone do not belong into an address: they can run programs and hold "
            + "passwords. Make a remote with rclone config, and name it: rclone:REMOTE:PATH")
      }
      return Parsed(address: .rclone(String(rest)))
    }
    if let rest = text.dropping("file:") {
      let path = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
      guard path.hasPrefix("/") else { throw fail("file: needs a whole path: file:/media/disk") }
      return Parsed(address: .directory(FilePath(String(path))))
    }
    guard let mark = text.firstRange(of: "://"), !text[..<mark.lowerBound].contains("/") else {
      return Parsed(address: .directory(FilePath(text)))
    }
    let rest = text[mark.upperBound...]
    switch text[..<mark.lowerBound].lowercased() {
    case "s3": return Parsed(address: .s3(try parseS3(rest)))
    case "https", "webdavs", "davs": return try parseWebDAV("https", rest)
    case "http", "webdav", "dav": return try parseWebDAV("http", rest)
    case let scheme:
      throw fail(
        "\(ReplyText.oneLine(scheme)):// is none that Kinvault knows. A remote is \(forms)")
    }
  }

  private static func fail(_ message: String) -> RemoteAddressError {
    RemoteAddressError(message: message)
  }

  /// What follows `s3://`.
  private static func parseS3(_ text: Substring) throws(RemoteAddressError) -> S3Address {
    let (place, options) = try options(of: text)
    if place.contains("@") {
      throw fail("access keys do not belong into an s3:// address: they are asked for")
    }
    let parts = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let bucket = String(parts.first ?? "")
    guard !bucket.isEmpty, bucket.utf8.allSatisfy(isBucketByte), bucket.first != "." else {
      throw fail("s3:// needs the name of a bucket: s3://BUCKET/PREFIX")
    }
    var address = S3Address(bucket: bucket)
    address.prefix = try folder(parts.count > 1 ? parts[1] : "")
    for (name, value) in options {
      switch name {
      case "endpoint":
        guard let endpoint = Endpoint(value.contains("://") ? value : "https://\(value)") else {
          throw fail("endpoint= needs a server: endpoint=https://s3.example.org:9000")
        }
        address.endpoint = endpoint
      case "region": address.region = value
      case "style":
        guard value == "path" || value == "host" else { throw fail("style= is path or host") }
        address.usesPathStyle = value == "path"
      case "ca": address.authorities = FilePath(value)
      case "profile": address.profile = value
      default:
        throw fail("an s3:// address can have endpoint=, region=, style=, ca= and profile=")
      }
    }
    return address
  }

  private static func isBucketByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func parseWebDAV(
    _ scheme: String, _ text: Substring
  ) throws(RemoteAddressError) -> Parsed {
    let (place, options) = try options(of: text)
    let slash = place.firstIndex(of: "/") ?? place.endIndex
    var server = place[..<slash]
    var user: String?
    var password: String?
    if let at = server.lastIndex(of: "@") {
      let parts = server[..<at].split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false
      ).map { PercentEncoding.decode($0) }
      guard let name = parts[0], !parts.contains(nil) else {
        throw fail("the user's name or the password in this address is not encoded as in a URL")
      }
      user = name.isEmpty ? nil : name
      password = parts.count > 1 ? parts[1] : nil
      server = server[server.index(after: at)...]
    }
    guard let endpoint = Endpoint("\(scheme)://\(server)") else {
      throw fail("this is no server's address; WebDAV looks like https://cloud.example.org/path")
    }
    guard let path = PercentEncoding.decode(place[slash...]) else {
      throw fail("the path in this address has a % that stands for nothing")
    }
    var address = WebDAVAddress(endpoint: endpoint, folder: try folder(path[...]), user: user)
    for (name, value) in options {
      guard name == "ca" else { throw fail("a WebDAV address can have only ca= behind a ?") }
      address.authorities = FilePath(value)
    }
    return Parsed(address: .webDAV(address), password: password)
  }

  /// Parts joined with single slashes, none before or after.
  private static func folder(_ text: Substring) throws(RemoteAddressError) -> String {
    let path = text.split(separator: "/").joined(separator: "/")
    if !path.isEmpty && (try? BlobPath(parsing: path)) == nil {
      throw fail("a path must not have . or .. in it")
    }
    return path
  }

  /// What stands before `?`, and the `name=value` pairs behind it.
  private static func options(
    of text: Substring
  ) throws(RemoteAddressError) -> (Substring, [(name: String, value: String)]) {
    guard let mark = text.firstIndex(of: "?") else { return (text, []) }
    var options: [(name: String, value: String)] = []
    for pair in text[text.index(after: mark)...].split(separator: "&") {
      guard let equals = pair.firstIndex(of: "="),
        let value = PercentEncoding.decode(pair[pair.index(after: equals)...]), !value.isEmpty
      else { throw fail("behind a ? come options like region=eu-central-1, joined with &") }
      options.append((name: String(pair[..<equals]), value: value))
    }
    return (text[..<mark], options)
  }
}

extension RemoteAddress: CustomStringConvertible {
  package var description: String { text }

  /// To be shown, stored and parsed again; gives the same address.
  package var text: String {
    switch self {
    case .directory(let path):
      // What looks like a URL or an rclone remote must not be taken for one.
      (try? Self.parse(path.string))?.address == self ? path.string : "./\(path.string)"
    case .s3(let address): address.text
    case .webDAV(let address): address.text
    case .rclone(let remote): "rclone:\(remote)"
    }
  }

  /// The address with paths of this machine made whole by `whole`: a relative one means something else in another folder.
  package func withWholePaths(_ whole: (FilePath) -> FilePath) -> RemoteAddress {
    switch self {
    case .directory(let path): return .directory(whole(path))
    case .s3(var address):
      address.authorities = address.authorities.map(whole)
      return .s3(address)
    case .webDAV(var address):
      address.authorities = address.authorities.map(whole)
      return .webDAV(address)
    case .rclone: return self
    }
  }

  fileprivate static func query(_ options: [(name: String, value: String?)]) -> String {
    let pairs = options.compactMap { option in
      option.value.map { "\(option.name)=\(PercentEncoding.encode($0, keeping: "/:"))" }
    }
    return pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
  }
}

extension RemoteAddress.S3Address {
  fileprivate var text: String {
    "s3://\(bucket)" + (prefix.isEmpty ? "" : "/\(prefix)")
      + RemoteAddress.query([
        (name: "endpoint", value: endpoint?.description), (name: "region", value: region),
        (name: "style", value: usesPathStyle.map { $0 ? "path" : "host" }),
        (name: "ca", value: authorities?.string), (name: "profile", value: profile),
      ])
  }
}

extension RemoteAddress.WebDAVAddress {
  fileprivate var text: String {
    let name = user.map { "\(PercentEncoding.encode($0))@" } ?? ""
    let path = PercentEncoding.encode(folder, keeping: "/")
    return "\(endpoint.scheme)://\(name)\(endpoint.authority)/\(path)"
      + RemoteAddress.query([(name: "ca", value: authorities?.string)])
  }
}

extension String {
  fileprivate func dropping(_ prefix: String) -> Substring? {
    hasPrefix(prefix) ? dropFirst(prefix.count) : nil
  }
}
