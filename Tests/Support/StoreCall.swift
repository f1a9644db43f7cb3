import BlobStore

/// One call of a store, as wrappers see it.
package struct StoreCall: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// `readRange` is `read` with an offset; `page` is a step of `walk`.
    case read, readRange, size, put, remove, list, page, flush
    case openForReading, create, rename, renameDurably, link, replace, overwrite, removeFolder
    case takeOver, barrier, space
  }

  package var kind: Kind
  /// The root for `flush`, `barrier` and `space`.
  package var path: BlobPath
  /// Where `rename`, `renameDurably` and `link` lead.
  package var target: BlobPath?
  /// Of `replace`.
  package var isDurable: Bool

  package init(
    _ kind: Kind, _ path: BlobPath = .root, to target: BlobPath? = nil, durably: Bool = false
  ) {
    self.kind = kind
    self.path = path
    self.target = target
    isDurable = durably
  }

  /// Such as `rename staging/a → objects/a`.
  package var description: String {
    var text = kind.rawValue
    if !path.isRoot { text += " \(path)" }
    if let target { text += " → \(target)" }
    if isDurable { text += " durably" }
    return text
  }
}

/// A store in front of another that looks at each call before it lets it through.
package protocol InspectingStore: LocalStore {
  var inner: any LocalStore { get }
  /// Called before each call, on the caller's thread; what it throws is what the caller gets.
  func inspect(_ call: StoreCall) throws(BlobStoreError)
}

extension InspectingStore {
  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    try inspect(StoreCall(.read, path))
    return try inner.read(path, limit: limit)
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    try inspect(StoreCall(.readRange, path))
    return try inner.read(path, at: offset, count: count)
  }

  package func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader {
    try inspect(StoreCall(.openForReading, path))
    return try inner.openForReading(path)
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try inspect(StoreCall(.size, path))
    return try inner.size(of: path)
  }

  package func arrival(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try inspect(StoreCall(.size, path))
    return try inner.arrival(of: path)
  }

  package func takeOver(_ path: BlobPath) throws(BlobStoreError) -> Bool {
    try inspect(StoreCall(.takeOver, path))
    return try inner.takeOver(path)
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try inspect(StoreCall(.put, path))
    try inner.put(path, bytes, condition)
  }

  package var decidesRaces: Bool { inner.decidesRaces }

  package func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError) {
    try inspect(StoreCall(.create, path))
    try inner.create(path, bytes)
  }

  package func rename(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try inspect(StoreCall(.rename, from, to: to))
    try inner.rename(from, to: to)
  }

  package func renameDurably(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try inspect(StoreCall(.renameDurably, from, to: to, durably: true))
    try inner.renameDurably(from, to: to)
  }

  package func link(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try inspect(StoreCall(.link, from, to: to))
    try inner.link(from, to: to)
  }

  package func replace(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, durably: Bool
  ) throws(BlobStoreError) {
    try inspect(StoreCall(.replace, path, durably: durably))
    try inner.replace(path, bytes, durably: durably)
  }

  package func overwrite(
    _ path: BlobPath, at offset: UInt64, _ bytes: UnsafeRawBufferPointer
  ) throws(BlobStoreError) {
    try inspect(StoreCall(.overwrite, path, durably: true))
    try inner.overwrite(path, at: offset, bytes)
  }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    try inspect(StoreCall(.remove, path))
    try inner.remove(path)
  }

  package func removeFolder(_ path: BlobPath) throws(BlobStoreError) {
    try inspect(StoreCall(.removeFolder, path))
    try inner.removeFolder(path)
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try inspect(StoreCall(.list, folder))
    return try inner.list(folder)
  }

  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    try inspect(StoreCall(.page, position.folder))
    return try inner.page(position)
  }

  package func flush() throws(BlobStoreError) {
    try inspect(StoreCall(.flush))
    try inner.flush()
  }

  package func barrier() throws(BlobStoreError) {
    try inspect(StoreCall(.barrier))
    try inner.barrier()
  }

  package func space() throws(BlobStoreError) -> BlobSpace {
    try inspect(StoreCall(.space))
    return try inner.space()
  }
}
