import BlobStore
import MachineState
import TestSupport
import Testing

@testable import VaultSync

/// Which notes this machine has told.
@Suite struct ToldNotesTests {
  private let store = MemoryStore()
  private var state: StateFolder { StateFolder(store: store) }

  @Test func eachIsToldOnce() throws {
    #expect(try state.untoldNotes(["a", "b", "a"]) == ["a", "b"])
    #expect(try state.untoldNotes(["b", "c"]) == ["c"])
    #expect(try state.untoldNotes(["a", "b", "c"]) == [])
  }

  @Test func theOldestAreForgotten() throws {
    let limit = StateFolder.toldNoteLimit
    #expect(try state.untoldNotes((0..<limit).map(String.init)).count == limit)
    #expect(try state.untoldNotes(["one more"]) == ["one more"])
    #expect(try state.untoldNotes(["1", "\(limit - 1)"]) == [])
    #expect(try state.untoldNotes(["0"]) == ["0"])
  }

  @Test func whatIsTornIsToldAgain() throws {
    _ = try state.untoldNotes(["a", "b"])
    let path: BlobPath = "told-notes"
    try store.replace(path, Array(#require(store.blobs[path]).dropLast(1)), durably: true)
    #expect(try state.untoldNotes(["a", "b"]) == ["b"])
  }
}
