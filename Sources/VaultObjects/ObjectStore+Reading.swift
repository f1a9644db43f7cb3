import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// From digests to contents: staged, in its place, or on a remote.
extension ObjectStore {
  /// Fills the buffer from the chunk's content at `offset`.
  ///
  /// - Returns: How many bytes were there; less than asked only at the end of the object.
  /// - Throws: `missing`, `damaged`, `io`.
  package func read(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int {
    try read(digest, at: offset, into: buffer, fetches: true)
  }

  /// The same for a chunk that is on this machine; nil where a lazy vault keeps it elsewhere. No remote is asked.
  package func readIfHere(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int? {
    do { return try read(digest, at: offset, into: buffer, fetches: false) } catch {
      guard lazy != nil, case .missing = error else { throw error }
      return nil
    }
  }

  private func read(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer,
    fetches: Bool
  ) throws(VaultError) -> Int {
    do {
      return try reader(digest, fetches: fetches).read(at: offset, into: buffer)
    } catch {
      guard case .damaged = error else { throw error }
      forgetReader(digest)
      return try inOtherPlace(digest, insteadOf: error) { (place) throws(VaultError) in
        try reader(digest, place, path(of: place.name)).read(at: offset, into: buffer)
      }
    }
  }

  /// A reader for parts of the chunk.
  ///
  /// - Parameter fetches: Whether it is brought here where a lazy vault keeps it elsewhere; else it is `missing`.
  func reader(
    _ digest: ContentDigest, fetches: Bool = true
  ) throws(VaultError) -> ObjectReader {
    if let reader = readers.reader(digest, of: member) { return reader }
    let reader: ObjectReader
    if fetches {
      reader = try fetchingIfAway(digest, .chunk) { () throws(VaultError) in try open(digest) }
    } else {
      lazy?.noteUse(digest)
      reader = try open(digest)
    }
    keep(reader)
    return reader
  }

  private func keep(_ reader: ObjectReader) {
    // One that holds its object in memory would keep it there.
    if reader.isOfFile { readers.insert(reader, of: member) }
  }

  /// Opens chunks in the background that are likely to be read soon. Where the disk has to be asked, opening one costs several
  /// reads, one after the other, before the first byte of its content.
  ///
  /// Of more chunks than stay open at once, the first are taken. A chunk that cannot be opened is passed over: what is wrong with
  /// it is told when it is read.
  ///
  /// - Parameters:
  ///   - threadCount: On how many threads. Each waits for the disk nearly all of the time, and a disk answers many as fast as one.
  ///   - readsOn: Whether the chunks will be read from their beginnings, and not here and there.
  package func openAhead(_ digests: [ContentDigest], threadCount: Int = 16, readsOn: Bool = false) {
    // By name, so that those of one folder are together.
    let sorted = digests.prefix(readers.capacity()).map { ($0, name(of: $0)) }
      .sorted { $0.1 < $1.1 }.map(\.0)
    let count = min(threadCount, sorted.count)
    for number in 0..<count {
      let part = sorted[(sorted.count * number / count)..<(sorted.count * (number + 1) / count)]
      // What no thread can be had for is opened when it is read.
      _ = SystemThread.detach { [self] in
        for digest in part {
          let known = readers.reader(digest, of: member)
          // What is on a remote only stays there until it is read.
          guard let reader = known ?? (try? open(digest)) else { continue }
          if readsOn { reader.willReadOn() } else { try? reader.willLookUp() }
          if known == nil { keep(reader) }
        }
      }
    }
  }

  private func open(_ digest: ContentDigest) throws(VaultError) -> ObjectReader {
    if let staging, let object = staged.withLock({ $0[digest] }) {
      let path = staging.path(of: object.sealed.name)
      if case .memory(let held) = object.place {
        return try reader(digest, object.sealed, path, HeldBlob(bytes: held))
      }
      do { return try reader(digest, object.sealed, path) } catch {
        // It may have been published since.
        guard case .missing = error else { throw error }
      }
    }
    return try inPlace(digest) { (place) throws(VaultError) in
      try reader(digest, place, path(of: place.name))
    }
  }

  /// - Parameter held: The object's file in memory; nil for the one of the path.
  private func reader(
    _ digest: ContentDigest, _ place: ObjectPlace, _ path: BlobPath, _ held: HeldBlob? = nil
  ) throws(VaultError) -> ObjectReader {
    let blob: any BlobReader
    if let held {
      blob = held
    } else {
      blob = try opening { () throws(BlobStoreError) in try store.openForReading(path) }
    }
    return try ObjectReader(digest: digest, place: place, path: path, blob: blob, buffers: buffers)
  }

  /// What a call of the store gives that opens a file: where too many are open, readers are let go of, and it is made again.
  func opening<Value>(
    _ call: () throws(BlobStoreError) -> Value
  ) throws(VaultError) -> Value {
    do { return try readers.makingRoom(for: call) } catch { throw VaultError(error) }
  }

  /// The whole content, authenticated.
  ///
  /// - Parameter fetches: Whether a chunk is brought here that a lazy vault keeps elsewhere. Else it is `away`, and begun to be
  ///   brought; or `gone` where all remotes have just said so.
  /// - Throws: `missing`, `damaged`, `io`; of a lazy vault `away`, `gone`.
  package func content(
    _ digest: ContentDigest, kind: ObjectKind, fetches: Bool = true
  ) throws(VaultError) -> [UInt8] {
    if let staging, let object = staged.withLock({ $0[digest] }) {
      let path = staging.path(of: object.sealed.name)
      if case .memory(let held) = object.place {
        return try content(kind, in: held, at: path, object.sealed)
      }
      do { return try content(kind, at: path, object.sealed) } catch {
        guard case .missing = error else { throw error }
      }
    }
    guard !fetches else {
      return try fetchingIfAway(digest, kind) { () throws(VaultError) in
        try placedContent(digest, kind: kind)
      }
    }
    do { return try placedContent(digest, kind: kind) } catch {
      guard let lazy, kind == .chunk, case .missing(let path) = error else { throw error }
      if lazy.isGone(digest) { throw .gone(path: path, record: nil) }
      lazy.fetchAhead(digest, for: self)
      throw .away(path: path, reason: "it has not come from a remote yet")
    }
  }

  /// Runs `body`; when it misses the chunk and the vault is lazy, brings the chunk here and runs it again.
  private func fetchingIfAway<Value>(
    _ digest: ContentDigest, _ kind: ObjectKind, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    guard let lazy, kind == .chunk else { return try body() }
    lazy.noteUse(digest)
    do { return try body() } catch {
      guard case .missing = error else { throw error }
      try lazy.fetch(digest, for: self)
      return try body()
    }
  }

  /// Whether chunks may be absent here because a remote has them.
  package var isLazy: Bool { lazy != nil }

  /// Whether a lazy vault keeps the chunk elsewhere, and may have it from there. Nobody is asked.
  package func isElsewhere(_ chunk: ContentDigest) throws(VaultError) -> Bool {
    guard let lazy, !isStaged(chunk), !lazy.isGone(chunk) else { return false }
    return try !isPresent(chunk)
  }

  /// Brings a chunk here that a lazy vault keeps elsewhere; does nothing for any other.
  ///
  /// - Throws: `away` when it cannot be had; `gone` when nobody has it any more; `damaged`, `noSpace`, `io`.
  package func fetchIfAway(_ chunk: ContentDigest) throws(VaultError) {
    guard let lazy, try !isPresent(chunk) else { return }
    try lazy.fetch(chunk, for: self)
  }

  /// Begins to bring a chunk here that will be read soon and that a lazy vault keeps elsewhere. Does nothing for any other.
  package func prefetch(_ digest: ContentDigest) {
    guard let lazy, staging != nil, !isStaged(digest) else { return }
    // What cannot be told now is told to whoever reads it.
    do { if try isPresent(digest) { return } } catch { return }
    lazy.fetchAhead(digest, for: self)
  }

  /// The content of an object whose sealed file is at hand, authenticated.
  ///
  /// - Throws: `damaged`.
  package func content(
    of file: [UInt8], _ digest: ContentDigest, _ kind: ObjectKind
  ) throws(VaultError) -> [UInt8] {
    let keys = Self.keyID(of: file).flatMap { self.keys[$0] } ?? keys.current
    let place = ObjectPlace(of: digest, keys)
    return try content(kind, in: file, at: path(of: place.name), place)
  }

  /// Closes the reader of the object, if there is one: its file was replaced or removed.
  func forgetReader(_ digest: ContentDigest) { readers.remove(digest, of: member) }

  func forgetReader(_ name: ObjectName) { readers.remove(name) }

  /// Closes the readers of objects whose files another process has removed: only then does the disk give their room back.
  package func forgetRemoved() {
    for reader in readers.all(of: member) where reader.isRemoved {
      forgetReader(reader.digest)
    }
  }
}
