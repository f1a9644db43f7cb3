import BlobStore
import VaultErrors
import VaultModel

/// The remotes that this machine knows for one vault. Docs/Format.md, "This machine's state".
package struct RemoteRegistry: Sendable {
  private static let folder: BlobPath = "remotes"
  private static let suffix = ".remote"
  private static let byteLimit = 64 << 10
  private let state: StateFolder

  package init(state: StateFolder) { self.state = state }

  /// What every remote is called, in order, also one whose file is damaged.
  package func names() throws(VaultError) -> [RemoteName] {
    try storing(state.store.list(Self.folder)).compactMap { entry in
      guard entry.name.hasSuffix(Self.suffix) else { return nil }
      return RemoteName(entry.name.dropLast(Self.suffix.count))
    }
  }

  /// Every remote, by name.
  ///
  /// - Throws: `damaged` when one's file is.
  package func all() throws(VaultError) -> [RemoteConfiguration] {
    let found = try readable()
    // It throws why.
    if let damaged = found.damaged.first { _ = try load(damaged) }
    return found.whole
  }

  /// Every remote whose file is whole, and the names of the others.
  package func readable() throws(VaultError) -> (
    whole: [RemoteConfiguration], damaged: [RemoteName]
  ) {
    var whole: [RemoteConfiguration] = []
    var damaged: [RemoteName] = []
    for name in try names() {
      do { whole.append(try load(name)) } catch {
        guard error.isDamage else { throw error }
        damaged.append(name)
      }
    }
    return (whole, damaged)
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
    try requireNone(of: configuration.name)
    try storing(
      state.store.replace(path(configuration.name), configuration.encoded(), durably: true))
  }

  /// - Throws: `alreadyExists` when there is one of this name.
  package func requireNone(of name: RemoteName) throws(VaultError) {
    if try isThere(name) { throw .alreadyExists(what: "the remote \(name)") }
  }

  private func isThere(_ name: RemoteName) throws(VaultError) -> Bool {
    try storing(state.store.size(of: path(name))) != nil
  }

  /// Changes what is known of a remote that is there; on disk when it returns.
  ///
  /// - Throws: `notFound`, `damaged`.
  package func update(
    _ name: RemoteName, _ change: (inout RemoteConfiguration) -> Void
  ) throws(VaultError) {
    var configuration = try load(name)
    change(&configuration)
    let bytes = configuration.encoded()
    try storing(state.store.replace(path(name), bytes, durably: true))
  }

  /// Forgets a remote and all that is remembered of it, also where that is damaged. What is stored there stays.
  ///
  /// - Throws: `notFound`.
  package func remove(_ name: RemoteName) throws(VaultError) {
    guard try isThere(name) else { throw .notFound(what: "the remote \(name)") }
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

  /// Traps if an address or option is more than one line.
  package func encoded() -> [UInt8] {
    var lines = ["created \(created)", "address \(address)"]
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      lines.append("option \(name) \(value)")
    }
    if let credentials {
      lines.append("credentials \(credentials.words)")
    }
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  /// Nil for what is torn, changed or of another version.
  package init?(decoding bytes: [UInt8], name: RemoteName) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    self.init(name: name, address: "", created: 0)
    for words in lines.words(upTo: 2) {
      guard words.count == 2, add(words[0], words[1]) else { return nil }
    }
  }

  private mutating func add(_ key: Substring, _ value: Substring) -> Bool {
    // An option's value may begin with a combining mark: bytes part the words.
    let pair = value.utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    switch key {
    case "created":
      guard let time = UInt64(value) else { return false }
      created = time
    case "address": address = String(value)
    case "option":
      guard pair.count == 2 else { return false }
      options[pair[0]] = pair[1]
    case "credentials":
      guard let sealed = Sealed(words: value) else { return false }
      credentials = sealed
    default: return false
    }
    return true
  }
}
