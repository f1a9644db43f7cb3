import Glibc
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// What a mount removes of itself.
@Suite struct ThinningTests {
  private let mounted: MountedVault
  // On the minute.
  private let now = TurnedClock(1_800_000_000_000)
  private var tree: FileTree { mounted.tree }

  init() throws {
    mounted = try MountedVault(clock: now.wallClock) { options in
      options.thinning = Thinning(.standard) { _ in 0 }
    }
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/Base")
  }

  private func bytes(_ number: Int, count: Int = 2 << 20) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  private func objectBytes() throws -> UInt64 {
    let check = try mounted.vault.check(readsData: true)
    #expect(check.problems.filter { $0.severity > .note } == [])
    return check.objectByteCount + check.unusedByteCount
  }

  /// Thins until no more than this is there. Once may not do: the mount thins by itself, too, and while it does others
  /// leave it alone.
  private func thin(to byteCount: UInt64) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    repeat {
      try tree.thin()
      if try objectBytes() < byteCount { return }
      usleep(200_000)
    } while ContinuousClock.now < deadline
    #expect(try objectBytes() < byteCount)
  }

  @Test func savingAgainAndAgainTakesNoRoom() throws {
    try tree.write("Emma/Base/file", bytes(0))
    for number in 1...30 {
      let handle = try tree.open("Emma/Base/file")
      // A row somewhere in it.
      try handle.put(bytes(number, count: 100), at: UInt64(number) * 5000)
      try handle.sync()
      handle.release()
      now.advance(to: 1_800_000_000_000 + UInt64(number) * 3_500)
      try tree.commitNow()
    }
    let content = try tree.read("Emma/Base/file")
    let before = try objectBytes()
    #expect(before > 30 << 20)
    // Of two minutes the last one each.
    try thin(to: 8 << 20)
    #expect(try tree.read("Emma/Base/file") == content)
    try mounted.remount()
    #expect(try tree.read("Emma/Base/file") == content)
  }

  @Test func whatIsOpenAndRemovedStaysReadable() throws {
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    let handle = try tree.open("Emma/Base/file", [.read])
    try tree.unlink("Emma/Base/file")
    try tree.write("Emma/Base/other", bytes(2))
    try tree.commitNow()
    try tree.thin()
    #expect(try handle.get(at: 1 << 20, count: 10) == bytes(1, count: 10))
    handle.release()
    try thin(to: 12 << 20)
  }

  @Test func nothingGoesWhileAnotherProcessReads() throws {
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    let reader = try mounted.openAgain(readOnly: true)
    for number in 2...5 {
      try tree.write("Emma/Base/file", bytes(number))
      try tree.commitNow()
    }
    try tree.thin()
    let problems = try reader.check(readsData: true).problems
    #expect(problems.filter { $0.severity > .note } == [])
    #expect(try objectBytes() > 4 << 20)
    withExtendedLifetime(reader) {}
  }
}
