import BlobStore
import Glibc
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// A disk that cannot read its staging folder, or not even write there, until the folder has another name.
private final class DamagedStaging: InspectingStore {
  let inner: any LocalStore
  private let failing: Set<StoreCall.Kind>
  private let isPutAside = Atomic(false)

  init(_ inner: any LocalStore, failing: Set<StoreCall.Kind>) {
    self.inner = inner
    self.failing = failing
  }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    if call.kind == .rename, call.path == "staging" { isPutAside.store(true, ordering: .relaxed) }
    guard failing.contains(call.kind), call.path.string.hasPrefix("staging"),
      !isPutAside.load(ordering: .relaxed)
    else { return }
    throw .io(path: call.path.string, errno: EIO)
  }
}

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

/// Where objects are while no commit names them.
@Suite struct StagingTests {
  private let memory: MemoryVault
  private let recording: RecordingStore
  private let emma: Member

  init() throws {
    memory = try MemoryVault()
    recording = RecordingStore(memory.store)
    emma = try memory.open(on: recording).addMember(named: #require(FileName("Emma")))
    recording.forgetCalls()
  }

  private var written: [StoreCall] { recording.calls(.create, .put, .replace, .rename) }

  @Test(arguments: [[StoreCall.Kind.list], [.removeFolder], [.list, .replace], [.replace]])
  func whatADamagedDiskKeepsThereIsInNobodysWay(failing: [StoreCall.Kind]) throws {
    let folder = try TemporaryFolder()
    let disk = try DirectoryStore(making: folder.appending("vault"))
    let state = StateFolder(store: MemoryStore())
    let id = VaultID.random()
    let created = try Vault.create(
      VaultCopy(id: id, store: disk, state: state, clock: .system), device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
    func open(on store: any LocalStore) throws -> Vault {
      try Vault.open(
        VaultCopy(id: id, store: store, state: state, clock: .system), key: created.unlockKey,
        options: OpenOptions())
    }
    // Of a process that has died.
    _ = try open(on: disk).addMember(named: #require(FileName("Emma")))
    let vault = try open(on: DamagedStaging(disk, failing: Set(failing)))
    let member = try #require(vault.members.first)
    _ = try member.objects.put(.chunk, [UInt8](repeating: 1, count: 100_000))
    let problem = try #require(vault.problems.first { $0.path == "staging" })
    #expect(problem.severity == .warning)
    #expect(problem.reason.contains("nothing that was saved"), "\(problem.reason)")
  }

  /// Equal contents at once: the second thread must not take the first one's half-written file for one that was left.
  @Test func equalContentIsWrittenByOneThreadAlone() throws {
    let slow = SlowStaging(memory.store)
    let member = try #require(memory.open(on: slow).members.first)
    let content = [UInt8](repeating: 7, count: 200_000)
    let names = Mutex<Set<ContentDigest>>([])
    try Threads.run(4) { _ in
      let name = try member.objects.put(.chunk, content)
      names.withLock { _ = $0.insert(name) }
    }
    #expect(slow.meanwhile.withLock { $0 } == [])
    let name = try #require(names.withLock { $0.count == 1 ? $0.first : nil })
    #expect(try member.objects.content(name, kind: .chunk) == content)
  }

  @Test func aSmallObjectIsInMemoryUntilItIsPublished() throws {
    let name = try emma.objects.put(.chunk, [1, 2, 3])
    #expect(written.isEmpty)
    #expect(try emma.objects.read(name, 0..<3) == [1, 2, 3])
    #expect(try emma.objects.content(name, kind: .chunk) == [1, 2, 3])
    try emma.objects.publish(name)
    #expect(written.map(\.path) == [emma.objects.path(of: name)])
    #expect(try emma.objects.read(name, 0..<3) == [1, 2, 3])
  }

  /// A disk that is full says so to whoever writes a file, and not to the commit of those that it took.
  @Test(arguments: [100_000, 1_000_000])
  func aFullDiskHasRoomForTheCommitOfWhatItTook(size: Int) throws {
    let store = memory.store
    let used = store.space().totalBytes - store.space().availableBytes
    store.limit(toBytes: used + 19_000_000)
    #expect(try fill(withFilesOf: size).count * size > 10_000_000)
  }

  /// The same where bytes are left, and no inodes.
  @Test func aDiskWithoutInodesHasRoomForTheCommitOfWhatItTook() throws {
    memory.store.limit(toFiles: memory.store.blobs.count + 1000)
    #expect(try fill(withFilesOf: 70_000).count > 200)
  }

  /// Puts files into records until there is no room, and commits those that were taken.
  private func fill(withFilesOf size: Int) throws -> [RecordEdit] {
    var taken: [RecordEdit] = []
    let full = #expect(throws: VaultError.self) {
      for number in 0..<4000 {
        let content = [UInt8](repeating: 0, count: size) + Array("\(number)".utf8)
        var edit = RecordEdit.newRecord("Record \(number)", note: "a note")
        edit.items[try #require(FileName("scan"))] = try .file("scan", content, in: emma)
        taken.append(edit)
      }
    }
    guard case .noSpace = full else {
      Issue.record("\(String(describing: full))")
      return []
    }
    let commit = try emma.commit(taken)
    #expect(commit.firstFailure == nil)
    let fresh = try #require(memory.open().members.first)
    for number in taken.indices {
      #expect(fresh.record(titled: "Record \(number)") != nil)
    }
    return taken
  }

  @Test func theLastUserWhoLetsGoOfASmallObjectIsItsEnd() throws {
    var uses = [try emma.objects.stage(.chunk, [1]), try emma.objects.stage(.chunk, [1])]
    let name = uses[0].digest
    #expect(uses[1].digest == name)
    uses.removeLast()
    #expect(try emma.objects.content(name, kind: .chunk) == [1])
    uses.removeLast()
    #expect(throws: VaultError.self) { try emma.objects.content(name, kind: .chunk) }
    #expect(emma.objects.stagedCount == 0)
    #expect(written.isEmpty)
  }

  @Test func aLargeObjectThatNobodyUsesIsRemoved() throws {
    let content = [UInt8](repeating: 1, count: 100_000)
    var uses = [try emma.objects.stage(.chunk, content)]
    let name = uses[0].digest
    uses = []
    // Whoever stages it again before that finds it.
    uses = [try emma.objects.stage(.chunk, content)]
    emma.objects.removeUnused()
    #expect(try emma.objects.content(name, kind: .chunk) == content)
    uses = []
    emma.objects.removeUnused()
    #expect(throws: VaultError.self) { try emma.objects.content(name, kind: .chunk) }
    #expect(emma.objects.stagedCount == 0)
  }

  /// Equal content that is put after a commit has taken it is another object.
  @Test(arguments: [1, 100_000])
  func whoeverUsedWhatACommitHasDoesNotLetGoOfWhatWasPutSince(size: Int) throws {
    let content = [UInt8](repeating: 1, count: size)
    var before = [try emma.objects.stage(.chunk, content)]
    let name = before[0].digest
    try emma.objects.publish(name)
    emma.objects.settle()
    #expect(emma.objects.stagedCount == 0)
    let use = try emma.objects.stage(.chunk, content)
    before = []
    emma.objects.removeUnused()
    try memory.store.remove(emma.objects.path(of: name))
    #expect(try emma.objects.content(name, kind: .chunk) == content, "\(before)")
    try emma.objects.publish(use.digest)
    emma.objects.settle()
    #expect(try emma.objects.content(name, kind: .chunk) == content)
  }

  /// What a failed commit had brought to its place is named by nothing, and may be collected.
  @Test(arguments: [1, 100_000])
  func whatAFailedCommitPublishedIsStagedAgain(size: Int) throws {
    let content = [UInt8](repeating: 1, count: size)
    let use = try emma.objects.stage(.chunk, content)
    try emma.objects.publish(use.digest)
    emma.objects.restage()
    try memory.store.remove(emma.objects.path(of: use.digest))
    #expect(try emma.objects.content(use.digest, kind: .chunk) == content)
    try emma.objects.publish(use.digest)
    emma.objects.settle()
    #expect(emma.objects.stagedCount == 0)
    #expect(try emma.objects.content(use.digest, kind: .chunk) == content)
  }

  @Test func whatAFailedCommitPublishedForNobodyIsForgotten() throws {
    for number in 0..<100 {
      do {
        let use = try emma.objects.stage(.record, [UInt8(number)])
        try emma.objects.publish(use.digest)
      }
      emma.objects.restage()
    }
    #expect(emma.objects.stagedCount == 0)
  }

  @Test func aLargeObjectIsWrittenAtOnce() throws {
    _ = try emma.objects.put(.chunk, [UInt8](repeating: 1, count: 100_000))
    #expect(written.map(\.kind) == [.create])
  }

  @Test func whatIsHeldStaysWithinItsLimit() throws {
    for number in 0..<700 {
      let content =
        [UInt8](repeating: 7, count: 60_000) + [UInt8(number & 255), UInt8(number >> 8)]
      _ = try emma.objects.put(.chunk, content)
    }
    let writtenCount = written.count
    #expect(writtenCount > 100)
    #expect(writtenCount < 200)
  }

  /// Whoever writes is told at once, not when a commit comes.
  @Test func nothingIsHeldWhereTheDiskIsAlmostFull() throws {
    memory.store.limit(toBytes: 2 << 20)
    _ = try emma.objects.put(.chunk, [1])
    #expect(written.map(\.kind) == [.create])
    memory.store.limit(toBytes: 1)
    #expect {
      try emma.objects.put(.chunk, [2])
    } throws: {
      guard case VaultError.noSpace = $0 else { return false }
      return true
    }
  }

  @Test func theSameContentIsWrittenOnce() throws {
    let name = try emma.objects.put(.chunk, [1, 2])
    try emma.objects.publish(name)
    let file = memory.store.blobs[emma.objects.path(of: name)]
    #expect(try emma.objects.put(.chunk, [1, 2]) == name)
    try emma.objects.publish(name)
    #expect(memory.store.blobs[emma.objects.path(of: name)] == file)
    #expect(recording.calls(.replace, .rename).isEmpty)
  }

  @Test func aDamagedObjectInItsPlaceIsReplaced() throws {
    let name = try emma.objects.put(.chunk, [1, 2])
    let path = emma.objects.path(of: name)
    try memory.store.replace(path, [0, 0], durably: false)
    try emma.objects.publish(name)
    #expect(try emma.objects.content(name, kind: .chunk) == [1, 2])
  }
}
