import Testing
import VaultCrypto
import VaultModel
import VaultSync

struct RemoteMemoryEncodingTests {
  @Test func givesBackWhatWasRememberedAndNothingOfATornFile() throws {
    var memory = RemoteMemory()
    memory.fail(at: 5, "first\nline")
    memory.fail(at: 9, "refused")
    memory.lastSuccess = 3
    memory.findings = [
      RemoteMemory.Finding(kind: .massChange, text: "members/ab:  would delete\nmuch"),
      RemoteMemory.Finding(kind: .fork, text: "x"),
    ]
    memory.vouched = .random()
    memory.leftCargo = [
      .person(.random()): RemoteMemory.LeftCargo(
        mark: .max, weight: CargoWeight(fileCount: 3, byteCount: 1 << 40)),
      .member(.random()): RemoteMemory.LeftCargo(mark: 0, weight: CargoWeight()),
    ]
    memory.basis = .max - 3
    memory.broken = [
      .memberRoot(.random()): RemoteMemory.Broken(
        fingerprint: .max, finding: .init(kind: .damagedThere, text: "it is\n not right")),
      .head(.random(), .random()): RemoteMemory.Broken(fingerprint: 0, finding: nil),
    ]
    memory.brokenMarks = [0, 7, .max]
    memory.lastCargoLook = memory.leftCargo.keys.first
    memory.brought = [.head(.random(), .random()): 7, .device(.random(), .random()): .max]
    memory.lastLoss = 5
    (memory.lastFullLook, memory.lastLogs) = (7, 6)
    memory.returnedSegments = [.auditSegment(.random(), first: 1_025): 3]
    let bytes = memory.encoded()
    let again = try #require(RemoteMemory(decoding: bytes))
    #expect(again == memory)
    #expect(again.failures?.count == 2)
    for count in bytes.indices { #expect(RemoteMemory(decoding: Array(bytes[..<count])) == nil) }
  }

  /// A mark that joins with the space before it, and a carriage return that joins with the line feed behind it.
  @Test(arguments: ["\u{301}no", "", " two  spaces ", "no\r"])
  func keepsWhatAFailureSaid(text: String) throws {
    var memory = RemoteMemory()
    memory.failures = RemoteMemory.Failures(count: 1, first: 2, last: 3, text: text)
    memory.pendingCommitCount = 4
    let again = try #require(RemoteMemory(decoding: memory.encoded()))
    #expect(again == memory)
  }
}
