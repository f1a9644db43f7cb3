import Synchronization
import TestSupport
import Testing

@testable import VaultCrypto

@Suite struct ContextPoolTests {
  private final class Made: Sendable {
    let addresses = Mutex<(all: Int, present: Set<UInt>, lent: Set<UInt>)>((0, [], []))

    func make() -> OpaquePointer {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
      addresses.withLock {
        $0.all += 1
        $0.present.insert(UInt(bitPattern: memory))
      }
      return OpaquePointer(memory)
    }

    func free(_ context: OpaquePointer) {
      addresses.withLock { _ = $0.present.remove(UInt(bitPattern: context)) }
      UnsafeMutableRawPointer(context).deallocate()
    }
  }

  @Test func oneThreadAtATimeHasAContextAndAllAreFreed() throws {
    let made = Made()
    do {
      let pool = ContextPool(make: { made.make() }, free: { made.free($0) })
      try Threads.run(40) { _ in
        for _ in 0..<2000 {
          pool.withContext { context in
            let address = UInt(bitPattern: context)
            let isNew = made.addresses.withLock { $0.lent.insert(address).inserted }
            #expect(isNew)
            made.addresses.withLock { _ = $0.lent.remove(address) }
          }
        }
      }
      // Few are kept, however many were in use at once.
      #expect(made.addresses.withLock { $0.present.count } <= 16)
    }
    #expect(made.addresses.withLock { $0.present.isEmpty })
  }

  @Test func aContextIsKeptForTheNextUse() {
    let made = Made()
    let pool = ContextPool(make: { made.make() }, free: { made.free($0) })
    for _ in 0..<100 { pool.withContext { _ in } }
    #expect(made.addresses.withLock { $0.all } == 1)
  }
}
