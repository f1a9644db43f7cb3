import BlobStore
import VaultCrypto
import VaultModel

/// From names to content: staged, in its place, or on a remote.
extension ObjectStore {
  /// A reader for parts of the chunk.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func reader(_ name: ObjectName) throws(VaultError) -> ObjectReader {
    if let reader = readers.withLock({ $0[name] }) { return reader }
    let reader = try fetchingIfAway(name, .chunk) { () throws(VaultError) in try open(name) }
    keep(reader)
    return reader
  }

  private func keep(_ reader: ObjectReader) {
    // One that holds its object in memory would keep it there.
    if reader.isOfFile { readers.withLock { $0.insert(reader) } }
  }

  /// Opens chunks that are likely to be read soon, in the background: the first look at a file of a cold cache costs
  /// several reads of the disk, one after the other, before the first of its bytes.
  ///
  /// Takes as many as stay open at once. What is wrong with a chunk shows when it is read.
  ///
  /// - Parameters:
  ///   - threadCount: So many at once. Each waits for the disk nearly all of the time, and a disk answers many as fast as one.
  ///   - readsOn: They will be read from the beginning, not here and there.
  package func openAhead(_ names: [ObjectName], threadCount: Int = 16, readsOn: Bool = false) {
    // By name, so that those of one folder are together.
    let names = names.prefix(Self.openReaderLimit).sorted()
    let count = min(threadCount, names.count)
    for number in 0..<count {
      let part = names[(names.count * number / count)..<(names.count * (number + 1) / count)]
      // What no thread can be had for is opened when it is read.
      _ = SystemThread.detach { [self] in
        for name in part {
          let known = readers.withLock { $0[name] }
          // What is on a remote only stays there until it is read.
          guard let reader = known ?? (try? open(name)) else { continue }
          if readsOn { reader.willReadOn() } else { try? reader.willLookUp() }
          if known == nil { keep(reader) }
        }
      }
    }
  }

  /// How many descriptors of objects a member keeps open.
  static let openReaderLimit = 1280

  private func open(_ name: ObjectName) throws(VaultError) -> ObjectReader {
    if let staging, let object = staged.withLock({ $0[name] }) {
      let path = staging.path(of: name)
      if case .memory(let held) = object.place {
        return try ObjectReader(
          name: name, path: path, blob: HeldBlob(bytes: held), keys: keys, buffers: buffers)
      }
      do throws(VaultError) {
        return try ObjectReader(
          name: name, path: path, store: store, keys: keys, buffers: buffers)
      } catch {
        // It may have been published since.
        guard case .missing = error else { throw error }
      }
    }
    return try ObjectReader(
      name: name, path: path(of: name), store: store, keys: keys, buffers: buffers)
  }

  /// The whole content, authenticated.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func content(_ name: ObjectName, kind: ObjectKind) throws(VaultError) -> [UInt8] {
    var path = path(of: name)
    if let staging, let object = staged.withLock({ $0[name] }) {
      path = staging.path(of: name)
      if case .memory(let held) = object.place {
        return try content(name, kind: kind, file: held, path: path)
      }
    }
    do throws(VaultError) { return try content(name, kind: kind, at: path) } catch {
      let final = self.path(of: name)
      guard case .missing = error else { throw error }
      return try fetchingIfAway(name, kind) { () throws(VaultError) in
        try content(name, kind: kind, at: final)
      }
    }
  }

  /// Runs `body`; when it misses the chunk and the vault is lazy, brings the chunk here and runs it again.
  private func fetchingIfAway<Value>(
    _ name: ObjectName, _ kind: ObjectKind, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    guard let lazy, kind == .chunk else { return try body() }
    lazy.noteUse(name)
    do throws(VaultError) { return try body() } catch {
      guard case .missing = error else { throw error }
      try lazy.fetch(name, for: self)
      return try body()
    }
  }

  /// Whether chunks may be absent here because a remote has them.
  package var isLazy: Bool { lazy != nil }

  /// Brings a chunk here that a lazy vault keeps elsewhere; does nothing for any other.
  ///
  /// - Throws: `away` when it cannot be had; `damaged`, `noSpace`, `io`.
  package func fetchIfAway(_ chunk: ObjectName) throws(VaultError) {
    guard let lazy, try !isPresent(chunk) else { return }
    try lazy.fetch(chunk, for: self)
  }

  /// Says that a chunk will be read soon: a lazy vault begins to bring it here.
  package func prefetch(_ name: ObjectName) {
    guard let lazy, staging != nil, !isStaged(name) else { return }
    // What cannot be told now is told to whoever reads it.
    do throws(VaultError) { if try isPresent(name) { return } } catch { return }
    lazy.fetchAhead(name, for: self)
  }

  /// The content of an object whose sealed file is at hand, authenticated.
  func content(
    of file: [UInt8], named name: ObjectName, _ kind: ObjectKind
  ) throws(VaultError) -> [UInt8] {
    try content(name, kind: kind, file: file, path: path(of: name))
  }

  func content(
    _ name: ObjectName, kind: ObjectKind, at path: BlobPath
  ) throws(VaultError) -> [UInt8] {
    let limit = Self.fileSizeLimit(of: kind)
    let file = try storing { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    return try content(name, kind: kind, file: file, path: path)
  }

  private func content(
    _ name: ObjectName, kind: ObjectKind, file: [UInt8], path: BlobPath
  ) throws(VaultError) -> [UInt8] {
    try file.withBytes { (bytes) throws(VaultError) in
      do throws(CryptoError) {
        let header = try ObjectHeader(decoding: bytes)
        guard let epoch = keys[header.keyID] else {
          throw .malformed(reason: "it is sealed with an unknown key")
        }
        return try epoch.open(name: name, kind: kind, file: bytes)
      } catch {
        throw VaultError(error, path: path.string)
      }
    }
  }

  /// What the object's header says it is.
  func kind(of name: ObjectName) throws(VaultError) -> ObjectKind {
    try header(of: name).kind
  }

  /// The key that the object's header says it is sealed with.
  func keyID(of name: ObjectName) throws(VaultError) -> KeyID { try header(of: name).keyID }

  /// Whether the object is neither staged nor in its place: a lazy vault keeps it elsewhere, or it was removed with its
  /// epoch.
  func isGone(_ name: ObjectName) throws(VaultError) -> Bool {
    guard !isStaged(name) else { return false }
    return try !isPresent(name)
  }

  private func header(of name: ObjectName) throws(VaultError) -> ObjectHeader {
    var path = path(of: name)
    if let staging, let object = staged.withLock({ $0[name] }) {
      if case .memory(let held) = object.place {
        return try ObjectHeader(reading: HeldBlob(bytes: held), path: path.string)
      }
      path = staging.path(of: name)
    }
    let blob = try storing { () throws(BlobStoreError) in try store.openForReading(path) }
    return try ObjectHeader(reading: blob, path: path.string)
  }

  /// Forgets open readers of the object, after its file was replaced or removed.
  func forgetReader(_ name: ObjectName) { readers.withLock { $0.remove(name) } }

  /// Forgets open readers of objects that another process removed: the disk gives their room back only then.
  package func forgetRemoved() {
    for reader in readers.withLock({ $0.all }) where reader.isRemoved { forgetReader(reader.name) }
  }
}
