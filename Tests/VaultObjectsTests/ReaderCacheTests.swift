import BlobStore
import Glibc
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import VaultObjects

/// The files that a process has open, of which it may have no more than a limit.
private final class OpenFiles: Sendable {
  private let state = Mutex((count: 0, highest: 0))
  private let limit: Int
  private let errno: Int32

  init(limit: Int = .max, errno: Int32 = EMFILE) {
    self.limit = limit
    self.errno = errno
  }

  var count: Int { state.withLock { $0.count } }
  var highest: Int { state.withLock { $0.highest } }

  func open(_ path: BlobPath) throws(BlobStoreError) {
    let isOpen = state.withLock { state in
      guard state.count < limit else { return false }
      state.count += 1
      state.highest = max(state.highest, state.count)
      return true
    }
    if !isOpen { throw .io(path: path.string, errno: errno) }
  }

  func close() { state.withLock { $0.count -= 1 } }
}

/// A store whose files are open for as long as somebody has a reader of them.
private final class OpeningStore: InspectingStore {
  let inner: any LocalStore
  private let files: OpenFiles

  init(_ inner: any LocalStore, _ files: OpenFiles) {
    self.inner = inner
    self.files = files
  }

  func inspect(_ call: StoreCall) {}

  func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader {
    let reader = try inner.openForReading(path)
    try files.open(path)
    return OpenReader(reader, files)
  }
}

private final class OpenReader: BlobReader {
  private let inner: any BlobReader
  private let files: OpenFiles

  init(_ inner: any BlobReader, _ files: OpenFiles) {
    self.inner = inner
    self.files = files
  }

  deinit { files.close() }

  var size: UInt64 { inner.size }
  var isRemoved: Bool { inner.isRemoved }

  func read(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BlobStoreError) -> Int {
    try inner.read(at: offset, into: buffer)
  }
}

/// How many files of objects are open, of however many members.
@Suite struct ReaderCacheTests {
  private static let contents = (UInt8(0)..<30).map { [UInt8](repeating: $0, count: 5_000) }

  private func member(_ files: OpenFiles, _ readers: ReaderCache) throws -> MemoryObjects {
    try MemoryObjects(readers: readers) { OpeningStore($0, files) }
  }

  /// Puts the contents in their places and reads each of them twice.
  private func readAll(_ members: [MemoryObjects]) throws {
    for memory in members {
      for content in Self.contents {
        let digest = try memory.objects.write(.chunk, content, under: memory.keys)
        for _ in 0..<2 { #expect(try memory.objects.read(digest, 0..<5_000) == content) }
        #expect(try memory.objects.reader(digest).name == memory.objects.name(of: digest))
      }
    }
  }

  @Test func membersTogetherKeepHalfOfAllFilesOpen() throws {
    let files = OpenFiles()
    let readers = ReaderCache { 20 }
    let members = try (0..<3).map { _ in try member(files, readers) }
    try readAll(members)
    #expect(1...10 ~= files.count)
    // With the one that is taken in before others are let go of.
    #expect(files.highest <= 11)
  }

  @Test func noMoreStayOpenThanAreOfUse() {
    #expect(ReaderCache { 1_024 }.capacity() == 512)
    #expect(ReaderCache { .max }.capacity() == 1_280)
    #expect(1...1_280 ~= ReaderCache().capacity())
  }

  /// Whatever else has them open: here what others have leaves room for eight.
  @Test(arguments: [EMFILE, ENFILE]) func whereTooManyFilesAreOpenReadersMakeRoom(
    errno: Int32
  ) throws {
    let files = OpenFiles(limit: 8, errno: errno)
    let readers = ReaderCache { 1_000 }
    try readAll([try member(files, readers), try member(files, readers)])
    #expect(files.highest == 8)
    let none = OpenFiles(limit: 0, errno: errno)
    #expect(throws: VaultError.self) { try readAll([try member(none, ReaderCache { 1_000 })]) }
  }

  @Test func whatIsReadWholeIsReadAgain() throws {
    var faults: FaultyStore?
    let memory = try MemoryObjects { store in
      let made = FaultyStore(store)
      faults = made
      return made
    }
    let digest = try memory.objects.write(.chunk, Self.contents[0], under: memory.keys)
    let store = try #require(faults)
    store.fail(.read, with: .io(errno: EMFILE))
    #expect(try memory.objects.content(digest, kind: .chunk) == Self.contents[0])
    store.fail(.read, with: .io(errno: EIO))
    #expect(throws: VaultError.self) { try memory.objects.content(digest, kind: .chunk) }
  }

  @Test func filesAreClosedWithTheirMember() throws {
    let files = OpenFiles()
    let readers = ReaderCache()
    let stays = try member(files, readers)
    try readAll([stays])
    let count = files.count
    try readAll([try member(files, readers)])
    #expect(count > 0 && files.count == count)
  }
}
