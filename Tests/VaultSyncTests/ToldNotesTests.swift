import BlobStore
import MachineState
import TestSupport
import Testing

@testable import VaultSync

/// Which notes this machine has told.
@Suite struct ToldNotesTests {
  private let store = MemoryStore()
  private var state: StateFolder { StateFolder(store: store) }

  /// The paths of those of these that were not told.
  private func untold(
    _ paths: [String], on remote: String = "usb", listed: Set<String> = []
  ) throws -> Set<String> {
    let notes = paths.map { ToldNote(path: $0, text: "It is ignored.") }
    return Set(try state.untoldNotes(notes, on: remote, listed: listed).map(\.path))
  }

  /// Somebody has taken it away, and is told when it lies there again.
  @Test func whatIsGoneIsToldWhenItComesBack() throws {
    let both = ["members/a/heads/x", "members/b/heads/x"]
    for remote in ["usb", "disk"] { #expect(try untold(both, on: remote) == Set(both)) }
    #expect(try untold([], listed: ["members/a/heads", "members/a"]) == [])
    #expect(try untold(both) == ["members/a/heads/x"])
    #expect(try untold(both, on: "disk") == [])
    // What is there still stays told.
    #expect(try untold(both, listed: ["members/a/heads", "members/b/heads"]) == [])
    #expect(try untold(both) == [])
  }

  @Test func eachIsToldOnce() throws {
    #expect(try untold(["a", "b", "a"]) == ["a", "b"])
    #expect(try untold(["b", "c"]) == ["c"])
    #expect(try untold(["a", "b", "c"]) == [])
  }

  @Test func theOldestAreForgotten() throws {
    let limit = StateFolder.toldNoteLimit
    #expect(try untold((0..<limit).map(String.init)).count == limit)
    #expect(try untold(["one more"]) == ["one more"])
    #expect(try untold(["1", "\(limit - 1)"]) == [])
    #expect(try untold(["0"]) == ["0"])
  }

  @Test func whatIsTornIsToldAgain() throws {
    _ = try untold(["a", "b"])
    let path: BlobPath = "told-notes"
    try store.replace(path, Array(#require(store.blobs[path]).dropLast(1)), durably: true)
    #expect(try untold(["a", "b"]) == ["b"])
  }
}
