import Dispatch
import Synchronization
import TestSupport
import Testing
import Threads
import VaultModel

@testable import VaultFiles

/// A generator with a seed, so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_f491_4f6c_dd1d
  }
}

extension Draft {
  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try changing { (content) throws(FileError) in
      let result: Result<Void, FileError> = bytes.withUnsafeBytes { buffer in
        do throws(FileError) { return .success(try content.write(buffer, at: offset)) } catch {
          return .failure(error)
        }
      }
      try result.get()
    }
  }

  func contents() throws -> [UInt8] {
    let count = content.withLock { Int($0.size) }
    var bytes = [UInt8](repeating: 0xaa, count: count + 3)
    let read = try bytes.withUnsafeMutableBytes { buffer -> Int in
      try self.read(at: 0, into: buffer)
    }
    #expect(read == count)
    return Array(bytes.prefix(count))
  }

  func sealLocked(inlineLimit: Int = 0) throws(FileError) -> Sealed {
    try changing { (content) throws(FileError) in
      try content.seal(inlineLimit: inlineLimit)
    }
  }
}

@Suite struct DraftTests {
  static func resources(_ chunkSize: Int) -> Draft.Resources {
    Draft.Resources(
      pool: ChunkMemory(chunkSize: chunkSize), sealing: SealingPool(limit: 2),
      layout: ChunkLayout(chunkSize: chunkSize))
  }

  static func empty(_ store: MemoryDraftStore, chunkSize: Int = 4) -> Draft {
    Draft(.none, size: 0, store: store, resources: resources(chunkSize))
  }

  enum Step {
    case write(offset: Int, count: Int)
    case truncate(Int)
    case clear(Range<Int>)
    case seal
    case reopen
    case evict
  }

  static func randomStep(_ generator: inout SeededGenerator, limit: Int) -> Step {
    let offset = Int.random(in: 0..<limit, using: &generator)
    let count = Int.random(in: 0..<limit / 2, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4: return .write(offset: offset, count: count)
    case 4: return .truncate(offset)
    case 5: return .clear(offset..<offset + count)
    case 6, 7: return .seal
    case 8: return .reopen
    default: return .evict
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func behavesAsAnArrayOfBytes(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let chunkSize = [1, 2, 3, 4, 7][Int(seed % 5)]
    let inlineLimit = seed.isMultiple(of: 3) ? 3 : 0
    let store = MemoryDraftStore()
    let resources = Self.resources(chunkSize)
    var draft = Draft(.none, size: 0, store: store, resources: resources)
    var model: [UInt8] = []
    for number in 0..<60 {
      // As in a lazy vault, whose cache may be emptied at any time.
      if seed.isMultiple(of: 2), number.isMultiple(of: 3) { store.sendAway() }
      let step = Self.randomStep(&generator, limit: chunkSize * 6 + 2)
      switch step {
      case .write(let offset, let count):
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try draft.write(bytes, at: UInt64(offset))
        if count > 0 {
          model += [UInt8](repeating: 0, count: max(0, offset + count - model.count))
          model.replaceSubrange(offset..<offset + count, with: bytes)
        }
      case .truncate(let size):
        try draft.content.withLock { (content) throws(FileError) in
          try content.truncate(to: UInt64(size))
        }
        model = Array(model.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - model.count))
      case .clear(let range):
        let wide = UInt64(range.lowerBound)..<UInt64(range.upperBound)
        try draft.changing { (content) throws(FileError) in try content.clear(wide) }
        for position in range.clamped(to: 0..<model.count) { model[position] = 0 }
      case .seal: _ = try draft.sealLocked(inlineLimit: inlineLimit)
      case .reopen:
        let sealed = try draft.sealLocked(inlineLimit: inlineLimit)
        draft = Draft(
          sealed.content, size: sealed.size, objects: sealed.objects, store: store,
          resources: resources)
      case .evict: _ = try draft.evictOldest()
      }
      #expect(try draft.contents() == model, "seed \(seed), step \(number): \(step)")
    }
    draft = Self.empty(store)
    #expect(store.isUsed(byExactly: 0), "seed \(seed): objects are left that nothing uses")
  }

  @Test func sealedContentIsLongEnoughAfterGrowing() throws {
    let store = MemoryDraftStore()
    let draft = Self.empty(store)
    try draft.write([1], at: 0)
    _ = try draft.sealLocked()
    try draft.content.withLock { (content) throws(FileError) in try content.truncate(to: 4) }
    let sealed = try draft.sealLocked()
    guard case .chunks(let names) = sealed.content, let name = names[0] else {
      Issue.record("one chunk was expected")
      return
    }
    var bytes = [UInt8](repeating: 9, count: 4)
    try bytes.withUnsafeMutableBytes { try store.read(name, at: 0, into: $0) }
    #expect(bytes == [1, 0, 0, 0])
  }

  @Test func manyChunksStandInIndexes() throws {
    let store = MemoryDraftStore()
    let resources = Self.resources(1)
    let draft = Draft(.none, size: 0, store: store, resources: resources)
    let bytes = (0..<2500).map { UInt8(truncatingIfNeeded: $0 / 7) }
    try draft.write(bytes, at: 0)
    let sealed = try draft.sealLocked()
    guard case .indexes(let indexes) = sealed.content else {
      Issue.record("indexes were expected")
      return
    }
    #expect(indexes.count == 3)
    let again = Draft(
      sealed.content, size: sealed.size, objects: sealed.objects, store: store,
      resources: resources)
    #expect(try again.contents() == bytes)
  }

  @Test func nobodyWaitsForAReaderOfTheIndexes() throws {
    let (store, resources) = (MemoryDraftStore(), Self.resources(1))
    let draft = Draft(.none, size: 0, store: store, resources: resources)
    let bytes = [UInt8](repeating: 7, count: 2500)
    try draft.write(bytes, at: 0)
    let sealed = try draft.sealLocked()
    let again = Draft(
      sealed.content, size: sealed.size, objects: sealed.objects, store: store,
      resources: resources)
    let (hasBegun, isAnswered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let wasInTime = Mutex(false)
    store.beforeIndex.withLock { before in
      before = {
        hasBegun.signal()
        let isInTime = isAnswered.wait(timeout: .now() + 120) == .success
        wasInTime.withLock { $0 = isInTime }
      }
    }
    try Threads.run(2) { number in
      if number == 0 {
        let read = try again.contents()
        #expect(read == bytes)
        return
      }
      hasBegun.wait()
      let size = again.content.withLock { $0.size }
      #expect(size == 2500)
      isAnswered.signal()
    }
    #expect(wasInTime.withLock { $0 })
  }

  @Test func failureOfAWorkerShowsAtTheNextWriteAndCanBeRetried() throws {
    let store = MemoryDraftStore()
    let draft = Self.empty(store)
    store.failNextPuts(1)
    try draft.write([1, 2, 3, 4], at: 0)  // full: goes to a worker, which fails
    var failures = 0
    do throws(FileError) { _ = try draft.sealLocked() } catch {
      #expect(error == .noSpace)
      failures += 1
    }
    #expect(failures == 1)
    #expect(try draft.contents() == [1, 2, 3, 4])
    _ = try draft.sealLocked()
    #expect(try draft.contents() == [1, 2, 3, 4])
  }

  @Test func holesAreFound() throws {
    let draft = Self.empty(MemoryDraftStore())
    try draft.write([1], at: 9)
    func found(_ target: SeekTarget, from offset: UInt64) throws(FileError) -> UInt64? {
      try draft.content.withLock { (content) throws(FileError) in
        try content.seek(target, from: offset)
      }
    }
    #expect(try found(.data, from: 0) == 8)
    #expect(try found(.hole, from: 0) == 0)
    #expect(try found(.hole, from: 9) == 10)
    #expect(try found(.data, from: 10) == nil)
  }

  @Test func sequentialWritingSealsEachChunkOnce() throws {
    let store = MemoryDraftStore()
    let draft = Self.empty(store)
    for position in 0..<40 { try draft.write([UInt8(position)], at: UInt64(position)) }
    _ = try draft.sealLocked()
    #expect(store.putCount == 10)
  }

  @Test func rewritingOneChunkSealsOnlyThatOne() throws {
    let store = MemoryDraftStore()
    let draft = Self.empty(store)
    try draft.write((0..<32).map { UInt8($0) }, at: 0)
    _ = try draft.sealLocked()
    let before = store.putCount
    try draft.write([200], at: 17)
    _ = try draft.sealLocked()
    #expect(store.putCount == before + 1)
    #expect(store.isUsed(byExactly: 8))
  }
}
