import Glibc
import Synchronization
import Testing

@testable import VaultMount

@Suite struct ReplyScratchTests {
  @Test(arguments: [0, 1, 4096, 1 << 20, (1 << 20) + 257, 3 << 20])
  func givesExactlyWhatWasAskedForOnAPageBoundary(_ byteCount: Int) {
    ReplyScratch.with(byteCount: byteCount) { memory in
      #expect(memory.count == byteCount)
      #expect(memory.baseAddress.map { UInt(bitPattern: $0) % 4096 } ?? 0 == 0)
      memory.initializeMemory(as: UInt8.self, repeating: 0xa5)
    }
  }

  @Test func threadsDoNotShareMemory() {
    let addresses = Mutex<Set<UInt>>([])
    let barrier = Mutex(0)
    let threads = (0..<4).map { _ in
      MountThread {
        ReplyScratch.with(byteCount: 10) { memory in
          addresses.withLock { _ = $0.insert(UInt(bitPattern: memory.baseAddress)) }
          barrier.withLock { $0 += 1 }
          while barrier.withLock({ $0 }) < 4 { usleep(1000) }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(addresses.withLock { $0.count } == 4)
  }

  @Test func anErrorPassesThrough() {
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try ReplyScratch.with(byteCount: 1) { _ throws(Failure) in throw Failure() }
    }
  }
}
