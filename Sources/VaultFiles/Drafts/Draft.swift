import Threads
import VaultModel

/// The content of one file while someone has it open or it is not sealed yet.
///
/// Performs what `DraftState` asks for: loads, seals, waits. Functions marked *locked* want `lock` held; the
/// others take it themselves. Sealed content is read and decrypted outside the lock.
final class Draft: @unchecked Sendable {
  /// Content that is wholly in the store, fit to stand in an item.
  struct Sealed {
    var content: Item.Content
    var size: UInt64
    /// In bytes, holes not counted.
    var dataByteCount: UInt64
    /// The objects that the content needs, as far as a commit may not have them.
    var objects: [StoredObject] = []
  }

  /// What drafts of one mount share.
  struct Resources: Sendable {
    let pool: BufferPool
    let sealing: SealingPool
    var layout = ChunkLayout.format
  }

  /// Protects everything below.
  let lock = Monitor()
  let store: any DraftStore
  let resources: Resources
  var sealed: Sealed
  var loaded: DraftState?
  /// Whether anything changed since the last `seal`.
  private(set) var isModified = false
  /// Chunks that workers have.
  private var inFlight: [(chunk: Int, ticket: SealTicket)] = []
  private var sequence = ReadSequence()
  /// Counts changes, so that a reader sees that its plan is out of date.
  private var changeCount: UInt64 = 0
  private var lookups = LookupPattern()

  /// - Parameter objects: Those that the content needs, as far as a commit may not have them.
  init(
    _ content: Item.Content, size: UInt64, objects: [StoredObject] = [], store: any DraftStore,
    resources: Resources
  ) {
    self.store = store
    self.resources = resources
    sealed = Sealed(content: content, size: size, dataByteCount: size, objects: objects)
  }

  /// The size with all that was written. Locked.
  var size: UInt64 { loaded?.size ?? sealed.size }

  /// The content as it was sealed last, and the objects that what was written since goes on from. Locked.
  var contentInUse: (Item.Content, [ContentDigest]) { (sealed.content, loaded?.namesInUse ?? []) }

  // MARK: Reading

  /// Reads up to the end of the file; returns how many bytes.
  func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
  {
    while true {
      let plan = try planRead(at: offset, into: target)
      do {
        if !plan.ahead.isEmpty { store.willRead(plan.ahead) }
        for part in plan.parts {
          let lower = part.target
          try store.read(
            part.object.digest, at: part.range.lowerBound,
            into: UnsafeMutableRawBufferPointer(rebasing: target[lower..<lower + part.range.count]))
        }
        return plan.byteCount
      } catch {
        // Another process may have put other content in its place, and collected this.
        if lock.withLock({ changeCount }) == plan.changeCount { throw error }
      }
    }
  }

  private struct ReadPlan {
    var byteCount = 0
    var parts: [DraftState.SealedPart] = []
    /// Objects that are wanted soon after.
    var ahead: [ContentDigest] = []
    var changeCount: UInt64
  }

  private func planRead(
    at offset: UInt64, into target: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> ReadPlan {
    lock.lock()
    defer { lock.unlock() }
    try load()
    var plan = ReadPlan(changeCount: changeCount)
    guard let state = loaded, offset < state.size, !target.isEmpty else { return plan }
    plan.byteCount = Int(min(UInt64(target.count), state.size - offset))
    plan.parts = state.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: target[..<plan.byteCount]))
    let range = offset..<offset + UInt64(plan.byteCount)
    for chunk in sequence.read(range, resources.layout, chunkCount: state.chunks.count) {
      if case .sealed(let object, _) = state.chunks[chunk] { plan.ahead.append(object.digest) }
    }
    if lookups.isRecognized(byNextReadAt: offset, byteCount: plan.byteCount) {
      store.willLookUp(state.namesInUse)
    }
    return plan
  }

  /// See `DraftState.seek`. Locked.
  func seek(_ target: SeekTarget, from offset: UInt64) throws(FileError) -> UInt64? {
    try load()
    return loaded?.seek(target, from: offset)
  }

  /// See `DraftState.missingByteCount`. Locked.
  func missingByteCount(in range: Range<UInt64>) throws(FileError) -> UInt64 {
    try load()
    return loaded?.missingByteCount(in: range) ?? 0
  }

  // MARK: Changing

  /// Writes all of it. Locked.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
    guard !bytes.isEmpty else { return }
    let range = offset..<offset + UInt64(bytes.count)
    try change { (state) throws(FileError) in
      try removeObstacles(&state) { $0.obstacle(toChanging: range) }
      for chunk in state.write(bytes, at: offset, pool: resources.pool) {
        submit(chunk, &state)
      }
    }
  }

  /// Sets the size. Locked.
  func truncate(to size: UInt64) throws(FileError) {
    try change { (state) throws(FileError) in
      try removeObstacles(&state) { $0.obstacle(toTruncatingTo: size) }
      state.truncate(to: size)
    }
  }

  /// Makes a range read as zeros, with holes where it can; the size stays. Locked.
  func clear(_ range: Range<UInt64>) throws(FileError) {
    try change { (state) throws(FileError) in
      let range = range.clamped(to: 0..<state.size)
      try removeObstacles(&state) { $0.obstacle(toChanging: range) }
      state.clear(range)
    }
  }

  /// The objects of whole chunks, sealed, for whoever takes them over by `share`; nil if they are not to be had so.
  /// Locked.
  func objectsToShare(_ chunks: Range<Int>) throws(FileError) -> [StoredObject?]? {
    try load()
    guard let objects = loaded?.sealedObjects, chunks.upperBound <= objects.count else {
      return nil
    }
    return Array(objects[chunks])
  }

  /// Takes over whole chunks of another file of the same store. Locked.
  func share(_ objects: [StoredObject?], from first: Int, end: UInt64) throws(FileError) {
    guard !objects.isEmpty else { return }
    try change { (state) throws(FileError) in
      let layout = resources.layout
      let range = layout.start(of: first)..<layout.start(of: first + objects.count)
      try removeObstacles(&state) { $0.obstacle(toChanging: range) }
      state.share(objects, from: first, end: end)
    }
  }

  /// Replaces everything by other content from the store, unless there are changes of our own; tells whether
  /// it did. Locked.
  func replaceIfUnmodified(by content: Item.Content, size: UInt64) -> Bool {
    guard !isModified else { return false }
    loaded = nil
    changeCount += 1
    sealed = Sealed(content: content, size: size, dataByteCount: size)
    return true
  }

  private func change(
    _ body: (inout DraftState) throws(FileError) -> Void
  ) throws(FileError) {
    try load()
    guard var state = loaded else { preconditionFailure("loaded above") }
    loaded = nil  // so that the table is not copied
    defer { loaded = state }
    try reap(&state)
    isModified = true
    changeCount += 1
    try body(&state)
  }

  // MARK: Sealing

  /// Brings all content into the store and returns it as an item's content. Content of at most `inlineLimit` bytes
  /// is returned itself. Locked; waits for workers.
  func seal(inlineLimit: Int = 0) throws(FileError) -> Sealed {
    guard isModified, var state = loaded else { return sealed }
    loaded = nil
    defer { loaded = state }
    try reap(&state)
    let content: Item.Content
    var objects: [StoredObject] = []
    if let inline = inlineContent(&state, limit: inlineLimit) {
      content = .inline(inline)
    } else {
      try sealChunks(&state)
      (content, objects) = try storedContent(state)
    }
    sealed = Sealed(
      content: content, size: state.size, dataByteCount: state.dataByteCount, objects: objects)
    isModified = false
    return sealed
  }

  /// Seals the dirty chunk that was not used for the longest time; false if there is none.
  func evictOldest() throws(FileError) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard isModified, var state = loaded, let chunk = state.oldestDirtyChunk else { return false }
    loaded = nil
    defer { loaded = state }
    changeCount += 1
    try sealNow(chunk, &state)
    return true
  }

  /// Has the next `seal` make content anew, though nothing changed. Locked.
  func markModified() throws(FileError) {
    try change { _ in }
  }

  private func inlineContent(_ state: inout DraftState, limit: Int) -> [UInt8]? {
    guard state.size > 0, state.size <= UInt64(limit), case .dirty(let buffer) = state.chunks[0]
    else { return nil }
    buffer.extend(to: Int(state.size))
    return Array(buffer.bytes.prefix(Int(state.size)))
  }

  private func sealChunks(_ state: inout DraftState) throws(FileError) {
    let waiting = state.unsettled.sorted()
    for chunk in waiting {
      if waiting.count == 1 {
        try sealNow(chunk, &state)
      } else if case .seal = state.stepToSeal(chunk) {
        submit(chunk, &state)
      }
    }
    for chunk in state.unsettled.sorted() { try sealNow(chunk, &state) }
    inFlight = []
  }

  /// Seals on this thread, after waiting for whoever has the chunk.
  private func sealNow(_ chunk: Int, _ state: inout DraftState) throws(FileError) {
    while true {
      switch state.stepToSeal(chunk) {
      case .none: return
      case .obstacle(let obstacle): try remove(obstacle, &state)
      case .seal(let buffer): state.markSealed(chunk, try store.put(.chunk, buffer.bytes))
      }
    }
  }

  private func submit(_ chunk: Int, _ state: inout DraftState) {
    guard case .dirty(let buffer) = state.chunks[chunk] else { return }
    let ticket = resources.sealing.seal(buffer, into: store)
    state.markSealing(chunk, ticket)
    inFlight.append((chunk, ticket))
  }

  /// Takes in what workers have finished. The first failure is thrown; its chunk is dirty again.
  private func reap(_ state: inout DraftState) throws(FileError) {
    var failure: FileError?
    inFlight.removeAll { entry in
      guard let result = entry.ticket.result else { return false }
      do throws(FileError) {
        try take(result, of: entry.chunk, entry.ticket, &state)
      } catch {
        failure = failure ?? error
      }
      return true
    }
    if let failure { throw failure }
  }

  private func take(
    _ result: Result<StoredObject, FileError>, of chunk: Int, _ ticket: SealTicket,
    _ state: inout DraftState
  ) throws(FileError) {
    guard chunk < state.chunks.count, case .sealing(_, let current) = state.chunks[chunk],
      current === ticket
    else { return }  // taken in before
    switch result {
    case .success(let object): state.markSealed(chunk, object)
    case .failure(let error):
      state.markUnsealed(chunk)
      throw error
    }
  }

  private func removeObstacles(
    _ state: inout DraftState, _ next: (DraftState) -> DraftState.Obstacle?
  ) throws(FileError) {
    while let obstacle = next(state) { try remove(obstacle, &state) }
  }

  private func remove(
    _ obstacle: DraftState.Obstacle, _ state: inout DraftState
  ) throws(FileError) {
    switch obstacle {
    case .wait(let chunk, let ticket): try take(ticket.wait(), of: chunk, ticket, &state)
    case .load(let chunk, let object, let byteCount):
      let buffer = ChunkBuffer(capacity: byteCount, pool: resources.pool)
      try buffer.fill(byteCount) { (memory) throws(FileError) in
        try store.read(object.digest, at: 0, into: memory)
      }
      state.install(buffer, at: chunk)
    }
  }
}
