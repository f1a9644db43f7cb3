import BlobStore
import VaultCrypto
import VaultModel

/// The remotes that this machine knows for one vault. Docs/Format.md, "This machine's state".
package struct RemoteRegistry: Sendable {
  private static let folder: BlobPath = "remotes"
  private static let suffix = ".remote"
  private static let byteLimit = 64 << 10
  private let state: StateFolder

  package init(state: StateFolder) { self.state = state }

  /// Every remote, by name.
  ///
  /// - Throws: `damaged` when one's file is.
  package func all() throws(VaultError) -> [RemoteConfiguration] {
    let entries = try storing { () throws(BlobStoreError) in try state.store.list(Self.folder) }
    var found: [RemoteConfiguration] = []
    for entry in entries where entry.name.hasSuffix(Self.suffix) {
      guard let name = RemoteName(entry.name.dropLast(Self.suffix.count)) else { continue }
      found.append(try load(name))
    }
    return found
  }

  /// - Throws: `notFound`, `damaged`.
  package func load(_ name: RemoteName) throws(VaultError) -> RemoteConfiguration {
    let bytes: [UInt8]
    do { bytes = try state.store.read(path(name), limit: Self.byteLimit) } catch {
      if case .notFound = error { throw .notFound(what: "the remote \(name)") }
      throw VaultError(error)
    }
    guard let configuration = RemoteConfiguration(decoding: bytes, name: name) else {
      throw .damaged(path: state.describe(path(name)), reason: "its checksum is wrong")
    }
    return configuration
  }

  /// Adds a remote; on disk when it returns.
  ///
  /// - Throws: `alreadyExists` when there is one of this name.
  package func add(_ configuration: RemoteConfiguration) throws(VaultError) {
    let path = path(configuration.name)
    guard try storing({ () throws(BlobStoreError) in try state.store.size(of: path) }) == nil else {
      throw .alreadyExists(what: "the remote \(configuration.name)")
    }
    try storing { () throws(BlobStoreError) in
      try state.store.replace(path, configuration.encoded(), durably: true)
    }
  }

  /// Forgets a remote and all that is remembered of it. What is stored there stays.
  ///
  /// - Throws: `notFound`.
  package func remove(_ name: RemoteName) throws(VaultError) {
    _ = try load(name)
    let prefix = "\(name)."
    try storing { () throws(BlobStoreError) in
      try state.store.remove(path(name))
      for entry in try state.store.list(Self.folder)
      where entry.name.hasPrefix(prefix) && !entry.isFolder {
        try state.store.remove(Self.folder.appending(entry.name))
      }
    }
  }

  private func path(_ name: RemoteName) -> BlobPath {
    Self.folder.appending(name.string + Self.suffix)
  }
}

extension RemoteConfiguration {
  private static let title = "kinvault remote configuration 1"

  /// As lines of text, the last one a checksum of those before.
  func encoded() -> [UInt8] {
    var lines = [Self.title, "created \(created)", "address \(address)"]
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      lines.append("option \(name) \(value)")
    }
    if let credentials {
      lines.append(
        "credentials \(Hex.encode(credentials.nonce)) \(Hex.encode(credentials.ciphertext))")
    }
    precondition(!lines.contains { $0.contains("\n") }, "an address or option is one line")
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    return text + Array("sum \(Digest.sha256(text).hex)\n".utf8)
  }

  /// Nil for what is torn, changed or of another version.
  init?(decoding bytes: [UInt8], name: RemoteName) {
    let sumByteCount = "sum \n".utf8.count + FileHash.byteCount * 2
    guard bytes.count > sumByteCount else { return nil }
    let text = Array(bytes.dropLast(sumByteCount))
    guard bytes.suffix(sumByteCount) == Array("sum \(Digest.sha256(text).hex)\n".utf8)[...],
      let content = String(validating: text, as: UTF8.self)
    else { return nil }
    var lines = content.split(separator: "\n")[...]
    guard lines.popFirst() == Self.title[...] else { return nil }
    self.init(name: name, address: "", created: 0)
    for line in lines {
      guard add(line) else { return nil }
    }
  }

  private mutating func add(_ line: Substring) -> Bool {
    let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else { return false }
    switch words[0] {
    case "created":
      guard let time = UInt64(words[1]) else { return false }
      created = time
    case "address": address = String(words[1])
    case "option":
      let pair = words[1].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { return false }
      options[String(pair[0])] = String(pair[1])
    case "credentials":
      let parts = words[1].split(separator: " ")
      guard parts.count == 2, let nonce = Hex.decode(parts[0]), nonce.count == 12,
        let ciphertext = Hex.decode(parts[1]), ciphertext.count >= 16
      else { return false }
      credentials = Sealed(nonce: nonce, ciphertext: ciphertext)
    default: return false
    }
    return true
  }
}
