import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// What was made durable without a commit is there, once, whatever happens.
@Suite struct RedoTests {
  private let memory: MemoryVault
  private let vault: Vault
  private let emma: Member

  init() throws {
    (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("Visits", note: "none")])
  }

  private func visits(_ text: String) throws -> RecordEdit {
    var edit = RecordEdit(record: try #require(emma.record(titled: "Visits")).record)
    edit.items[.record] = .note(text)
    return edit
  }

  private func note(in vault: Vault) throws -> String? {
    let emma = try #require(vault.members.first)
    let visits = try #require(emma.record(titled: "Visits"))
    return try emma.bytes(of: "record.md", in: visits.record).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private func redoFiles(_ memory: MemoryVault) -> [BlobPath] {
    memory.stateStore.blobs.keys.filter { $0.string.hasPrefix("redo/") }
  }

  @Test func whatWasLoggedIsThereAfterAKill() throws {
    var edit = try visits("seen")
    edit.items[try #require(FileName("card.jpg"))] = try .file("card.jpg", [1, 2, 3], in: emma)
    #expect(try emma.log([edit]))
    let left = memory.afterKill()
    let next = try left.open()
    #expect(try note(in: next) == "seen")
    let found = try #require(next.members.first)
    let record = try #require(found.record(titled: "Visits")).record
    #expect(try found.bytes(of: "card.jpg", in: record) == [1, 2, 3])
    #expect(redoFiles(left).isEmpty)
    #expect(try next.check(readsData: true).problems == [])
    // It stands in a commit now.
    #expect(try note(in: left.afterKill().open()) == "seen")
  }

  @Test func theLastRecordCountsAndNamesObjectsOfEarlierOnes() throws {
    let visits = try #require(emma.record(titled: "Visits")).record
    var edit = RecordEdit(record: visits)
    for number in 1...40 {
      let name = "file \(number)"
      edit.items[try #require(FileName(name))] = try .file(name, [UInt8(number)], in: emma)
      #expect(try emma.log([edit]))
    }
    let found = try #require(try memory.afterPowerCut(seed: 1).open().members.first)
    for number in 1...40 {
      #expect(try found.bytes(of: "file \(number)", in: visits) == [UInt8(number)])
    }
  }

  @Test func aNewRecordAndARemovedFileAreLogged() throws {
    var first = try visits("seen")
    let card = try #require(FileName("card.jpg"))
    first.items[card] = try .file("card.jpg", [1], in: emma)
    _ = try emma.commit([first])
    var second = RecordEdit(record: first.record)
    second.items.updateValue(nil, forKey: card)
    second.attributes = RecordAttributes(mode: 0o750)
    let new = RecordEdit.newRecord("Vaccines", in: first.record, note: "none yet")
    #expect(try emma.log([second, new]))
    let found = try #require(try memory.afterKill().open().members.first)
    let revision = try found.revision(try #require(found.entry(first.record)).revision)
    #expect(revision.attributes.mode == 0o750)
    #expect(try found.bytes(of: "card.jpg", in: first.record) == nil)
    #expect(try found.bytes(of: "record.md", in: new.record) == Array("none yet".utf8))
  }

  /// What it builds on cannot be read, for whoever logged it or for who finds it: it is there once that is mended, and takes
  /// nothing back of what was saved since.
  @Test(arguments: [true, false])
  func whatCannotBeTakenYetIsTakenLater(commits: Bool) throws {
    _ = try emma.commit([.newRecord("Other", note: "none")])
    let visits = try #require(emma.record(titled: "Visits"))
    let path = BlobPath(emma.objects.path(of: visits.revision).string)
    let revision = try memory.store.read(path, limit: 1 << 20)
    try memory.store.remove(path)
    func other(_ text: String, in vault: Vault) throws -> (emma: Member, edit: RecordEdit) {
      let emma = try #require(vault.members.first)
      var edit = RecordEdit(record: try #require(emma.record(titled: "Other")).record)
      edit.items[.record] = .note(text)
      return (emma, edit)
    }
    let (logging, edit) = try other("too", in: memory.open())
    let edits = [try self.visits("seen"), edit]
    #expect(try logging.log(edits))
    if commits {
      let commit = try logging.commit(edits, foldsRedo: true)
      #expect(commit.failures.keys.map(\.self) == [visits.record])
    }
    let left = memory.afterKill()
    for _ in 0..<2 {
      let next = try left.open()
      #expect(next.problems.contains { $0.kind == .unfinished })
      let (emma, _) = try other("", in: next)
      let record = try #require(emma.record(titled: "Other")).record
      #expect(try emma.bytes(of: "record.md", in: record) == Array("too".utf8))
      #expect(!redoFiles(left).isEmpty)
    }
    let (emma, later) = try other("later", in: left.open())
    _ = try emma.commit([later])
    try left.store.put(path, revision)
    let mended = left.afterKill()
    let next = try mended.open()
    #expect(try note(in: next) == "seen")
    let record = try #require(emma.record(titled: "Other")).record
    #expect(
      try next.members.first?.bytes(of: "record.md", in: record) == Array("later".utf8))
    #expect(redoFiles(mended).isEmpty)
    #expect(try next.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  /// FAT has no number that would tell it.
  @Test func whatWasLoggedWhereFoldersCannotBeToldApartIsBroughtIn() throws {
    #expect(try emma.log([visits("seen")]))
    let path = try #require(redoFiles(memory).first { $0.name == emma.id.hex })
    let file = try memory.stateStore.read(path, limit: RedoFile.byteCount)
    let keys = emma.register.keys
    let entry = try #require(RedoFile.decode(file, path: path.string) { keys[$0] }.first)
    var record = entry.record
    record.folder = 7
    let bytes = RedoFile.encode(
      record, sequence: entry.sequence, with: keys.current, path: path.string)
    try memory.stateStore.overwrite(path, at: 0, bytes)
    #expect(try note(in: memory.afterKill().open()) == "seen")
  }

  /// As where access was given back, and the key of before has not come.
  @Test func whatIsSealedWithAKeyThatIsNotHereStays() throws {
    #expect(try emma.log([visits("seen")]))
    let left = memory.afterKill()
    let path = try #require(redoFiles(left).first { $0.name == emma.id.hex })
    let file = try left.stateStore.read(path, limit: RedoFile.byteCount)
    try left.stateStore.overwrite(path, at: 16, [UInt8](repeating: 7, count: 8))
    #expect(try left.open().problems.map(\.kind) == [.unfinished])
    try left.stateStore.overwrite(path, at: 16, Array(file[16..<24]))
    #expect(try note(in: left.open()) == "seen")
    #expect(redoFiles(left).isEmpty)
  }

  // MARK: Once

  @Test func whatACommitHasIsNotDoneAgain() throws {
    let other = try memory.open()
    let edit = try visits("first")
    #expect(try emma.log([edit]))
    _ = try emma.commit([edit], foldsRedo: true)
    #expect(!emma.hasLogged)
    // Another process changes it after that; then the one that had logged dies.
    _ = try #require(other.members.first).commit([visits("second")])
    let left = memory.afterKill()
    #expect(redoFiles(left) != [])
    #expect(try note(in: left.open()) == "second")
    #expect(redoFiles(left).isEmpty)
  }

  /// After a cut somebody who has forgotten the password makes the machine a device anew, by the words.
  @Test func whatTheDeviceOfBeforeHadCommittedIsNotDoneAgain() throws {
    let other = try memory.open()
    let edit = try visits("first")
    #expect(try emma.log([edit]))
    _ = try emma.commit([edit], foldsRedo: true)
    _ = try #require(other.members.first).commit([visits("second")])
    let left = memory.afterKill()
    #expect(redoFiles(left) != [])
    let copy = VaultCopy(
      id: left.id, store: left.store, state: left.state, clock: left.clock.wallClock)
    let key = try Vault.recover(
      copy, words: left.created.words, device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
    let anew = try Vault.open(copy, key: key)
    try #require(anew.device != vault.device)
    #expect(try note(in: anew) == "second")
    #expect(redoFiles(left).isEmpty)
  }

  /// A mount that was there when the words made the machine another device goes on as the one before.
  @Test func whatAProcessOfTheDeviceOfBeforeCommitsIsNotDoneAgain() throws {
    func copy(of memory: MemoryVault) -> VaultCopy {
      VaultCopy(
        id: memory.id, store: memory.store, state: memory.state, clock: memory.clock.wallClock)
    }
    let key = try Vault.recover(
      copy(of: memory), words: memory.created.words, device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
    let anew = try Vault.open(copy(of: memory), key: key)
    let there = try #require(anew.members.first)
    _ = try there.commit([.newRecord("Other")])
    let edit = try visits("first")
    #expect(try emma.log([edit]))
    _ = try emma.commit([edit], foldsRedo: true)
    _ = try there.commit([visits("second")])
    let left = memory.afterKill()
    #expect(redoFiles(left) != [])
    #expect(try note(in: Vault.open(copy(of: left), key: key)) == "second")
    #expect(redoFiles(left).isEmpty)
  }

  @Test func whatIsLoggedAfterACommitIsDone() throws {
    for text in ["first", "second", "third"] {
      let edit = try visits(text)
      #expect(try emma.log([edit]))
      #expect(try note(in: memory.afterKill().open()) == text)
      _ = try emma.commit([edit], foldsRedo: true)
      #expect(try note(in: memory.afterKill().open()) == text)
    }
  }

  /// A file was made, synced, and removed again before the commit: nothing is left to commit.
  @Test func aCommitOfNothingTakesBackWhatWasLogged() throws {
    #expect(try emma.log([.newRecord("Draft")]))
    _ = try emma.commit([], foldsRedo: true)
    #expect(!emma.hasLogged)
    #expect(try memory.afterKill().open().members.first?.record(titled: "Draft") == nil)
    #expect(try emma.log([.newRecord("Final")]))
    #expect(try memory.afterKill().open().members.first?.record(titled: "Final") != nil)
  }

  @Test func aCommitOfOthersDoesNotClaimIt() throws {
    #expect(try emma.log([visits("seen")]))
    _ = try emma.commit([.newRecord("Other")])
    #expect(emma.hasLogged)
    #expect(try note(in: memory.afterKill().open()) == "seen")
  }

  /// Between its commit and its end a crash of the second process changes nothing either.
  @Test func doingItIsCutAnywhere() throws {
    #expect(try emma.log([visits("seen")]))
    for inState in [false, true] {
      for number in 1... {
        let left = memory.afterKill()
        (inState ? left.stateStore : left.store).cut(after: number)
        let isDone = (try? left.open()).map { $0.problems.isEmpty } ?? false
        for seed in Seeds.first(3) {
          let after = left.afterPowerCut(seed: seed)
          #expect(try note(in: after.open()) == "seen", "call \(number), seed \(seed)")
        }
        if isDone, redoFiles(left).isEmpty { break }
      }
    }
  }

  // MARK: Bad days

  @Test func aRecordThatIsCutIsThereOrNot() throws {
    #expect(try emma.log([visits("first")]))
    for number in 1...3 {
      let left = memory.afterKill()
      let vault = try left.open()
      let emma = try #require(vault.members.first)
      left.stateStore.cut(after: number)
      let isLogged = try emma.log([visits("second")])
      for seed in Seeds.first(5) {
        let after = try note(in: left.afterPowerCut(seed: seed).open())
        #expect(isLogged ? after == "second" : ["first", "second"].contains(after))
      }
    }
  }

  // MARK: Closed and opened again

  /// As a member is whose access ended and was given again, while the process lives.
  private func openedAgain() throws -> Member {
    vault.openMembers.withLock { _ = $0.removeValue(forKey: emma.id) }
    _ = try vault.refreshMembers()
    return try #require(vault.member(emma.id))
  }

  @Test func whatIsLoggedOnceItIsOpenedAgainIsThereAfterAKill() throws {
    for text in ["first", "second"] {
      #expect(try emma.log([visits(text)]))
      _ = try emma.commit([visits(text)], foldsRedo: true)
    }
    let again = try openedAgain()
    #expect(again !== emma)
    #expect(try again.log([visits("third")]))
    #expect(try note(in: memory.afterKill().open()) == "third")
  }

  /// What was logged before stays, and what comes is committed.
  @Test func whatWasLoggedBeforeItWasOpenedAgainIsThereAfterAKill() throws {
    #expect(try emma.log([visits("first")]))
    let again = try openedAgain()
    let other = RecordEdit.newRecord("Other", note: "too")
    #expect(try !again.log([other]))
    _ = try again.commit([other], foldsRedo: true)
    #expect(emma.hasLogged && !again.hasLogged)
    let left = try memory.afterKill().open()
    #expect(try note(in: left) == "first")
    let found = try #require(left.members.first)
    #expect(try found.bytes(of: "record.md", in: other.record) == Array("too".utf8))
    // As soon as whoever logged it has committed it, the file is free.
    _ = try emma.commit([visits("first")], foldsRedo: true)
    #expect(try again.log([visits("second")]))
    #expect(try note(in: memory.afterKill().open()) == "second")
  }

  @Test func everyFlippedByteEndsTheFileThere() throws {
    #expect(try emma.log([visits("first")]))
    #expect(try emma.log([visits("second")]))
    let path = emma.redoLog.path
    let file = try memory.stateStore.read(path, limit: RedoFile.byteCount)
    let keys = emma.register.keys
    let decode = { RedoFile.decode($0, path: path.string) { keys[$0] } }
    #expect(decode(file).map(\.sequence) == [1, 2])
    for (before, start) in [(0, 0), (1, RedoFile.blockSize)] {
      let length = file[(start + 4)..<(start + 8)].reduce(0) { $0 << 8 | Int($1) }
      for index in start..<start + RedoFile.headerSize + length {
        var torn = file
        torn[index] ^= 0x10
        #expect(decode(torn).count == before, "byte \(index)")
      }
    }
    for count in [0, 1, 35, 36, 100, 4095, 4096, 4100] {
      #expect(decode(Array(file.prefix(count))).count < 2)
    }
    #expect(RedoFile.decode(file, path: "redo/elsewhere") { keys[$0] } == [])
  }

  /// A later version had the vault, and then this one again: what that one has saved is not thrown away.
  @Test func whatALaterVersionLoggedStays() throws {
    #expect(try emma.log([visits("first")]))
    let path = emma.redoLog.path
    var file = try memory.stateStore.read(path, limit: RedoFile.byteCount)
    let unknown = RedoFile.encode(
      [0xff, 0xff, 0xff], sequence: 2, with: emma.register.keys.current, path: path.string)
    file.replaceSubrange(RedoFile.blockSize..<RedoFile.blockSize + unknown.count, with: unknown)
    try memory.stateStore.replace(path, file, durably: true)
    let left = memory.afterKill()
    let problem = try #require(try left.open().problems.first { $0.kind == .unfinished })
    #expect(problem.reason.contains("later version"), "\(problem.reason)")
    #expect(try left.stateStore.read(path, limit: RedoFile.byteCount) == file)
  }

  @Test func whatIsInFilesOfItsOwnIsNotLogged() throws {
    var edit = try visits("seen")
    edit.items[try #require(FileName("scan"))] = try .file(
      "scan", [UInt8](repeating: 1, count: 100_000), in: emma)
    #expect(try !emma.log([edit]))
    #expect(!emma.hasLogged)
  }

  @Test func aFullFileAsksForACommit() throws {
    var count = 0
    while try emma.log([visits("text \(count)")]) { count += 1 }
    #expect(count == RedoFile.byteCount / RedoFile.blockSize)
    _ = try emma.commit([visits("text \(count)")], foldsRedo: true)
    #expect(try emma.log([visits("more")]))
    #expect(try note(in: memory.afterKill().open()) == "more")
  }

  @Test func aDiskThatRefusesAsksForACommit() throws {
    let faulty = FaultyStore(memory.stateStore)
    let vault = try Vault.open(
      VaultCopy(
        id: memory.id, store: memory.store, state: StateFolder(store: faulty),
        clock: memory.clock.wallClock), key: memory.created.unlockKey, options: OpenOptions())
    let emma = try #require(vault.members.first)
    #expect(try emma.log([visits("first")]))
    faulty.fail(.overwrite, with: .io(errno: 5))
    #expect(try !emma.log([visits("second")]))
    // Whether it is on the disk nobody knows, so nothing may follow it.
    #expect(try !emma.log([visits("second")]))
    _ = try emma.commit([visits("third")], foldsRedo: true)
    #expect(try note(in: memory.afterKill().open()) == "third")
    #expect(try emma.log([visits("fourth")]))
    #expect(try note(in: memory.afterKill().open()) == "fourth")
  }

  @Test func aViewOnlyOpensWithoutIt() throws {
    #expect(try emma.log([visits("seen")]))
    let left = memory.afterKill()
    let view = try left.open(OpenOptions(readOnly: true))
    #expect(try note(in: view) == "none")
    #expect(view.problems.map(\.kind) == [.unfinished])
    #expect(try note(in: left.open()) == "seen")
    #expect(try left.open(OpenOptions(readOnly: true)).problems == [])
  }

  @Test func closingKeepsWhatIsInNoCommit() throws {
    #expect(try emma.log([visits("seen")]))
    try vault.close()
    #expect(try note(in: memory.afterKill().open()) == "seen")
  }

  @Test func closingRemovesWhatIsNotNeeded() throws {
    let edit = try visits("seen")
    #expect(try emma.log([edit]))
    _ = try emma.commit([edit], foldsRedo: true)
    try vault.close()
    #expect(redoFiles(memory).isEmpty)
    // Then no head speaks of it any more.
    _ = try #require(try memory.open().members.first).commit([visits("more")])
    let again = try #require(try memory.open().members.first)
    #expect(again.heads.withLock { $0.loaded.values.flatMap(\.head.redone) } == [])
  }
}
