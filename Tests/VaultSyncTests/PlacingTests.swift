import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// What two processes of one machine bring at once, each from a remote of its own.
@Suite struct PlacingTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws { family = try Family() }

  /// Of two states of a register the newer one stays, whichever is placed last.
  @Test func anOlderRegisterTakesNotThePlaceOfANewerOne() throws {
    let (desk, other) = (family[0], family[1])
    try desk.write("First", "x")
    try family.meet(at: usb)
    let register = VaultPath.device(desk.vault.person, desk.vault.device)
    let head = VaultPath.head(try desk.emma.id, desk.vault.device)
    var states: [[(path: VaultPath, bytes: [UInt8], facts: SignedFacts)]] = []
    for title in ["Second", "Third"] {
      try desk.write(title, "x")
      try desk.vault.rewriteRegister()
      let tree = try SyncHome(desk.vault, vouching: nil).tree()
      states.append(
        try [register, head].map { path in
          let bytes = try #require(desk.store.blobs[BlobPath(path.string)])
          return (path, bytes, try tree.verify(path, bytes))
        })
    }
    for state in states.reversed() {
      try other.vault.place([state[0]])
      try other.vault.placeSealedHeads([state[1]], since: other.vault.failedBarriers)
    }
    for file in states[1] { #expect(other.store.blobs[BlobPath(file.path.string)] == file.bytes) }
    // What is damaged by then is put there again.
    for file in states[1] {
      try other.store.put(BlobPath(file.path.string), [1, 2, 3])
      try other.vault.place([file])
      #expect(other.store.blobs[BlobPath(file.path.string)] == file.bytes)
    }
  }
}
