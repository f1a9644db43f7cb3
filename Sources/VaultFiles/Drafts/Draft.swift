import Threads
import VaultModel

/// The content of one file while someone has it open or it is not sealed yet.
///
/// What can be done to the content are the functions of `DraftContent`, which whoever holds the lock has. Sealed content is
/// read and decrypted outside the lock, and nobody waits for a remote while they hold it: a commit may wait for the lock.
final class Draft: Sendable {
  /// Content that is wholly in the store, fit to stand in an item.
  struct Sealed: Sendable {
    var content: Item.Content
    var size: UInt64
    /// In bytes, holes not counted.
    var dataByteCount: UInt64
    /// The objects that the content needs, as far as a commit may not have them.
    var objects: [StoredObject] = []
  }

  /// What drafts of one mount share.
  struct Resources: Sendable {
    let pool: ChunkMemory
    let sealing: SealingPool
    var layout = ChunkLayout.format
  }

  let content: Guarded<DraftContent>
  private let store: any DraftStore

  /// - Parameter objects: Those that the content needs, as far as a commit may not have them.
  init(
    _ content: Item.Content, size: UInt64, objects: [StoredObject] = [], store: any DraftStore,
    resources: Resources
  ) {
    self.store = store
    let sealed = Sealed(content: content, size: size, dataByteCount: size, objects: objects)
    self.content = Guarded(DraftContent(sealed, store: store, resources: resources))
  }

  /// Reads up to the end of the file; returns how many bytes. The lock must not be held.
  func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
  {
    if let count = try readIfHere(at: offset, into: target) { return count }
    return try readFromAfar(at: offset, into: target)
  }

  /// The same of what is on this machine: nil where a part is kept elsewhere, and then nobody has waited for it.
  func readIfHere(
    at offset: UInt64, into target: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Int? {
    try read(at: offset, into: target, isFirst: true) { (object, offset, part) throws(FileError) in
      try store.readIfHere(object, at: offset, into: part)
    }
  }

  /// The same where `readIfHere` has just said nil: waits for remotes.
  func readFromAfar(
    at offset: UInt64, into target: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Int {
    let count = try read(at: offset, into: target, isFirst: false) {
      (object, offset, part) throws(FileError) in
      try store.read(object, at: offset, into: part)
      return true
    }
    guard let count else { preconditionFailure("what is read is never passed over") }
    return count
  }

  /// - Parameters:
  ///   - isFirst: Whether it says something of how the file is read.
  ///   - readPart: Fills memory from an object; false where that is not read.
  /// - Returns: Nil where a part was not read.
  private func read(
    at offset: UInt64, into target: UnsafeMutableRawBufferPointer, isFirst: Bool,
    _ readPart: (ContentDigest, Int, UnsafeMutableRawBufferPointer) throws(FileError) -> Bool
  ) throws(FileError) -> Int? {
    // Only used before this returns.
    nonisolated(unsafe) let target = target
    while true {
      try loadLists()
      let plan = try content.withLock { (content) throws(FileError) in
        try content.planRead(at: offset, into: target, isFirst: isFirst)
      }
      do {
        if !plan.ahead.isEmpty { store.willRead(plan.ahead) }
        for part in plan.parts {
          let memory = target[part.target..<part.target + part.range.count]
          let isRead = try readPart(
            part.object.digest, part.range.lowerBound,
            UnsafeMutableRawBufferPointer(rebasing: memory))
          if !isRead { return nil }
        }
        return plan.byteCount
      } catch {
        // Another process may have put other content in its place, and collected this.
        if content.withLock({ $0.changeCount }) == plan.changeCount { throw error }
      }
    }
  }

  /// Reads the lists of a long file's chunks where they are missing. The lock must not be held.
  func loadLists() throws(FileError) {
    guard let lists = content.withLock({ $0.missingLists }) else { return }
    do {
      let chunks = try store.chunks(in: lists)
      content.withLock { $0.load(chunks, of: lists) }
    } catch {
      // Another process may have put other content in its place, and collected these.
      if content.withLock({ $0.missingLists }) == lists { throw error }
    }
  }

  /// Runs `body` with the content. What it needs of that and is kept elsewhere is brought here without the lock, and `body`
  /// runs again, on what the content is then: it changes nothing before it has all that it needs.
  ///
  /// - Parameter waits: False where nobody may wait for a remote: then it is begun to be brought here.
  /// - Throws: What `body` throws; `away` for what cannot be had, or is not waited for.
  func changing<Answer: Sendable>(
    waits: Bool = true, _ body: (inout sending DraftContent) throws(FileError) -> Answer
  ) throws(FileError) -> Answer {
    var brought: Set<ContentDigest> = []
    var hasWaited = false
    while true {
      var missing: ContentDigest?
      do {
        return try content.withLock { (content) throws(FileError) -> Answer in
          if hasWaited { content.endWait() }
          do throws(FileError) { return try body(&content) } catch {
            missing = content.beginWait()
            throw error
          }
        }
      } catch {
        guard let missing else { throw error }
        do throws(FileError) {
          if !waits { store.willRead([missing]) }
          // What is gone again at once is not brought time after time.
          guard waits, brought.insert(missing).inserted else { throw error }
          try store.bring(missing)
        } catch {
          content.withLock { $0.endWait() }
          throw error
        }
        hasWaited = true
      }
    }
  }

  /// Seals the dirty chunk that was not used for the longest time; false if there is none. The lock must not be held.
  func evictOldest() throws(FileError) -> Bool {
    try content.withLock { (content) throws(FileError) in try content.sealOldest() }
  }
}
