import BlobStore
import Glibc
import MachineState
import Synchronization
import Testing
import Threads
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// A vault whose chunks are elsewhere.
@Suite struct LazyTests {
  /// A remote in memory.
  private final class Elsewhere: ChunkSource {
    struct State {
      var files: [ObjectName: [UInt8]] = [:]
      var isReachable = true
      var fetchCount = 0
    }

    let state = Mutex(State())

    func fetch(
      _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
    ) throws(VaultError) -> [UInt8] {
      let file = state.withLock { state -> [UInt8]? in
        state.fetchCount += 1
        return state.isReachable ? state.files[chunk] : nil
      }
      guard let file else { throw .away(path: chunk.hex, reason: "nobody answers") }
      return file
    }

    func holds(
      _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
    ) throws(VaultError) -> Bool {
      state.withLock { $0.isReachable && ($0.files[chunk]?.count).map(UInt64.init) == byteCount }
    }

    var fetchCount: Int { state.withLock { $0.fetchCount } }
  }

  private let mounted: MountedVault
  private let elsewhere = Elsewhere()
  private let content: [UInt8]

  /// One file of four chunks and a half, all of them elsewhere.
  init() throws {
    mounted = try MountedVault()
    content = (0..<(9 << 19)).map { UInt8(truncatingIfNeeded: $0 / 4099) }
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/scan")
    try mounted.tree.write("Emma/scan/image", content)
    try mounted.tree.commitNow()
    let state = try StateFolder.open(root: mounted.stateRoot, vault: mounted.vault.id)
    try state.storeLazySettings(LazySettings())
    try mounted.remount()
    mounted.vault.lazyChunks?.setSource(elsewhere)
    try send()
  }

  private var member: Member { get throws { try #require(mounted.vault.members.first) } }

  private var scan: RecordID {
    get throws { try #require(member.allEntries().first { $0.title.string == "scan" }).record }
  }

  /// Moves every chunk away.
  private func send() throws {
    let store = try DirectoryStore(opening: mounted.folder)
    let member = try member
    for object in try member.objects.listed() {
      let path = BlobPath(member.objects.vaultPath(of: object.name).string)
      let bytes = try store.read(path, limit: 2 << 20)
      guard bytes[5] == ObjectKind.chunk.rawValue else { continue }
      elsewhere.state.withLock { $0.files[object.name] = bytes }
      try store.remove(path)
    }
    #expect(elsewhere.state.withLock { $0.files.count } == 5)
    try mounted.remount()
    mounted.vault.lazyChunks?.setSource(elsewhere)
  }

  @Test func whatIsTornElsewhereStaysHere() throws {
    let member = try member
    _ = try mounted.vault.fetch(scan, of: member)
    elsewhere.state.withLock { $0.files = $0.files.mapValues { Array($0.prefix(17)) } }
    let report = try mounted.vault.evict(.root, of: member)
    #expect(report.chunkCount == 0 && report.keptCount == 5)
    #expect(try mounted.tree.read("Emma/scan/image") == content)
  }

  /// Other machines may have collected it: then nobody would have what the record names from then on.
  @Test func whatNobodyHasDoesNotComeBackFromHistory() throws {
    let member = try member
    let scan = try scan
    let before = try member.revision(#require(member.entry(scan)).revision)
    try mounted.tree.write("Emma/scan/image", "another")
    try mounted.tree.commitNow()
    let edit = try RecordRestore(member).edit(of: scan, to: before)
    elsewhere.state.withLock { $0.isReachable = false }
    #expect(throws: VaultError.self) { try mounted.vault.commit(edit, to: member) }
    mounted.tree.refresh()
    #expect(try mounted.tree.text("Emma/scan/image") == "another")
    elsewhere.state.withLock { $0.isReachable = true }
    try mounted.vault.commit(edit, to: member)
    elsewhere.state.withLock { $0.isReachable = false }
    try mounted.remount()
    mounted.vault.lazyChunks?.setSource(elsewhere)
    #expect(try mounted.tree.read("Emma/scan/image") == content)
  }

  @Test func chunksComeWhenTheyAreReadAndStay() throws {
    #expect(try mounted.tree.read("Emma/scan/image") == content)
    #expect(elsewhere.fetchCount == 5)
    elsewhere.state.withLock { $0.isReachable = false }
    #expect(try mounted.tree.read("Emma/scan/image") == content)
    let report = try mounted.vault.check(readsData: true)
    #expect(report.problems.isEmpty)
  }

  @Test func whatIsNotHereIsAnErrorOfThatFileAloneAndNoDamage() throws {
    elsewhere.state.withLock { $0.isReachable = false }
    #expect(throws: FileError.away) { try mounted.tree.read("Emma/scan/image") }
    #expect(try mounted.tree.stat("Emma/scan/image").size == UInt64(content.count))
    try mounted.tree.write("Emma/scan/other", "written meanwhile")
    try mounted.tree.rename("Emma/scan/image", "Emma/scan/renamed")
    try mounted.tree.commitNow()
    let report = try mounted.vault.check(readsData: true)
    #expect(report.problems.isEmpty)
    #expect(report.awayCount == 5)
    elsewhere.state.withLock { $0.isReachable = true }
    #expect(try mounted.tree.read("Emma/scan/renamed") == content)
  }

  @Test func whatComesIsVerified() throws {
    elsewhere.state.withLock { state in
      for name in state.files.keys { state.files[name]?[100] ^= 1 }
    }
    #expect(throws: FileError.inputOutput) { try mounted.tree.read("Emma/scan/image") }
    #expect(try mounted.vault.check(readsData: false).awayCount == 5)
  }

  @Test func readingInOrderFetchesAhead() throws {
    let handle = try mounted.tree.open("Emma/scan/image", .read)
    defer { handle.release() }
    _ = try handle.get(at: 0, count: 4096)
    #expect(elsewhere.fetchCount == 1)
    _ = try handle.get(at: 4096, count: ReadSequence.runLimit)
    let deadline = ContinuousClock.now + .seconds(120)
    while elsewhere.fetchCount < 4, ContinuousClock.now < deadline { usleep(1000) }
    #expect(elsewhere.fetchCount == 4)
  }

  @Test func pinnedThingsStayAndTheRestGoesBack() throws {
    let member = try member
    let scan = try scan
    #expect(try mounted.vault.fetch(scan, of: member).chunkCount == 5)
    try mounted.vault.setLazySettings { $0.pins.insert(.init(member: member.id, record: scan)) }
    #expect(try mounted.vault.evict(.root, of: member).chunkCount == 0)
    for name in elsewhere.state.withLock({ $0.files.keys.sorted() }) {
      let store = try DirectoryStore(opening: mounted.folder)
      try store.remove(BlobPath(member.objects.vaultPath(of: name).string))
    }
    try mounted.vault.tendCache()
    #expect(try mounted.vault.check(readsData: true).awayCount == 0)
    let pins = try #require(mounted.vault.lazySettings).pins
    #expect(pins.contains { $0.member == member.id && $0.record == scan })
    try mounted.vault.setLazySettings { settings in
      settings.pins = []
      settings.cacheByteLimit = 2 << 20
    }
    let gone = elsewhere.state.withLock { $0.files.removeValue(forKey: $0.files.keys.min()!) }
    #expect(gone != nil)
    let trimmed = try mounted.vault.trimCache()
    #expect(trimmed.chunkCount >= 3)
    #expect(trimmed.keptCount <= 1)
    let left = try mounted.vault.evict(.root, of: member)
    #expect(left.keptCount == 1)
    #expect(try mounted.vault.check(readsData: false).awayCount == 4)
  }

  /// All history is looked through to know what may go: so that is not done again for the little that came since.
  @Test func whatCameSinceIsTrimmedOnceItIsMuch() throws {
    let member = try member
    let scan = try scan
    try mounted.vault.setLazySettings { $0.cacheByteLimit = 2 << 20 }
    _ = try mounted.vault.fetch(scan, of: member)
    #expect(try mounted.vault.trimCache().chunkCount >= 3)
    let left = try #require(mounted.vault.context.lastTrim.withLock { $0 }).byteCount
    #expect(left <= 5 << 19)
    #expect(try mounted.vault.trimCache().chunkCount == 0)
    _ = try mounted.vault.fetch(scan, of: member)
    #expect(try mounted.vault.trimCache().chunkCount >= 3)
    // Where nobody has them they stay, and are looked at again with every sync.
    _ = try mounted.vault.fetch(scan, of: member)
    elsewhere.state.withLock { $0.isReachable = false }
    #expect(try mounted.vault.trimCache().keptCount == 5)
    elsewhere.state.withLock { $0.isReachable = true }
    #expect(try mounted.vault.trimCache().chunkCount >= 3)
  }

  /// What only an older version needs takes room like anything else.
  @Test(arguments: [false, true])
  func olderVersionsGiveWayToo(isByCommand: Bool) throws {
    let member = try member
    #expect(try mounted.vault.fetch(scan, of: member).chunkCount == 5)
    try mounted.tree.write("Emma/scan/image", "another")
    try mounted.tree.commitNow()
    try mounted.vault.setLazySettings { $0.cacheByteLimit = 2 << 20 }
    let report =
      try isByCommand ? mounted.vault.evict(scan, of: member) : mounted.vault.trimCache()
    #expect(isByCommand ? report.chunkCount == 5 : report.chunkCount >= 3)
    #expect(try mounted.vault.check(readsData: false).awayOlderCount == report.chunkCount)
    #expect(try mounted.tree.text("Emma/scan/image") == "another")
  }

  /// A mount goes on with the settings of when it began; a command beside it pins something.
  @Test func whatAnotherProcessPinsStays() throws {
    let member = try member
    let scan = try scan
    #expect(try mounted.vault.fetch(scan, of: member).chunkCount == 5)
    try mounted.vault.setLazySettings { $0.cacheByteLimit = 0 }
    let state = try StateFolder.open(root: mounted.stateRoot, vault: mounted.vault.id)
    let pin = LazySettings.Pin(member: member.id, record: scan)
    try state.storeLazySettings(LazySettings(cacheByteLimit: 0, pins: [pin]))
    #expect(try mounted.vault.evict(.root, of: member).chunkCount == 0)
    #expect(try mounted.vault.trimCache().chunkCount == 0)
    // The same where it has fetched everything, for good.
    try state.storeLazySettings(nil)
    #expect(try mounted.vault.trimCache().chunkCount == 0)
    try state.storeLazySettings(LazySettings(cacheByteLimit: 0))
    #expect(try mounted.vault.trimCache().chunkCount == 5)
  }

  /// Nor what is pinned and damaged: what that needs stays, everything else has to give way.
  @Test func aDamagedRecordKeepsTheCacheNotFromBeingTrimmed() throws {
    try mounted.tree.mkdir("Emma/other")
    try mounted.tree.write("Emma/other/note", "a note")
    try mounted.tree.commitNow()
    #expect(try mounted.vault.fetch(scan, of: member).chunkCount == 5)
    let other = try #require(member.allEntries().first { $0.title.string == "other" })
    try DirectoryStore(opening: mounted.folder).remove(member.objects.path(of: other.revision))
    try mounted.remount()
    mounted.vault.lazyChunks?.setSource(elsewhere)
    let id = try member.id
    try mounted.vault.setLazySettings { settings in
      settings.pins = [.init(member: id, record: other.record)]
      settings.cacheByteLimit = 2 << 20
    }
    #expect(throws: VaultError.self) { try mounted.vault.tendCache() }
    #expect(try mounted.vault.check(readsData: false).awayCount >= 3)
  }
}

@Suite struct ReadSequenceTests {
  private let layout = ChunkLayout.format
  private var sequence = ReadSequence()

  /// Reads half of a chunk.
  private mutating func read(_ chunk: Int, chunkCount: Int = 10) -> Range<Int> {
    let start = layout.start(of: chunk)
    return sequence.read(
      start..<start + UInt64(layout.chunkSize / 2), layout, chunkCount: chunkCount)
  }

  @Test mutating func namesWhatComesNextOnce() {
    #expect(read(0) == 1..<4)
    #expect(read(0).isEmpty)
    #expect(read(1) == 4..<5)
    #expect(read(2) == 5..<6)
  }

  @Test mutating func beginsAnewAfterAJumpAndEndsWithTheFile() {
    #expect(read(7) == 8..<10)
    #expect(read(2, chunkCount: 5) == 3..<5)
    #expect(read(3, chunkCount: 5).isEmpty)
    #expect(read(4, chunkCount: 5).isEmpty)
  }

  @Test mutating func aLookAtTheBeginningSaysNothing() {
    var named: [Range<Int>] = []
    for start in stride(from: UInt64(0), through: 256 << 10, by: 4_096) {
      named.append(sequence.read(start..<start + 4_096, layout, chunkCount: 10))
    }
    #expect(named.firstIndex { !$0.isEmpty } == named.count - 1)
    #expect(named.last == 1..<4)
  }

  @Test mutating func shortReadsHereAndThereSayNothingThoughSomeAreNeighbours() {
    var state: UInt64 = 1
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let start = state >> 33 % (64 << 20)
      let named = sequence.read(start..<start + 4_096, layout, chunkCount: 65)
      if !named.isEmpty { Issue.record("\(named) at \(start)") }
    }
  }
}
