import VaultModel

/// The content of a draft: whoever has it `inout` holds the draft's lock.
///
/// Performs what `DraftState` asks for: loads, seals, waits. What is not on this machine it does not wait for: it throws
/// `away`, and `Draft.changing` brings it here without the lock.
struct DraftContent: ~Copyable {
  let store: any DraftStore
  let resources: Draft.Resources
  var sealed: Draft.Sealed
  var loaded: DraftState?
  /// Whether anything changed since the last `seal`.
  private(set) var isModified = false
  /// Chunks that workers have.
  private var inFlight: [(chunk: Int, ticket: SealTicket)] = []
  private var sequence = ReadSequence()
  /// Counts changes, so that a reader sees that its plan is out of date.
  private(set) var changeCount: UInt64 = 0
  private var lookups = LookupPattern()
  /// The chunk that the last change or seal has missed, as it is not on this machine.
  private var missing: ContentDigest?
  /// How many are about to change it, and let go of the lock while what they need is brought here.
  private var waitingCount = 0

  init(_ sealed: Draft.Sealed, store: any DraftStore, resources: Draft.Resources) {
    self.sealed = sealed
    self.store = store
    self.resources = resources
  }

  /// The size with all that was written.
  var size: UInt64 { loaded?.size ?? sealed.size }

  /// The content as it was sealed last, and the objects that what was written since goes on from.
  var contentInUse: (Item.Content, [ContentDigest]) { (sealed.content, loaded?.namesInUse ?? []) }

  // MARK: Reading

  struct ReadPlan {
    var byteCount = 0
    var parts: [DraftState.SealedPart] = []
    /// Objects that are wanted soon after.
    var ahead: [ContentDigest] = []
    var changeCount: UInt64
  }

  /// Copies what is in memory, and says what has to be read from which objects.
  ///
  /// - Parameter isFirst: False where this was planned before, for the same read.
  mutating func planRead(
    at offset: UInt64, into target: UnsafeMutableRawBufferPointer, isFirst: Bool
  ) throws(FileError) -> ReadPlan {
    try load()
    var plan = ReadPlan(changeCount: changeCount)
    guard let state = loaded, offset < state.size, !target.isEmpty else { return plan }
    plan.byteCount = Int(min(UInt64(target.count), state.size - offset))
    plan.parts = state.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: target[..<plan.byteCount]))
    guard isFirst else { return plan }
    let range = offset..<offset + UInt64(plan.byteCount)
    for chunk in sequence.read(range, resources.layout, chunkCount: state.chunks.count) {
      if case .sealed(let object, _) = state.chunks[chunk] { plan.ahead.append(object.digest) }
    }
    if lookups.isRecognized(byNextReadAt: offset, byteCount: plan.byteCount) {
      store.willLookUp(state.namesInUse)
    }
    return plan
  }

  /// See `DraftState.seek`.
  mutating func seek(_ target: SeekTarget, from offset: UInt64) throws(FileError) -> UInt64? {
    try load()
    return loaded?.seek(target, from: offset)
  }

  /// See `DraftState.missingByteCount`.
  mutating func missingByteCount(in range: Range<UInt64>) throws(FileError) -> UInt64 {
    try load()
    return loaded?.missingByteCount(in: range) ?? 0
  }

  // MARK: Changing

  /// Writes all of it.
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
    guard !bytes.isEmpty else { return }
    let range = offset..<offset + UInt64(bytes.count)
    try change { (content, state) throws(FileError) in
      try content.removeObstacles(&state) { $0.obstacle(toChanging: range) }
      for chunk in state.write(bytes, at: offset, pool: content.resources.pool) {
        content.submit(chunk, &state)
      }
    }
  }

  /// Sets the size.
  mutating func truncate(to size: UInt64) throws(FileError) {
    try change { (content, state) throws(FileError) in
      try content.removeObstacles(&state) { $0.obstacle(toTruncatingTo: size) }
      state.truncate(to: size)
    }
  }

  /// Makes a range read as zeros, with holes where it can; the size stays.
  mutating func clear(_ range: Range<UInt64>) throws(FileError) {
    try change { (content, state) throws(FileError) in
      let range = range.clamped(to: 0..<state.size)
      try content.removeObstacles(&state) { $0.obstacle(toChanging: range) }
      state.clear(range)
    }
  }

  /// The objects of whole chunks, sealed, for whoever takes them over by `share`; nil if they are not to be had so.
  mutating func objectsToShare(_ chunks: Range<Int>) throws(FileError) -> [StoredObject?]? {
    try load()
    guard let objects = loaded?.sealedObjects, chunks.upperBound <= objects.count else {
      return nil
    }
    return Array(objects[chunks])
  }

  /// Takes over whole chunks of another file of the same store.
  mutating func share(_ objects: [StoredObject?], from first: Int, end: UInt64) throws(FileError) {
    guard !objects.isEmpty else { return }
    try change { (content, state) throws(FileError) in
      let layout = content.resources.layout
      let range = layout.start(of: first)..<layout.start(of: first + objects.count)
      try content.removeObstacles(&state) { $0.obstacle(toChanging: range) }
      state.share(objects, from: first, end: end)
    }
  }

  /// Whether somebody is about to change it, on what it is now.
  var isAwaited: Bool { waitingCount > 0 }

  /// What the call that has just thrown `away` needs, if it is to be brought here: then the caller lets go of the lock for
  /// that, and calls `endWait` when it has it again.
  mutating func beginWait() -> ContentDigest? {
    defer { missing = nil }
    if missing != nil { waitingCount += 1 }
    return missing
  }

  mutating func endWait() { waitingCount -= 1 }

  /// Replaces everything by other content from the store, unless there are changes of our own; tells whether
  /// it did.
  mutating func replaceIfUnmodified(by content: Item.Content, size: UInt64) -> Bool {
    guard !isModified, !isAwaited else { return false }
    loaded = nil
    changeCount += 1
    sealed = Draft.Sealed(content: content, size: size, dataByteCount: size)
    return true
  }

  private mutating func change(
    _ body: (inout Self, inout DraftState) throws(FileError) -> Void
  ) throws(FileError) {
    try load()
    guard var state = loaded else { preconditionFailure("loaded above") }
    loaded = nil  // so that the table is not copied
    defer { loaded = state }
    try reap(&state)
    changeCount += 1
    try body(&self, &state)
    // Only now: what fails, as for a part that cannot be loaded, has changed nothing.
    isModified = true
  }

  // MARK: Sealing

  /// Brings all content into the store and returns it as an item's content. Content of at most `inlineLimit` bytes
  /// is returned itself. Waits for workers.
  mutating func seal(inlineLimit: Int = 0) throws(FileError) -> Draft.Sealed {
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
    sealed = Draft.Sealed(
      content: content, size: state.size, dataByteCount: state.dataByteCount, objects: objects)
    isModified = false
    return sealed
  }

  /// Seals the dirty chunk that was not used for the longest time; false if there is none.
  mutating func sealOldest() throws(FileError) -> Bool {
    guard isModified, var state = loaded, let chunk = state.oldestDirtyChunk else { return false }
    loaded = nil
    defer { loaded = state }
    changeCount += 1
    try sealNow(chunk, &state)
    return true
  }

  /// Has the next `seal` make content anew, though nothing changed.
  mutating func markModified() throws(FileError) {
    try change { _, _ in }
  }

  /// The file could not take what the last `seal` gave: the next one gives it again.
  mutating func noteNotTaken() { isModified = true }

  private func inlineContent(_ state: inout DraftState, limit: Int) -> [UInt8]? {
    guard state.size > 0, state.size <= UInt64(limit), case .dirty(let buffer) = state.chunks[0]
    else { return nil }
    buffer.extend(to: Int(state.size))
    return Array(buffer.bytes.prefix(Int(state.size)))
  }

  private mutating func sealChunks(_ state: inout DraftState) throws(FileError) {
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
  private mutating func sealNow(_ chunk: Int, _ state: inout DraftState) throws(FileError) {
    while true {
      switch state.stepToSeal(chunk) {
      case .none: return
      case .obstacle(let obstacle): try remove(obstacle, &state)
      case .seal(let buffer): state.markSealed(chunk, try store.put(.chunk, buffer.bytes))
      }
    }
  }

  private mutating func submit(_ chunk: Int, _ state: inout DraftState) {
    guard case .dirty(let buffer) = state.chunks[chunk] else { return }
    let ticket = resources.sealing.seal(buffer, into: store)
    state.markSealing(chunk, ticket)
    inFlight.append((chunk, ticket))
  }

  /// Takes in what workers have finished. The first failure is thrown; its chunk is dirty again.
  private mutating func reap(_ state: inout DraftState) throws(FileError) {
    var failure: FileError?
    inFlight.removeAll { entry in
      guard let result = entry.ticket.result else { return false }
      do throws(FileError) {
        try Self.take(result, of: entry.chunk, entry.ticket, &state)
      } catch {
        failure = failure ?? error
      }
      return true
    }
    if let failure { throw failure }
  }

  private static func take(
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

  private mutating func removeObstacles(
    _ state: inout DraftState, _ next: (DraftState) -> DraftState.Obstacle?
  ) throws(FileError) {
    while let obstacle = next(state) { try remove(obstacle, &state) }
  }

  private mutating func remove(
    _ obstacle: DraftState.Obstacle, _ state: inout DraftState
  ) throws(FileError) {
    switch obstacle {
    case .wait(let chunk, let ticket): try Self.take(ticket.wait(), of: chunk, ticket, &state)
    case .load(let chunk, let object, let byteCount):
      let store = self.store
      let buffer = ChunkBuffer(capacity: byteCount, pool: resources.pool)
      var isHere = false
      try buffer.fill(byteCount) { (memory) throws(FileError) in
        isHere = try store.readIfHere(object.digest, at: 0, into: memory)
      }
      guard isHere else {
        missing = object.digest
        throw .away
      }
      state.install(buffer, at: chunk)
    }
  }
}
