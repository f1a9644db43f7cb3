import BlobStore
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The other tests lean on these.
struct SupportTests {
  @Test func failsTheChosenCallOnly() throws {
    let store = FaultyStore(MemoryStore())
    store.fail(.create, number: 2, with: .noSpace)
    try store.create("a", [1])
    #expect(throws: BlobStoreError.noSpace(path: "b")) { try store.create("b", [1]) }
    try store.create("b", [1])
    store.fail(.barrier, andAllLater: true, with: .io(errno: EIO))
    for _ in 0..<3 {
      #expect(throws: BlobStoreError.io(path: "", errno: EIO)) { try store.barrier() }
    }
    store.failNothing()
    try store.barrier()
  }

  @Test func losesRepliesTearsAndRepeats() throws {
    let memory = MemoryStore()
    let store = FaultyStore(memory)
    store.fail(.put, with: .lostReply)
    #expect(throws: BlobStoreError.timedOut(path: "a")) { try store.put("a", [1]) }
    #expect(memory.blobs == ["a": [1]])
    store.fail(.put, with: .repeated)
    #expect(throws: BlobStoreError.alreadyExists(path: "b")) { try store.put("b", [2], .ifAbsent) }
    #expect(memory.blobs["b"] == [2])
    store.fail(.put, with: .torn)
    #expect(throws: BlobStoreError.self) { try store.put("c", [3, 4]) }
    #expect(memory.blobs["c"] == [3])
    store.fail(.read, with: .torn)
    try store.put("c", [3, 4])
    #expect(try store.read("c", limit: 9) == [3])
    store.fail(.remove, with: .delay(.milliseconds(1)))
    try store.remove("c")
    #expect(memory.blobs["c"] == nil)
  }

  @Test func recordsCallsInOrder() throws {
    let store = RecordingStore(MemoryStore())
    try store.create("staging/a", [1])
    try store.rename("staging/a", to: "objects/a")
    _ = try store.size(of: "objects/a")
    try store.barrier()
    #expect(
      store.calls.map(\.description) == [
        "create staging/a", "rename staging/a → objects/a", "size objects/a", "barrier",
      ])
    #expect(store.calls(.barrier, .rename).count == 2)
  }

  /// The first numbers for seed 1234567, from the public reference implementation.
  @Test func matchesSplitMix64() {
    var random = SplitMix64(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
  }

  @Test func runsPrograms() throws {
    let result = try CommandRunner.run(
      "/bin/sh", ["-c", "cat; echo $WORD >&2; pwd; exit 3"], environment: ["WORD": "hello"],
      input: Array("in\n".utf8), folder: "/usr")
    #expect(result.status == 3)
    #expect(result.output == "in\n/usr\n")
    #expect(result.errors == "hello\n")
  }

  @Test func killsWhatRunsOutOfTime() throws {
    let result = try CommandRunner.run("sleep", ["60"], timeout: .milliseconds(50))
    #expect(result.end == .timedOut)
  }

  @Test func saysThatAProgramIsMissing() {
    #expect(throws: CommandError.self) { try CommandRunner.run("/no/such/program") }
  }

  @Test func signalsARunningProgram() throws {
    let command = try RunningCommand("sleep", ["60"])
    command.signal(SIGTERM)
    #expect(command.wait().end == .signalled(SIGTERM))
  }

  @Test func removesItsFolder() throws {
    var folder: TemporaryFolder? = try TemporaryFolder()
    let path = try #require(folder?.path)
    try DirectoryStore(opening: path).create("a/b", [1])
    folder = nil
    #expect(access(path.string, F_OK) != 0)
  }
}
