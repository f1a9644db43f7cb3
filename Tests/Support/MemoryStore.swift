import BlobStore
import Glibc
import Synchronization

/// A store in memory that can lose power or be killed at any call.
///
/// `cut(after:)` stops everything at a chosen call; then `imageAfterKill` is what another process would find, and
/// `imageAfterPowerCut` what the disk could hold (see `MemoryImage`). To try every point of an operation, run it
/// once, ask for `mutatingCallCount`, and cut at each number up to it.
package final class MemoryStore: LocalStore {
  private struct State {
    var image = MemoryImage()
    var mutatingCallCount = 0
    var cutAt: Int?
    var capacity: UInt64?
    var fileCapacity: Int?
    var crowd: (percent: Int, random: SplitMix64)?
    var clock: (@Sendable () -> UInt64)?
    var arrivals: [BlobPath: UInt64] = [:]
  }

  private let state: Mutex<State>

  package init() {
    state = Mutex(State())
  }

  private init(_ image: MemoryImage) {
    state = Mutex(State(image: image))
  }

  // MARK: Faults

  /// How many calls that change something, or make it durable, were begun.
  package var mutatingCallCount: Int { state.withLock { $0.mutatingCallCount } }

  /// The `number`-th mutating call from now on (the first is 1) and all later ones throw `io` with EIO, and nothing
  /// changes any more, but for what the `number`-th leaves half done: `create` half a blob, `replace` half
  /// a temporary file, `overwrite` half of its bytes, `removeFolder` half a folder. Reading goes on working.
  package func cut(after number: Int) {
    state.withLock { $0.cutAt = $0.mutatingCallCount + number }
  }

  /// From now on, what would bring the blobs to more bytes than this throws `noSpace`; nil is no limit.
  package func limit(toBytes capacity: UInt64?) {
    state.withLock { $0.capacity = capacity }
  }

  /// From now on what would be one more blob than these throws `noSpace`; nil is no limit.
  package func limit(toFiles capacity: Int?) {
    state.withLock { $0.fileCapacity = capacity }
  }

  /// From now on so many of a hundred writes find no room, as a seed has it, and throw `noSpace`; nil: there is room again.
  package func crowd(percent: Int?, seed: UInt64 = 0) {
    state.withLock { $0.crowd = percent.map { ($0, SplitMix64(seed: seed)) } }
  }

  /// From now on the store keeps the times at which blobs come, by this clock in milliseconds since 1970.
  package func keepTimes(_ clock: @escaping @Sendable () -> UInt64) {
    state.withLock { $0.clock = clock }
  }

  package func arrival(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    state.withLock { $0.image.names[path] == nil ? nil : $0.arrivals[path] }
  }

  /// A store with exactly what was done: what another process finds after this one was killed.
  package func imageAfterKill() -> MemoryStore {
    var image = state.withLock { $0.image }
    image.syncEverything()
    return MemoryStore(image)
  }

  /// A store with what a disk might hold after the power went now. The same seed gives the same.
  package func imageAfterPowerCut(seed: UInt64) -> MemoryStore {
    var random = SplitMix64(seed: seed)
    return MemoryStore(state.withLock { $0.image.afterPowerCut(&random) })
  }

  /// Every blob, for comparing stores.
  package var blobs: [BlobPath: [UInt8]] {
    state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.image.names.keys.map { ($0, state.image.bytes(at: $0) ?? []) })
    }
  }

  /// Runs `change` under the lock, or at the chosen call `half` of it, and fails from there on.
  private func mutate(
    _ path: BlobPath, half: (inout MemoryImage) -> Void = { _ in }, adding byteCount: Int = 0,
    placing target: BlobPath? = nil,
    _ change: (inout MemoryImage) throws(BlobStoreError) -> Void
  ) throws(BlobStoreError) {
    try state.withLock { (state) throws(BlobStoreError) in
      state.mutatingCallCount += 1
      if let cutAt = state.cutAt, state.mutatingCallCount >= cutAt {
        if state.mutatingCallCount == cutAt { half(&state.image) }
        throw .io(path: path.string, errno: EIO)
      }
      if let capacity = state.capacity, byteCount > 0 {
        let used = state.image.byteCount
        if UInt64(used + byteCount) > capacity { throw .noSpace(path: path.string) }
      }
      if let capacity = state.fileCapacity, byteCount > 0, state.image.names[path] == nil,
        state.image.names.count >= capacity
      {
        throw .noSpace(path: path.string)
      }
      if byteCount > 0, var crowd = state.crowd {
        let isFull = Int.random(in: 0..<100, using: &crowd.random) < crowd.percent
        state.crowd = crowd
        if isFull { throw .noSpace(path: path.string) }
      }
      try change(&state.image)
      if let target { state.arrivals[target] = state.clock?() }
    }
  }

  // MARK: Reading

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let bytes = try bytes(at: path)
    guard bytes.count <= limit else {
      throw .tooLarge(path: path.string, size: UInt64(bytes.count), limit: limit)
    }
    return bytes
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    let bytes = try bytes(at: path)
    guard offset < UInt64(bytes.count), count > 0 else { return [] }
    return Array(bytes[Int(offset)...].prefix(count))
  }

  package func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader {
    MemoryReader(try bytes(at: path))
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    do throws(BlobStoreError) {
      return UInt64(try bytes(at: path).count)
    } catch .notFound {
      return nil
    }
  }

  private func bytes(at path: BlobPath) throws(BlobStoreError) -> [UInt8] {
    try state.withLock { (state) throws(BlobStoreError) in
      if let bytes = state.image.bytes(at: path) { return bytes }
      throw state.image.isFolder(path)
        ? .notABlob(path: path.string) : .notFound(path: path.string)
    }
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try state.withLock { (state) throws(BlobStoreError) in
      if state.image.names[folder] != nil { throw .notABlob(path: folder.string) }
      return state.image.entries(of: folder)
    }
  }

  package func space() -> BlobSpace {
    state.withLock { state in
      let used = state.image.byteCount
      let total = state.capacity ?? 1 << 40
      return BlobSpace(
        totalBytes: total, availableBytes: total - min(total, UInt64(used)),
        totalFiles: UInt64(state.fileCapacity ?? 1 << 32),
        availableFiles: UInt64(
          max(0, (state.fileCapacity ?? 1 << 32) - state.image.names.count)))
    }
  }

  // MARK: Writing

  package func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError) {
    let bytes = Array(bytes)
    try mutate(
      path,
      half: { image in
        if image.names[path] == nil { image.add(path, Array(bytes.prefix(bytes.count / 2))) }
      }, adding: bytes.count, placing: path
    ) { (image) throws(BlobStoreError) in
      try image.requireFree(path)
      image.add(path, bytes)
    }
  }

  package func rename(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try rename(from, to: to) { _ in }
  }

  package func renameDurably(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try rename(from, to: to) { image in image.syncNames(in: to.parent ?? .root) }
  }

  private func rename(
    _ from: BlobPath, to: BlobPath, then: (inout MemoryImage) -> Void
  ) throws(BlobStoreError) {
    try mutate(from, placing: to) { (image) throws(BlobStoreError) in
      guard image.names[from] != nil else { throw .notFound(path: from.string) }
      try image.requireBlobOrNothing(to)
      image.rename(from, to: to)
      then(&image)
    }
  }

  package func link(_ from: BlobPath, to: BlobPath) throws(BlobStoreError) {
    try mutate(from, placing: to) { (image) throws(BlobStoreError) in
      guard let node = image.names[from] else { throw .notFound(path: from.string) }
      try image.requireFree(to)
      image.link(to, to: node)
    }
  }

  package func replace(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, durably: Bool
  ) throws(BlobStoreError) {
    try write(path, Array(bytes), durably: durably) { (image) throws(BlobStoreError) in
      try image.requireBlobOrNothing(path)
    }
  }

  package func overwrite(
    _ path: BlobPath, at offset: UInt64, _ bytes: UnsafeRawBufferPointer
  ) throws(BlobStoreError) {
    let bytes = Array(bytes)
    let half = Array(bytes.prefix(bytes.count / 2))
    try mutate(path, half: { $0.overwrite(path, at: Int(offset), half) }) {
      (image) throws(BlobStoreError) in
      guard let size = image.bytes(at: path)?.count else { throw .notFound(path: path.string) }
      guard size >= Int(offset) + bytes.count else { throw .io(path: path.string, errno: EFBIG) }
      image.overwrite(path, at: Int(offset), bytes)
    }
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try write(path, Array(bytes), durably: false) { (image) throws(BlobStoreError) in
      switch condition {
      case .always: try image.requireBlobOrNothing(path)
      case .ifAbsent: try image.requireFree(path)
      }
    }
  }

  /// By way of a temporary file; `allows` throws when it must not be.
  private func write(
    _ path: BlobPath, _ bytes: [UInt8], durably: Bool,
    allows: (MemoryImage) throws(BlobStoreError) -> Void
  ) throws(BlobStoreError) {
    let folder = path.parent ?? .root
    let temporary = folder.appending(".\(path.name).tmp-memory")
    try mutate(
      path, half: { $0.add(temporary, Array(bytes.prefix(bytes.count / 2))) }, adding: bytes.count,
      placing: path
    ) { (image) throws(BlobStoreError) in
      try allows(image)
      image.add(temporary, bytes, isDurable: durably)
      image.rename(temporary, to: path)
      if durably { image.syncNames(in: folder) }
    }
  }

  package var decidesRaces: Bool { true }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    try mutate(path) { (image) throws(BlobStoreError) in
      try image.requireBlobOrNothing(path)
      if image.names[path] != nil { image.remove(path) }
    }
  }

  package func removeFolder(_ path: BlobPath) throws(BlobStoreError) {
    try mutate(
      path,
      half: { image in
        let paths = image.paths(under: path)
        for inner in paths.prefix((paths.count + 1) / 2) { image.remove(inner) }
      }
    ) { (image) throws(BlobStoreError) in
      if path.isRoot || image.names[path] != nil { throw .notABlob(path: path.string) }
      for inner in image.paths(under: path) { image.remove(inner) }
    }
  }

  package func flush() throws(BlobStoreError) {
    try barrier()
  }

  package func barrier() throws(BlobStoreError) {
    try mutate(.root) { (image) throws(BlobStoreError) in image.syncEverything() }
  }
}

private final class MemoryReader: BlobReader {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var size: UInt64 { UInt64(bytes.count) }
  // Nothing takes room here.
  var isRemoved: Bool { false }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard offset < size else { return 0 }
    let slice = bytes[Int(offset)...].prefix(buffer.count)
    buffer.copyBytes(from: slice)
    return slice.count
  }
}
