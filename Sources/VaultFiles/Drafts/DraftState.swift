import VaultModel

/// What every byte of a file being written is made of: a table of chunks, each sealed in the store, a hole, or
/// in memory.
///
/// A value without I/O: where an operation needs a sealed chunk's content, or the end of a sealing under way,
/// `obstacle(…)` says so; the caller removes obstacles one after the other until there are none, then applies the
/// operation. `Draft` is that caller; tests are another.
struct DraftState {
  enum Chunk {
    /// Zeros; no object.
    case hole
    /// The first `byteCount` bytes of this object, then zeros.
    case sealed(StoredObject, byteCount: Int)
    /// In memory, to be sealed.
    case dirty(ChunkBuffer)
    /// In memory, being sealed by a worker; unchangeable until that ends.
    case sealing(ChunkBuffer, SealTicket)
  }

  /// What has to happen before an operation can be applied.
  enum Obstacle {
    /// This sealed chunk is to be loaded: `install(_:at:)`.
    case load(chunk: Int, StoredObject, byteCount: Int)
    /// A worker still has this chunk: wait, then `settle(chunk:)`.
    case wait(chunk: Int, SealTicket)
  }

  /// A part of a read that lies in a sealed object.
  struct SealedPart {
    let object: StoredObject
    /// Within the object's content.
    let range: Range<Int>
    /// Where it belongs in what was asked for.
    let target: Int
  }

  let layout: ChunkLayout
  private(set) var size: UInt64
  private(set) var chunks: [Chunk]
  /// Chunks that `unsealed` has to look at: dirty, being sealed, or sealed but shorter than they now have to be.
  private(set) var unsettled: Set<Int> = []
  private var clock: UInt64 = 0

  /// The state of content as it is stored: nil objects are holes.
  init(layout: ChunkLayout = .format, size: UInt64, objects: [StoredObject?]) {
    self.layout = layout
    self.size = size
    let count = layout.chunkCount(size: size)
    chunks = (0..<count).map { index in
      guard index < objects.count, let object = objects[index] else { return .hole }
      return .sealed(object, byteCount: layout.extent(of: index, size: size))
    }
  }

  /// The chunks' objects, holes as nil; nil unless everything is sealed.
  var sealedObjects: [StoredObject?]? {
    guard unsettled.isEmpty else { return nil }
    return chunks.map { if case .sealed(let object, _) = $0 { object } else { nil } }
  }

  /// The names of the objects of chunks that are sealed.
  var namesInUse: [ContentDigest] {
    chunks.compactMap { if case .sealed(let object, _) = $0 { object.digest } else { nil } }
  }

  /// Bytes that are not holes, in units of whole chunks' extents.
  var dataByteCount: UInt64 {
    var total: UInt64 = 0
    for (index, chunk) in chunks.enumerated() {
      if case .hole = chunk { continue }
      total += UInt64(layout.extent(of: index, size: size))
    }
    return total
  }

  /// How much of a range is in holes, or behind the end.
  func missingByteCount(in range: Range<UInt64>) -> UInt64 {
    let known = range.clamped(to: 0..<UInt64(chunks.count) * UInt64(layout.chunkSize))
    var missing = UInt64(range.count - known.count)
    for slice in layout.slices(known) {
      if case .hole = chunks[slice.chunk] { missing += UInt64(slice.range.count) }
    }
    return missing
  }

  // MARK: Obstacles

  /// What stands in the way of writing or clearing this range; nil if nothing does.
  func obstacle(toChanging range: Range<UInt64>) -> Obstacle? {
    for slice in layout.slices(range) where slice.chunk < chunks.count {
      if let obstacle = obstacle(toChanging: slice.range, of: slice.chunk) { return obstacle }
    }
    return nil
  }

  private func obstacle(toChanging range: Range<Int>, of index: Int) -> Obstacle? {
    switch chunks[index] {
    case .hole, .dirty: nil
    case .sealing(_, let ticket): .wait(chunk: index, ticket)
    case .sealed(let object, let byteCount):
      range.lowerBound == 0 && range.upperBound >= byteCount
        ? nil : .load(chunk: index, object, byteCount: byteCount)
    }
  }

  /// What stands in the way of truncating to this size.
  func obstacle(toTruncatingTo newSize: UInt64) -> Obstacle? {
    for index in unsettled where layout.start(of: index) + UInt64(layout.chunkSize) > newSize {
      if case .sealing(_, let ticket) = chunks[index] { return .wait(chunk: index, ticket) }
    }
    return nil
  }

  /// Puts the loaded content of a sealed chunk in its place.
  mutating func install(_ buffer: ChunkBuffer, at index: Int) { setDirty(buffer, at: index) }

  /// The chunk is as it has to be: sealing has nothing to do there.
  mutating func settle(_ index: Int) { unsettled.remove(index) }

  mutating func replace(_ index: Int, by chunk: Chunk) { chunks[index] = chunk }

  private mutating func setDirty(_ buffer: ChunkBuffer, at index: Int) {
    clock += 1
    buffer.lastUse = clock
    chunks[index] = .dirty(buffer)
    unsettled.insert(index)
  }

  // MARK: Changes

  /// Writes bytes, making the file longer where needed. Returns the chunks that this made full by
  /// sequential writing: the ones to hand to a worker.
  mutating func write(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, pool: ChunkMemory
  ) -> [Int] {
    let end = offset + UInt64(bytes.count)
    if end > size { grow(to: end) }
    var full: [Int] = []
    for slice in layout.slices(offset..<end) {
      let buffer = bufferToChange(slice.chunk, capacity: slice.range.upperBound, pool: pool)
      buffer.write(
        UnsafeRawBufferPointer(rebasing: bytes[slice.offset..<slice.offset + slice.range.count]),
        at: slice.range.lowerBound)
      if buffer.isSequential, buffer.count == layout.chunkSize { full.append(slice.chunk) }
    }
    return full
  }

  private mutating func bufferToChange(
    _ index: Int, capacity: Int, pool: ChunkMemory
  ) -> ChunkBuffer {
    let buffer: ChunkBuffer
    switch chunks[index] {
    case .dirty(let present): buffer = present
    case .hole, .sealed: buffer = ChunkBuffer(capacity: capacity, pool: pool)
    case .sealing: preconditionFailure("a chunk is changed while a worker has it")
    }
    setDirty(buffer, at: index)
    return buffer
  }

  /// Sets the size; what is cut off is gone, what is added are zeros.
  mutating func truncate(to newSize: UInt64) {
    if newSize > size { return grow(to: newSize) }
    let count = layout.chunkCount(size: newSize)
    for index in count..<max(count, chunks.count) { makeHole(index) }
    chunks.removeLast(chunks.count - count)
    size = newSize
    guard let last = chunks.indices.last else { return }
    let extent = layout.extent(of: last, size: size)
    switch chunks[last] {
    case .dirty(let buffer): buffer.truncate(to: extent)
    case .sealed(let object, let byteCount):
      chunks[last] = .sealed(object, byteCount: min(byteCount, extent))
    case .hole, .sealing: break
    }
  }

  private mutating func grow(to newSize: UInt64) {
    if let last = chunks.indices.last, case .sealed(_, let byteCount) = chunks[last],
      byteCount < layout.extent(of: last, size: newSize)
    {
      unsettled.insert(last)
    }
    let count = layout.chunkCount(size: newSize)
    chunks.append(contentsOf: repeatElement(.hole, count: count - chunks.count))
    size = newSize
  }

  /// Makes the range read as zeros, with holes where whole chunks are covered; the size stays.
  mutating func clear(_ range: Range<UInt64>) {
    let range = range.clamped(to: 0..<size)
    for slice in layout.slices(range) {
      let extent = layout.extent(of: slice.chunk, size: size)
      if slice.range.lowerBound == 0, slice.range.upperBound >= extent {
        makeHole(slice.chunk)
      } else if case .dirty(let buffer) = chunks[slice.chunk] {
        buffer.zero(slice.range)
      } else if case .sealed = chunks[slice.chunk] {
        makeHole(slice.chunk)  // covers all that the object gives
      }
    }
  }

  private mutating func makeHole(_ index: Int) {
    if case .sealing = chunks[index] {
      preconditionFailure("a chunk is dropped while a worker has it")
    }
    chunks[index] = .hole
    unsettled.remove(index)
  }

  /// Replaces whole chunks from `first` on by objects of another file, making the file longer where needed.
  mutating func share(_ objects: [StoredObject?], from first: Int, end: UInt64) {
    if end > size { grow(to: end) }
    for (position, object) in objects.enumerated() {
      let index = first + position
      makeHole(index)
      if let object {
        chunks[index] = .sealed(object, byteCount: layout.extent(of: index, size: end))
      }
    }
    let last = first + objects.count - 1
    if case .sealed(_, let byteCount) = chunks[last],
      byteCount < layout.extent(of: last, size: size)
    {
      unsettled.insert(last)
    }
  }
}
