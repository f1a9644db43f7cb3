import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// Under which name an object stands, and the keys that it is sealed with.
struct ObjectPlace: Sendable {
  let name: ObjectName
  let keys: EpochKeys

  init(of digest: ContentDigest, _ keys: EpochKeys) {
    name = keys.name(of: digest)
    self.keys = keys
  }
}

/// Where a content stands in the vault's folder: under the keys in use, or, as long as it was not put under these, under
/// those of another epoch.
extension ObjectStore {
  /// Where the object of this name stands, or belongs.
  package func path(of name: ObjectName) -> BlobPath {
    BlobPath(VaultPath.object(member, name).string)
  }

  /// Where the content stands; where it belongs if it stands nowhere, or that cannot be told.
  package func path(of digest: ContentDigest) -> BlobPath {
    let place = try? standing(digest)
    return path(of: place?.name ?? name(of: digest))
  }

  /// The name that the content has, or would have, under the keys in use.
  package func name(of digest: ContentDigest) -> ObjectName { keys.current.name(of: digest) }

  /// The name under the keys of an epoch; under those in use where this person has none of it.
  package func name(of digest: ContentDigest, in epoch: StatementID) -> ObjectName {
    epochKeys(epoch).name(of: digest)
  }

  func epochKeys(_ epoch: StatementID) -> EpochKeys { keys.epoch(epoch)?.keys ?? keys.current }

  /// Every name that the content may have, that under the keys in use first.
  package func names(of digest: ContentDigest) -> [ObjectName] {
    [name(of: digest)] + keys.others.map { $0.name(of: digest) }
  }

  /// Under which of these names contents stand; those that stand under none are left out.
  package func places(
    of digests: some Sequence<ContentDigest>, among listed: [ObjectName: UInt64]
  ) -> [ContentDigest: ObjectName] {
    digests.reduce(into: [:]) { places, digest in
      places[digest] = names(of: digest).first { listed[$0] != nil }
    }
  }

  /// Whether a file stands under the object's name; it is not opened.
  package func isPresent(_ name: ObjectName) throws(VaultError) -> Bool {
    let path = path(of: name)
    return try storing(store.size(of: path)) != nil
  }

  /// Whether a file stands here for the content, under the keys of whichever epoch; it is not opened.
  package func isPresent(_ digest: ContentDigest) throws(VaultError) -> Bool {
    try standing(digest) != nil
  }

  /// Whether a file stands here for the content under the keys in use; it is not opened.
  package func isPresentNow(_ digest: ContentDigest) throws(VaultError) -> Bool {
    try isPresent(name(of: digest))
  }

  /// Under which name the content stands here; nil if under none.
  package func nameHere(of digest: ContentDigest) throws(VaultError) -> ObjectName? {
    try standing(digest)?.name
  }

  /// Where the content stands; nil if nowhere.
  func standing(_ digest: ContentDigest) throws(VaultError) -> ObjectPlace? {
    do throws(VaultError) {
      return try inPlace(digest) { (place) throws(VaultError) in
        guard try isPresent(place.name) else { throw .missing(path: path(of: place.name).string) }
        return place
      }
    } catch {
      guard case .missing = error else { throw error }
      return nil
    }
  }

  /// When the file came here that the content stands in; nil if it stands nowhere, or the folder keeps no times.
  package func arrival(of digest: ContentDigest) throws(VaultError) -> HybridTime? {
    guard let place = try standing(digest) else { return nil }
    return try arrival(of: place.name)
  }

  /// When the file came here; nil if there is none, or the folder keeps no times.
  package func arrival(of name: ObjectName) throws(VaultError) -> HybridTime? {
    let path = path(of: name)
    return try storing(store.arrival(of: path))
      .map { HybridTime(milliseconds: $0) }
  }

  /// What `body` makes of the place of the content under the keys in use or, where it misses the file there, or a power cut has
  /// torn it while it was put under these, under others.
  ///
  /// - Throws: `damaged`, or else `missing`, if it is whole nowhere; what else `body` throws.
  func inPlace<Value>(
    _ digest: ContentDigest, _ body: (ObjectPlace) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    let current = ObjectPlace(of: digest, keys.current)
    do { return try body(current) } catch {
      return try inOtherPlace(digest, insteadOf: error, body)
    }
  }

  /// What `body` makes of the place of the content under keys of other epochs than the one in use.
  ///
  /// - Parameter error: What is wrong with what stands under those.
  func inOtherPlace<Value>(
    _ digest: ContentDigest, insteadOf error: VaultError,
    _ body: (ObjectPlace) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    var found = error
    guard error.isDamage else { throw error }
    for keys in keys.others {
      do { return try body(ObjectPlace(of: digest, keys)) } catch {
        guard error.isDamage else { throw error }
        if case .missing = found { found = error }
      }
    }
    // What it would be under the keys in use is what whoever looks for it is told.
    if case .missing = found { throw .missing(path: path(of: name(of: digest)).string) }
    throw found
  }

  /// The whole content as it stands in its place, whether or not this process has staged it.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func placedContent(
    _ digest: ContentDigest, kind: ObjectKind
  ) throws(VaultError) -> [UInt8] {
    try inPlace(digest) { (place) throws(VaultError) in
      try content(kind, at: path(of: place.name), place)
    }
  }

  /// The content in a file that is to be this object.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  func content(
    _ kind: ObjectKind, at path: BlobPath, _ place: ObjectPlace
  ) throws(VaultError) -> [UInt8] {
    let limit = Self.fileSizeLimit(of: kind)
    let file = try opening { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    return try content(kind, in: file, at: path, place)
  }

  func content(
    _ kind: ObjectKind, in file: [UInt8], at path: BlobPath, _ place: ObjectPlace
  ) throws(VaultError) -> [UInt8] {
    do {
      return try place.keys.open(name: place.name, kind: kind, file: file)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// What is in the object of this name, as its header calls it.
  ///
  /// - Throws: `missing`, `damaged`.
  package func opened(
    _ name: ObjectName, kind: ObjectKind
  ) throws(VaultError) -> (digest: ContentDigest, content: [UInt8]) {
    let content = try sealedObject(name, kind: kind).content
    return (content.withUnsafeBytes { HashedContent(kind, $0).digest }, content)
  }

  /// What the header of the object of this name says it is.
  ///
  /// - Throws: `missing`, `damaged`, `io`. Nothing is authenticated.
  package func kind(of name: ObjectName) throws(VaultError) -> ObjectKind {
    try header(of: name).kind
  }

  /// The key that the header of the object of this name says it is sealed with.
  ///
  /// - Throws: `missing`, `damaged`, `io`. Nothing is authenticated.
  package func keyID(of name: ObjectName) throws(VaultError) -> KeyID { try header(of: name).keyID }

  private func header(of name: ObjectName) throws(VaultError) -> ObjectHeader {
    let path = path(of: name)
    let blob = try opening { () throws(BlobStoreError) in try store.openForReading(path) }
    return try ObjectHeader.load(from: blob, path: path.string)
  }

  // MARK: Under other keys

  /// Puts the content in its place under these keys, whichever are current; no commit names it yet.
  ///
  /// What is there already and whole is not written again. On disk after the next barrier.
  ///
  /// - Parameter arrivals: Those with which it comes to its place; nil: at once.
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func write(
    _ kind: ObjectKind, _ content: [UInt8], under keys: EpochKeys, with arrivals: Arrivals? = nil
  ) throws(VaultError) -> ContentDigest {
    try content.withBytes { (bytes) throws(VaultError) in
      let hashed = HashedContent(kind, bytes)
      try write(hashed, under: keys, with: arrivals)
      return hashed.digest
    }
  }

  /// Objects that are written, and come to their places together once they are on the disk.
  ///
  /// What stands under the keys in use is read before what stands under others: where a power cut tore the one, the other would
  /// not be asked.
  package final class Arrivals: Sendable {
    private let waiting = Guarded<[(from: BlobPath, to: BlobPath, digest: ContentDigest)]>([])

    fileprivate var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    fileprivate func add(_ from: BlobPath, _ to: BlobPath, _ digest: ContentDigest) {
      waiting.withLock { $0.append((from, to, digest)) }
    }

    /// In the order in which they were written.
    fileprivate func take() -> [(from: BlobPath, to: BlobPath, digest: ContentDigest)] {
      waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
  }

  /// Runs `body`, then puts everything that it wrote with these arrivals in its place. Where either fails, nothing of what has
  /// no place yet is left.
  package func placing<Value>(
    _ body: (Arrivals) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    let arrivals = Arrivals()
    let failures = staging?.failedBarriers ?? 0
    do {
      let value = try body(arrivals)
      try place(arrivals, since: failures)
      return value
    } catch {
      // What cannot be removed goes with the folder that it stands in, when this process ends.
      for one in arrivals.take() { try? store.remove(one.from) }
      throw error
    }
  }

  private func place(_ arrivals: Arrivals, since failures: UInt64) throws(VaultError) {
    if arrivals.isEmpty { return }
    guard let staging else { throw .readOnly }
    try staging.barrier(since: failures)
    let waiting = arrivals.take()
    try storing { () throws(BlobStoreError) in
      for one in waiting { try store.rename(one.from, to: one.to) }
    }
    for one in waiting { forgetReader(one.digest) }
  }

  /// - Throws: `limit` for what is larger than an object of its kind may be: what others have written may make it so.
  static func requireSize(of content: HashedContent) throws(VaultError) {
    let limit = ObjectLayout.maximumContentSize(of: content.kind)
    guard content.bytes.count <= limit else {
      throw .limit(what: "the size of an object", found: content.bytes.count, limit: limit)
    }
  }

  private func write(
    _ content: HashedContent, under keys: EpochKeys, with arrivals: Arrivals?
  ) throws(VaultError) {
    guard let staging else { throw .readOnly }
    try Self.requireSize(of: content)
    let place = ObjectPlace(of: content.digest, keys)
    let final = path(of: place.name)
    let size = try storing(store.size(of: final))
    if size != nil, !isDoubtful(place.name), opens(content.kind, place) { return }
    let byteCount = ObjectLayout(of: content.kind).fileSize(contentSize: content.bytes.count)
    let isPooled = byteCount <= buffers.byteCount
    let buffer = isPooled ? buffers.take() : .allocate(byteCount: byteCount, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<byteCount])
    keys.seal(content, as: place.name, into: sealed)
    let arriving = staging.arrivingPath(of: place.name)
    if let arrivals {
      try storing { () throws(BlobStoreError) in
        try store.create(arriving, UnsafeRawBufferPointer(sealed))
      }
      return arrivals.add(arriving, final, content.digest)
    }
    try staging.writing(place.name) { () throws(BlobStoreError) in
      try store.create(arriving, UnsafeRawBufferPointer(sealed))
      try store.rename(arriving, to: final)
    }
    forgetReader(content.digest)
  }

  /// Whether what this process has put in the object's place may be on no disk: then it is to be put there once more before a
  /// head names it.
  package func isDoubtful(_ name: ObjectName) -> Bool { staging?.isDoubtful(name) ?? false }

  /// Whether what stands in an object's place has the content that the name is of: anybody could put something there.
  func opens(_ kind: ObjectKind, _ place: ObjectPlace) -> Bool {
    do {
      _ = try content(kind, at: path(of: place.name), place)
      return true
    } catch {
      // Whatever is wrong with it: a good copy takes its place.
      return false
    }
  }
}
