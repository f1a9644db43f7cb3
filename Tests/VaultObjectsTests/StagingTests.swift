import BlobStore
import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import VaultObjects

/// A slow disk: each file in the staging folder stands there half written for a while.
private final class SlowStaging: InspectingStore {
  let inner: any LocalStore
  /// What was done with staged files while one of them was half written.
  let meanwhile = Mutex<[StoreCall]>([])
  private let isWriting = Atomic(false)

  init(_ inner: any LocalStore) { self.inner = inner }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard isWriting.load(ordering: .acquiring), call.path.string.hasPrefix("staging") else {
      return
    }
    meanwhile.withLock { $0.append(call) }
  }

  func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError) {
    try inspect(StoreCall(.create, path))
    guard path.string.hasPrefix("staging"), bytes.count > 64 << 10 else {
      return try inner.create(path, bytes)
    }
    try inner.create(path, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
    isWriting.store(true, ordering: .releasing)
    usleep(300_000)
    isWriting.store(false, ordering: .releasing)
    try inner.replace(path, bytes, durably: false)
  }
}

/// A disk whose first barrier takes a while, and then could not write everything: it says so to that one alone.
private final class SlowBarrier: InspectingStore {
  let inner: any LocalStore
  let hasBegun = DispatchSemaphore(value: 0)
  /// The barriers that ran, and the most of them at once.
  let barriers = Mutex((begun: 0, running: 0, most: 0))

  init(_ inner: any LocalStore) { self.inner = inner }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard call.kind == .barrier else { return }
    let isFirst = barriers.withLock { barriers in
      barriers.begun += 1
      barriers.running += 1
      barriers.most = max(barriers.most, barriers.running)
      return barriers.begun == 1
    }
    defer { barriers.withLock { $0.running -= 1 } }
    guard isFirst else { return }
    hasBegun.signal()
    usleep(300_000)
    throw .io(path: "", errno: EIO)
  }
}

/// A disk that removes a file only when somebody was told meanwhile what is staged, or has waited for that in vain.
private final class SlowRemoval: InspectingStore {
  let inner: any LocalStore
  let hasBegun = DispatchSemaphore(value: 0)
  let isTold = DispatchSemaphore(value: 0)
  let wasTold = Atomic(false)

  init(_ inner: any LocalStore) { self.inner = inner }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard call.kind == .remove else { return }
    hasBegun.signal()
    wasTold.store(isTold.wait(timeout: .now() + 10) == .success, ordering: .releasing)
  }
}

/// Where objects are while no commit names them.
@Suite struct StagingTests {
  private let memory: MemoryObjects
  private let recording: RecordingStore
  private var objects: ObjectStore { memory.objects }

  init() throws {
    var recording: RecordingStore?
    memory = try MemoryObjects { store in
      let made = RecordingStore(store)
      recording = made
      return made
    }
    self.recording = try #require(recording)
    self.recording.forgetCalls()
  }

  private var written: [StoreCall] { recording.calls(.create, .put, .replace, .rename) }

  /// Equal contents at once: the second thread must not take the first one's half-written file for one that was left.
  @Test func equalContentIsWrittenByOneThreadAlone() throws {
    let slow = SlowStaging(memory.store)
    let objects = try MemoryObjects { _ in slow }.objects
    let content = [UInt8](repeating: 7, count: 200_000)
    let names = Mutex<Set<ContentDigest>>([])
    try Threads.run(4) { _ in
      let name = try objects.put(.chunk, content)
      names.withLock { _ = $0.insert(name) }
    }
    #expect(slow.meanwhile.withLock { $0 } == [])
    let name = try #require(names.withLock { $0.count == 1 ? $0.first : nil })
    #expect(try objects.content(name, kind: .chunk) == content)
  }

  @Test func aSmallObjectIsInMemoryUntilItIsPublished() throws {
    let name = try objects.put(.chunk, [1, 2, 3])
    #expect(written.isEmpty)
    #expect(try objects.read(name, 0..<3) == [1, 2, 3])
    #expect(try objects.content(name, kind: .chunk) == [1, 2, 3])
    try objects.publish(name)
    #expect(written.map(\.path) == [objects.path(of: name)])
    #expect(try objects.read(name, 0..<3) == [1, 2, 3])
  }

  /// Also before the commit knows that it failed: a sync that begins then takes nothing of it for what is on the disk.
  @Test(arguments: [3, 100_000])
  func whatAFailedBarrierMayHaveLostIsDoubtfulAtOnce(size: Int) throws {
    var faults: FaultyStore?
    let objects = try MemoryObjects { store in
      let made = FaultyStore(store)
      faults = made
      return made
    }.objects
    let staging = try #require(objects.staging)
    let failures = staging.failedBarriers
    let name = try objects.put(.chunk, [UInt8](repeating: 7, count: size))
    try objects.publish(name)
    try #require(faults).fail(.barrier, with: .io(errno: EIO))
    #expect(throws: VaultError.self) { try staging.barrier(since: failures) }
    #expect(staging.isDoubtful(objects.name(of: name)))
    objects.restage()
    try objects.publish(name)
    #expect(!objects.isDoubtful(objects.name(of: name)))
    try staging.barrier(since: staging.failedBarriers)
    objects.settle()
  }

  /// It finds nothing wrong, and would take what the first one may have lost for what is on the disk.
  @Test func aBarrierWaitsUntilTheFailureOfTheOneBeforeIsNoted() throws {
    let slow = SlowBarrier(memory.store)
    let objects = try MemoryObjects { _ in slow }.objects
    let staging = try #require(objects.staging)
    let failed = Mutex(0)
    try Threads.run(2) { number in
      if number == 1 { slow.hasBegun.wait() }
      do { try staging.barrier(since: 0) } catch { failed.withLock { $0 += 1 } }
    }
    #expect(failed.withLock { $0 } == 2)
    #expect(slow.barriers.withLock { $0.begun } == 2)
    #expect(slow.barriers.withLock { $0.most } == 1)
  }

  @Test func theLastUserWhoLetsGoOfASmallObjectIsItsEnd() throws {
    var uses = [try objects.stage(.chunk, [1]), try objects.stage(.chunk, [1])]
    let name = uses[0].digest
    #expect(uses[1].digest == name)
    uses.removeLast()
    #expect(try objects.content(name, kind: .chunk) == [1])
    uses.removeLast()
    #expect(throws: VaultError.self) { try objects.content(name, kind: .chunk) }
    #expect(objects.stagedCount == 0)
    #expect(written.isEmpty)
  }

  @Test func aLargeObjectThatNobodyUsesIsRemoved() throws {
    let content = [UInt8](repeating: 1, count: 100_000)
    var uses = [try objects.stage(.chunk, content)]
    let name = uses[0].digest
    uses = []
    // Whoever stages it again before that finds it.
    uses = [try objects.stage(.chunk, content)]
    objects.removeUnused()
    #expect(try objects.content(name, kind: .chunk) == content)
    uses = []
    objects.removeUnused()
    #expect(throws: VaultError.self) { try objects.content(name, kind: .chunk) }
    #expect(objects.stagedCount == 0)
  }

  /// Who reads asks what is staged first.
  @Test func nobodyWaitsForAFileThatIsRemoved() throws {
    let slow = SlowRemoval(memory.store)
    let objects = try MemoryObjects { _ in slow }.objects
    let content = [UInt8](repeating: 1, count: 100_000)
    var uses = [try objects.stage(.chunk, content)]
    let digest = uses[0].digest
    uses = []
    try Threads.run(2) { number in
      if number == 0 { return objects.removeUnused() }
      slow.hasBegun.wait()
      #expect(!objects.isStaged(digest))
      slow.isTold.signal()
      // But for whoever stages the same content: their file is another one, and stays.
      _ = try objects.put(.chunk, content)
    }
    let wasTold = slow.wasTold.load(ordering: .acquiring)
    #expect(wasTold)
    #expect(try objects.content(digest, kind: .chunk) == content)
  }

  /// Equal content that is put after a commit has taken it is another object.
  @Test(arguments: [1, 100_000])
  func whoeverUsedWhatACommitHasDoesNotLetGoOfWhatWasPutSince(size: Int) throws {
    let content = [UInt8](repeating: 1, count: size)
    var before = [try objects.stage(.chunk, content)]
    let name = before[0].digest
    try objects.publish(name)
    objects.settle()
    #expect(objects.stagedCount == 0)
    let use = try objects.stage(.chunk, content)
    before = []
    objects.removeUnused()
    try memory.store.remove(objects.path(of: name))
    #expect(try objects.content(name, kind: .chunk) == content, "\(before)")
    try objects.publish(use.digest)
    objects.settle()
    #expect(try objects.content(name, kind: .chunk) == content)
  }

  /// What a failed commit had brought to its place is named by nothing, and may be collected.
  @Test(arguments: [1, 100_000])
  func whatAFailedCommitPublishedIsStagedAgain(size: Int) throws {
    let content = [UInt8](repeating: 1, count: size)
    let use = try objects.stage(.chunk, content)
    try objects.publish(use.digest)
    objects.restage()
    try memory.store.remove(objects.path(of: use.digest))
    #expect(try objects.content(use.digest, kind: .chunk) == content)
    try objects.publish(use.digest)
    objects.settle()
    #expect(objects.stagedCount == 0)
    #expect(try objects.content(use.digest, kind: .chunk) == content)
  }

  @Test func whatAFailedCommitPublishedForNobodyIsForgotten() throws {
    for number in 0..<100 {
      do {
        let use = try objects.stage(.record, [UInt8(number)])
        try objects.publish(use.digest)
      }
      objects.restage()
    }
    #expect(objects.stagedCount == 0)
  }

  @Test func aLargeObjectIsWrittenAtOnce() throws {
    _ = try objects.put(.chunk, [UInt8](repeating: 1, count: 100_000))
    #expect(written.map(\.kind) == [.create])
  }

  @Test func whatIsHeldStaysWithinItsLimit() throws {
    for number in 0..<700 {
      let content =
        [UInt8](repeating: 7, count: 60_000) + [UInt8(number & 255), UInt8(number >> 8)]
      _ = try objects.put(.chunk, content)
    }
    let writtenCount = written.count
    #expect(writtenCount > 100)
    #expect(writtenCount < 200)
  }

  /// Whoever writes is told at once, not when a commit comes.
  @Test func nothingIsHeldWhereTheDiskIsAlmostFull() throws {
    memory.store.limit(toBytes: 2 << 20)
    _ = try objects.put(.chunk, [1])
    #expect(written.map(\.kind) == [.create])
    memory.store.limit(toBytes: 1)
    #expect {
      try objects.put(.chunk, [2])
    } throws: {
      guard case VaultError.noSpace = $0 else { return false }
      return true
    }
  }

  @Test func theSameContentIsWrittenOnce() throws {
    let name = try objects.put(.chunk, [1, 2])
    try objects.publish(name)
    let file = memory.store.blobs[objects.path(of: name)]
    #expect(try objects.put(.chunk, [1, 2]) == name)
    try objects.publish(name)
    #expect(memory.store.blobs[objects.path(of: name)] == file)
    #expect(recording.calls(.replace, .rename).isEmpty)
  }

  @Test func aDamagedObjectInItsPlaceIsReplaced() throws {
    let name = try objects.put(.chunk, [1, 2])
    let path = objects.path(of: name)
    try memory.store.replace(path, [0, 0], durably: false)
    try objects.publish(name)
    #expect(try objects.content(name, kind: .chunk) == [1, 2])
  }
}
