import BlobStore
import Glibc
import Synchronization
import TestSupport
import Testing

struct WrapperTests {
  /// Adds up pauses instead of waiting.
  private final class Pauses: Sendable {
    private let all = Mutex<[Duration]>([])
    var taken: [Duration] { all.withLock { $0 } }
    func take(_ pause: Duration) { all.withLock { $0.append(pause) } }
  }

  @Test(arguments: BlobStoreContract.allCases)
  func keepThePromisesOfEveryStore(_ promise: BlobStoreContract) throws {
    let store = LimitedStore(
      RetryingStore(MemoryStore()), concurrency: 3, bytesPerSecond: 1 << 30)
    try promise.check(store)
  }

  @Test func triesAgainWhatMayPass() throws {
    let memory = MemoryStore()
    let faulty = FaultyStore(memory)
    let pauses = Pauses()
    let store = RetryingStore(faulty, pause: pauses.take)
    for fault in [FaultyStore.Fault.unreachable, .timedOut, .throttled, .lostReply] {
      faulty.fail(.put, numbers: 1...3, with: fault)
      try store.put("a", [1])
      #expect(memory.blobs == ["a": [1]])
    }
    #expect(pauses.taken.count == 12)
  }

  @Test func givesUpAfterSoManyAttempts() throws {
    let faulty = FaultyStore(MemoryStore())
    let pauses = Pauses()
    let store = RetryingStore(faulty, pause: pauses.take)
    faulty.fail(.read, andAllLater: true, with: .timedOut)
    #expect(throws: BlobStoreError.timedOut(path: "a")) { try store.read("a", limit: 9) }
    #expect(pauses.taken.count == 4)
    for (index, pause) in pauses.taken.enumerated() {
      #expect(pause <= RetryingStore.Policy().bound(after: index + 1))
    }
  }

  @Test func neverWaitsLongerThanItsBudget() throws {
    let faulty = FaultyStore(MemoryStore())
    let pauses = Pauses()
    var policy = RetryingStore.Policy()
    policy.attempts = 1000
    policy.budget = .seconds(50)
    let store = RetryingStore(faulty, policy: policy, pause: pauses.take)
    faulty.fail(.list, andAllLater: true, with: .unreachable)
    #expect(throws: BlobStoreError.self) { try store.list(.root) }
    #expect(pauses.taken.reduce(.zero, +) <= .seconds(50))
    #expect(policy.bound(after: 1) == .milliseconds(200))
    #expect(policy.bound(after: 3) == .milliseconds(800))
    #expect(policy.bound(after: 500) == .seconds(20))
  }

  /// A clock that goes on by so much each time it is read.
  private final class Clock: Sendable {
    private let time = Mutex(ContinuousClock.now)
    private let step: Duration
    init(step: Duration) { self.step = step }
    func read() -> ContinuousClock.Instant {
      time.withLock { time in
        time += step
        return time
      }
    }
  }

  @Test(arguments: [(Duration.seconds(30), 1), (.seconds(10), 3), (.seconds(1), 5)])
  func aSilentStoreIsNotAskedForLongerThanThePatience(silence: Duration, attempts: Int) throws {
    let faulty = FaultyStore(MemoryStore())
    let clock = Clock(step: silence)
    let pauses = Pauses()
    let store = RetryingStore(faulty, pause: pauses.take, now: clock.read)
    faulty.fail(.read, andAllLater: true, with: .timedOut)
    #expect(throws: BlobStoreError.timedOut(path: "a")) { try store.read("a", limit: 9) }
    #expect(pauses.taken.count == attempts - 1)
    // One that answers, however badly and slowly, is asked as often as ever.
    faulty.fail(.read, andAllLater: true, with: .throttled)
    #expect(throws: BlobStoreError.throttled(path: "a")) { try store.read("a", limit: 9) }
    #expect(pauses.taken.count == attempts - 1 + 4)
  }

  @Test(arguments: [FaultyStore.Fault.denied, .noSpace, .readOnly, .notFound, .io(errno: EIO)])
  func saysAtOnceWhatStays(_ fault: FaultyStore.Fault) throws {
    let faulty = FaultyStore(MemoryStore())
    let pauses = Pauses()
    faulty.fail(.put, with: fault)
    #expect(throws: BlobStoreError.self) {
      try RetryingStore(faulty, pause: pauses.take).put("a", [1])
    }
    #expect(pauses.taken.isEmpty)
  }

  @Test func knowsItsOwnBlobAgainAfterALostReply() throws {
    let faulty = FaultyStore(MemoryStore())
    let store = RetryingStore(faulty, pause: { _ in })
    faulty.fail(.put, with: .lostReply)
    try store.put("a", [1, 2], .ifAbsent)
    try faulty.inner.put("b", [9])
    faulty.fail(.put, with: .timedOut)
    #expect(throws: BlobStoreError.alreadyExists(path: "b")) {
      try store.put("b", [1, 2], .ifAbsent)
    }
  }

  @Test func aFlushIsNotRepeated() throws {
    let faulty = FaultyStore(MemoryStore())
    faulty.fail(.flush, with: .timedOut)
    #expect(throws: BlobStoreError.self) {
      try RetryingStore(faulty, pause: { _ in }).flush()
    }
  }

  /// A store that notes how many are inside at once.
  @Test func letsOnlySoManyThrough() throws {
    let faulty = FaultyStore(MemoryStore())
    faulty.fail(.put, numbers: 1...100, with: .delay(.milliseconds(2)))
    let recording = BusyStore(faulty)
    let store = LimitedStore(recording, concurrency: 3)
    try Threads.run(16) { number in try store.put(BlobPath("\(number)"), [1]) }
    #expect(recording.most.load(ordering: .relaxed) <= 3)
  }

  @Test func bytesWaitForThoseBefore() {
    let rate = ByteRate(bytesPerSecond: 100_000)
    let start = ContinuousClock.now
    for _ in 0..<3 { rate.spend(2_000) }
    // The first is free; the others wait 20 ms each.
    #expect(ContinuousClock.now - start >= .milliseconds(40))
  }

  private final class BusyStore: InspectingStore {
    let inner: any LocalStore
    let inside = Atomic(0)
    let most = Atomic(0)

    init(_ inner: any LocalStore) { self.inner = inner }

    func inspect(_ call: StoreCall) {}

    func put(
      _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
    ) throws(BlobStoreError) {
      let now = inside.add(1, ordering: .relaxed).newValue
      most.max(now, ordering: .relaxed)
      defer { inside.subtract(1, ordering: .relaxed) }
      try inner.put(path, bytes, condition)
    }
  }
}
