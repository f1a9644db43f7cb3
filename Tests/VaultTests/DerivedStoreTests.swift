import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault

/// What a machine has derived from a member's records.
@Suite struct DerivedStoreTests {
  private let memory: MemoryVault
  private let content = DerivedContent(.searchIndex)
  private let bytes = Array("penicillin".utf8)

  init() throws {
    memory = try MemoryVault()
    let vault = try memory.open()
    for name in ["Emma", "Liam"] { _ = try vault.addMember(named: #require(FileName(name))) }
    try vault.close()
  }

  private func member(_ name: String, of vault: Vault) throws -> Member {
    let title = try #require(FileName(name))
    return try #require(vault.member(named: title))
  }

  private var files: [BlobPath: [UInt8]] {
    memory.stateStore.blobs.filter { $0.key.string.hasPrefix("derived/") }
  }

  @Test func whatIsStoredIsThereForTheNextProcess() throws {
    let vault = try memory.open()
    let emma = try member("Emma", of: vault)
    #expect(try emma.derived.load(content) == nil)
    try emma.derived.store(bytes, as: content)
    #expect(try memory.open().member(emma.id)?.derived.load(content) == bytes)
    // Neither of another kind, nor of another content, nor of another member.
    #expect(try emma.derived.load(DerivedContent(.searchJournal)) == nil)
    #expect(try member("Liam", of: vault).derived.load(content) == nil)
    try emma.derived.remove(content)
    #expect(files.isEmpty)
  }

  @Test func whatIsMadeOfAFileIsFoundByItsContentAlone() throws {
    func item(_ name: String, _ content: Item.Content, size: UInt64) throws -> DerivedContent {
      DerivedContent(
        .text,
        of: Item(
          name: try #require(FileName(name)), file: .random(), size: size,
          mediaType: name, content: content, time: .zero))
    }
    let emma = try member("Emma", of: memory.open())
    let chunk = ContentDigest.random()
    try emma.derived.store(bytes, as: item("a", .chunks([chunk, nil]), size: 70))
    #expect(try emma.derived.load(item("b", .chunks([chunk, nil]), size: 70)) == bytes)
    for other in [
      try item("a", .chunks([chunk]), size: 70), try item("a", .chunks([nil, chunk]), size: 70),
      try item("a", .chunks([chunk, nil]), size: 71),
      try item("a", .chunks([chunk, .random()]), size: 70),
      try item("a", .indexes([chunk, .zero]), size: 70),
      try item("a", .inline(chunk.bytes + ContentDigest.zero.bytes), size: 70),
      DerivedContent(.text),
    ] { #expect(try emma.derived.load(other) == nil) }
  }

  @Test func oneThingOfTwoMembersHasTwoNamesAndNothingReadable() throws {
    let vault = try memory.open()
    for name in ["Emma", "Liam"] { try member(name, of: vault).derived.store(bytes, as: content) }
    #expect(Set(files.keys.map(\.name)).count == 2)
    for (path, file) in files {
      #expect(path.name.count == 64)
      #expect(!file.contains(bytes))
    }
  }

  @Test func whatIsTornOrChangedOrMovedIsMadeAgain() throws {
    let emma = try member("Emma", of: memory.open())
    for change in 0..<4 {
      try emma.derived.store(bytes, as: content)
      let (path, file) = try #require(files.first)
      var changed = file
      switch change {
      case 0: changed = Array(file.dropLast())
      case 1: changed = []
      case 2: changed[20] ^= 1
      default:
        // Well sealed, in the place of something else.
        let other = DerivedContent(.searchJournal)
        try emma.derived.store(Array("other".utf8), as: other)
        let journal = try #require(files.first { $0.key != path })
        changed = journal.value
        try emma.derived.remove(other)
      }
      try memory.stateStore.replace(path, changed, durably: true)
      #expect(try emma.derived.load(content) == nil)
      #expect(files.isEmpty, "what nobody can read stayed")
    }
  }

  @Test func anotherMachineOfThePersonCannotReadIt() throws {
    let emma = try member("Emma", of: memory.open())
    let epoch = emma.register.keys.current
    let binding = Binding(vault: memory.id)
    let own = DerivedKeys(
      machine: memory.created.unlockKey.sealingKey(binding: binding), epoch: epoch)
    let other = DerivedKeys(
      machine: DeviceUnlockKey.random().sealingKey(binding: binding), epoch: epoch)
    let file = own.seal(bytes, path: "derived/a/b")
    #expect(own.open(file, path: "derived/a/b") == bytes)
    #expect(own.open(file, path: "derived/a/c") == nil)
    #expect(other.open(file, path: "derived/a/b") == nil)
    #expect(own.name(of: [1]) != other.name(of: [1]))
  }

  @Test func withoutRoomNothingIsStoredAndNothingFails() throws {
    let emma = try member("Emma", of: memory.open())
    memory.stateStore.limit(toBytes: 0)
    try emma.derived.store(bytes, as: content)
    memory.stateStore.limit(toBytes: nil)
    #expect(try emma.derived.load(content) == nil)
  }

  @Test func itGoesOnInANewEpochAndTheOldFileGoes() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    let anna = adults.anna
    let emma = try #require(anna.emma)
    try emma.derived.store(bytes, as: content)
    let before = anna.stateStore.derived
    try anna.vault.beginEpoch(of: emma, without: [adults.ben.id], keepsHistory: true)
    #expect(try emma.derived.load(content) == bytes)
    let after = anna.stateStore.derived
    #expect(after.count == 1 && after != before)
    #expect(try emma.derived.load(content) == bytes)
  }

  @Test func itGoesWhenAccessEnds() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    let ben = adults.ben
    try #require(ben.emma).derived.store(bytes, as: content)
    #expect(ben.stateStore.derived.count == 1)
    try adults.anna.vault.beginEpoch(
      of: #require(adults.anna.emma), without: [ben.id], keepsHistory: true)
    try adults.carry(from: adults.anna, to: ben)
    // As a mount does at its next look.
    _ = try ben.vault.refreshMembers()
    #expect(ben.stateStore.derived.isEmpty)
    #expect(ben.emma == nil)
  }

  @Test func itGoesWhenSomebodyLeaves() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    let ben = adults.ben
    let emma = try #require(ben.emma)
    try emma.derived.store(bytes, as: content)
    try ben.vault.leave(emma)
    try ben.vault.close()
    #expect(ben.stateStore.derived.isEmpty)
  }

  @Test func whatIsOfNoMemberGoesWhenTheVaultIsOpened() throws {
    let emma = try member("Emma", of: memory.open())
    try emma.derived.store(bytes, as: content)
    for path in ["derived/\(MemberID.random().hex)/a", "derived/not a member/b", "derived/c"] {
      try memory.stateStore.replace(BlobPath(path), [1], durably: true)
    }
    _ = try memory.open()
    #expect(files.count == 1)
    #expect(try emma.derived.load(content) == bytes)
  }

  @Test func beyondTheLimitWhatWasOfUseLongestAgoGoes() throws {
    let folder = try TemporaryFolder()
    let store = try DirectoryStore.make(folder.appending("state"))
    let state = StateFolder(store: store)
    for name in ["a", "b", "c"] {
      try store.replace(
        BlobPath("derived/\(name)/x"), [UInt8](repeating: 1, count: 100), durably: false)
    }
    // Whatever the tick of the file system's times is.
    let last = try #require(try store.lastUse(of: "derived/c/x"))
    while try store.lastUse(of: "derived/a/x") ?? 0 <= last {
      try store.noteUse(of: "derived/a/x")
    }
    try state.trimDerived(to: 300)
    #expect(try state.derivedByteCount() == 300)
    try state.trimDerived(to: 299)
    #expect(try store.size(of: "derived/b/x") == nil)
    try state.trimDerived(to: 100)
    #expect(try store.size(of: "derived/a/x") == 100)
    #expect(try store.size(of: "derived/c/x") == nil)
    try state.removeDerived()
    #expect(try state.derivedByteCount() == 0)
  }
}

extension MemoryStore {
  fileprivate var derived: Set<String> {
    Set(blobs.keys.map(\.string).filter { $0.hasPrefix("derived/") })
  }
}
