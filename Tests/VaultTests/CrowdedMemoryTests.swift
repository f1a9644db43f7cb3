import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultPeople

/// What people who were made up cost this machine's memory: nothing that is needed for those who are known.
@Suite struct CrowdedMemoryTests {
  private let adults: Adults

  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.meet()
  }

  private var anna: Adults.Adult { adults.anna }

  /// Puts a person into Anna's folder whose closing names so many statements, 34 bytes each.
  private func makeUp(counting count: Int) throws {
    let words = SigningKey(seed: SecretBytes(randomCount: 32))
    let person = PersonID(rootPublicKey: words.publicKey)
    let counted = (0..<count).map { _ in StatementID.random() }.sorted()
    let body = Closing(
      person: person, rootKey: try #require(VerifyingKey(words.publicKey)), counted: counted,
      time: 1
    ).encoded()
    let path = VaultPath.closing(person, anna.vault.id.statementID(.closing, body: body))
    try anna.store.put(
      BlobPath(path.string),
      anna.vault.context.signedFiles.statement(.closing, body) { words.sign($0) })
  }

  /// Number 10 of the review: people are made up until this machine can remember no more. What it remembers stays
  /// readable, and it remembers all the same what those close whom it knows: whoever puts the folder back then brings no
  /// removed device of theirs back.
  @Test func strangersTakeNoRoomFromThoseWhoAreKnown() throws {
    // Half a MiB each, and ever less, so that no room is left for anything.
    for (size, count) in [(16_000, 32), (1_000, 18), (50, 24), (0, 20)] {
      for _ in 0..<count { try makeUp(counting: size) }
      try anna.reopen()
    }
    let before = try #require(adults.ben.vault.context.ownPerson().generation)
    try adults.ben.vault.beginGeneration(
      removing: [], words: RecoveryWords(parsing: adults.ben.words.joined(separator: " ")))
    let tip = try #require(adults.ben.vault.context.ownPerson().generation)
    try #require(tip != before)
    try adults.meet()
    try anna.reopen()
    #expect(anna.vault.context.people[adults.ben.id]?.generation == tip)
    let memory = try #require(try anna.stateStore.size(of: "people"))
    #expect(memory < UInt64(PeopleMemory.limit) + 1 << 20)

    let path = VaultPath.closing(adults.ben.id, tip)
    try anna.store.remove(BlobPath(path.string))
    try anna.reopen()
    #expect(anna.vault.context.people[adults.ben.id]?.generation == tip)
    #expect(anna.vault.problems.contains { $0.kind == .rollback && $0.path == path.string })
    #expect(anna.store.blobs[BlobPath(path.string)] != nil)
  }

  /// Somebody who may write has very many devices, each with a head: what this machine has seen of them it reads, however much that
  /// is.
  @Test func whatWasSeenOfVeryManyDevicesIsRead() throws {
    let (state, member) = (StateFolder(store: MemoryStore()), MemberID.random())
    try state.updateWatermarks { marks in
      for _ in 0..<12_000 {
        let head = VaultPath.head(member, .random())
        marks.marks.append(Watermark(path: head, counter: 1, hash: .random()))
      }
    }
    #expect(try state.loadWatermarks().marks.count == 12_000)
  }
}
