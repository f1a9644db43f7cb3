import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A record that is moved from one member to another.
@Suite struct RecordMoveTests {
  private let vault: Vault
  private let emma: Member
  private let liam: Member

  init() throws {
    vault = try MemoryVault().open()
    emma = try vault.addMember(named: #require(FileName("Emma")))
    liam = try vault.addMember(named: #require(FileName("Liam")))
  }

  /// Everything that shows of a member: paths with contents.
  private func contents(_ member: Member) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for entry in member.allEntries() where !entry.isDeleted && entry.record != .root {
      let path = member.displayPath(of: entry.record).split(separator: "/").dropFirst()
        .joined(separator: "/")
      found["\(path)/"] = []
      for item in try member.items(of: member.revision(entry.revision)) {
        found["\(path)/\(item.name.string)"] = try member.beginning(
          of: item, byteCount: Int(item.size))
      }
    }
    return found
  }

  /// A record with a file of several chunks that has two names, and a record in it with a third.
  private func visit() throws -> RecordID {
    var visit = RecordEdit.newRecord("Visit", note: "all well")
    var result = RecordEdit.newRecord("Result", in: visit.record, note: "negative")
    let chunks: [ContentDigest?] = try (0..<3).map { number in
      try emma.objects.put(.chunk, [UInt8](repeating: UInt8(number), count: Limits.chunkBytes))
    }
    let content = try emma.content(of: chunks)
    let file = FileID.random()
    for (name, edit) in [
      ("scan.tif", visit.record), ("copy.tif", visit.record), ("x", result.record),
    ] {
      let name = try #require(FileName(name))
      let item = Item(
        name: name, file: file, size: UInt64(3 * Limits.chunkBytes), content: content, time: .zero,
        linkRecords: [visit.record, result.record].sorted())
      if edit == visit.record { visit.items[name] = item } else { result.items[name] = item }
    }
    (visit.hasAllNames, result.hasAllNames) = (true, true)
    try vault.commit([visit, result], to: emma)
    return visit.record
  }

  @Test func everythingOfItIsThereAndNothingHere() throws {
    let visit = try visit()
    let before = try contents(emma)
    let new = try vault.move(visit, of: emma, into: .root, of: liam)
    #expect(try contents(liam) == before)
    #expect(try contents(emma).isEmpty)
    // One file has its three names there, and is another one than here.
    let names = try liam.allEntries().filter { $0.record != .root }
      .flatMap { try liam.items(of: liam.revision($0.revision)) }.filter { $0.name != .record }
    #expect(names.count == 3 && Set(names.map(\.file)).count == 1)
    #expect(names.allSatisfy { $0.linkRecords.contains(new) && !$0.linkRecords.contains(visit) })
    // What was is still in the history here, and comes back.
    try vault.commit(RecordRestore(emma).undeletion(of: visit).edits, to: emma)
    #expect(try contents(emma) == before)
    #expect(try vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  @Test func backAndForth() throws {
    let visit = try visit()
    let before = try contents(emma)
    let there = try vault.move(visit, of: emma, into: .root, of: liam)
    let back = try vault.move(there, of: liam, into: .root, of: emma)
    #expect(try contents(emma) == before)
    #expect(back != visit)
  }

  @Test func aNameThatIsTakenLeavesAllAsItIs() throws {
    let visit = try visit()
    let before = try contents(emma)
    try vault.commit(.newRecord("Visit", note: "another"), to: liam)
    let there = try contents(liam)
    #expect(throws: VaultError.self) { try vault.move(visit, of: emma, into: .root, of: liam) }
    #expect(try contents(emma) == before)
    #expect(try contents(liam) == there)
  }

  /// Somebody else saves into the record, or puts one into it, while it is copied.
  @Test(arguments: [true, false])
  func whatIsChangedMeanwhileStaysWithTheChange(isEdited: Bool) throws {
    let visit = try visit()
    let before = try contents(emma)
    do throws(VaultError) {
      _ = try vault.move(visit, of: emma, into: .root, of: liam) { () throws(VaultError) in
        var edit = RecordEdit(record: visit)
        edit.items[.record] = .note("changed meanwhile")
        try vault.commit(
          isEdited ? edit : .newRecord("Late", in: visit, note: "late"), to: emma)
      }
      Issue.record("it was moved without the change")
    } catch {
      guard case .changedMeanwhile = error else { throw error }
    }
    #expect(liam.children(of: .root).isEmpty)
    var expected = before
    if isEdited {
      expected["Visit/record.md"] = Array("changed meanwhile".utf8)
    } else {
      expected["Visit/Late/"] = []
      expected["Visit/Late/record.md"] = Array("late".utf8)
    }
    #expect(try contents(emma) == expected)
  }

  /// The disk fails before the record is deleted here, or when it is: it is never gone from both.
  @Test(arguments: 1...12)
  func whateverFailsItIsHereOrThere(number: Int) throws {
    let memory = try MemoryVault()
    let state = FaultyStore(memory.stateStore)
    let vault = try Vault.open(
      VaultCopy(
        id: memory.id, store: memory.store, state: StateFolder(store: state),
        clock: memory.clock.wallClock), key: memory.created.unlockKey, options: OpenOptions())
    let (emma, liam) = (
      try vault.addMember(named: #require(FileName("Emma"))),
      try vault.addMember(named: #require(FileName("Liam")))
    )
    let visit = RecordEdit.newRecord("Visit", note: "all well")
    try vault.commit(visit, to: emma)
    let before = try contents(emma)
    do throws(VaultError) {
      _ = try vault.move(visit.record, of: emma, into: .root, of: liam) { () throws(VaultError) in
        state.fail(.replace, number: number, with: .io(errno: 5))
      }
    } catch {
      guard case .io = error else { throw error }
    }
    state.failNothing()
    for seen in [vault, try memory.open()] {
      let isThere = try seen.members.contains { try contents($0) == before }
      #expect(isThere)
    }
  }

  /// Somebody saves into a record while the one is deleted that it stands in.
  @Test func ofADeletionAllCountsOrNothing() throws {
    let visit = try visit()
    let edits = try emma.edits(deleting: visit)
    let result = try #require(emma.children(of: visit).first)
    try vault.commit(
      RecordEdit(record: result.record, items: [.record: .note("positive")]), to: emma)
    let before = try contents(emma)
    #expect(throws: VaultError.self) {
      try vault.commit(edits, to: emma)
    }
    #expect(try contents(emma) == before)
    try vault.commit(emma.edits(deleting: visit), to: emma)
    #expect(try contents(emma).isEmpty)
  }

  /// What cannot be read is neither half there nor gone here.
  @Test func whatIsDamagedStays() throws {
    let memory = try MemoryVault()
    let vault = try memory.open()
    let (emma, liam) = (
      try vault.addMember(named: #require(FileName("Emma"))),
      try vault.addMember(named: #require(FileName("Liam")))
    )
    var visit = RecordEdit.newRecord("Visit", note: "all well")
    let chunk = try emma.objects.put(
      .chunk, [UInt8](repeating: 7, count: Limits.chunkBytes))
    let scan = try #require(FileName("scan.tif"))
    visit.items[scan] = Item(
      name: scan, file: .random(), size: UInt64(2 * Limits.chunkBytes),
      content: try emma.content(of: [chunk, chunk]), time: .zero)
    try vault.commit(visit, to: emma)
    let path = try #require(
      memory.store.blobs.filter { $0.value.count > Limits.chunkBytes }.keys.first)
    try memory.store.remove(path)
    #expect(throws: VaultError.self) {
      try vault.move(visit.record, of: emma, into: .root, of: liam)
    }
    #expect(liam.children(of: .root).isEmpty)
    #expect(emma.children(of: .root).map(\.title.string) == ["Visit"])
  }
}
