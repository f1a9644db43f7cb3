import Testing
import VaultModel
import VaultSync

struct RemoteMemoryEncodingTests {
  @Test func givesBackWhatWasRememberedAndNothingOfATornFile() throws {
    var memory = RemoteMemory()
    memory.fail(at: 5, "first\nline")
    memory.fail(at: 9, "refused")
    memory.lastSuccess = 3
    let bytes = memory.encoded()
    let again = try #require(RemoteMemory(decoding: bytes))
    #expect(again == memory)
    #expect(again.failures?.count == 2)
    for count in bytes.indices { #expect(RemoteMemory(decoding: Array(bytes[..<count])) == nil) }
  }
}
