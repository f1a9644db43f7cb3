import TestSupport
import Testing
import Threads
import VaultModel

@testable import Vault

/// Everyone who follows a member's changes hears of each once, whoever else follows them.
@Suite struct ChangesTests {
  private let replicas: Replicas
  private let member: Member

  init() throws {
    replicas = try Replicas(count: 2)
    member = try replicas[0].member
  }

  private func follow() -> (mount: Changes, search: Changes) {
    (Changes(of: member, by: .others), Changes(of: member, by: .anybody))
  }

  @Test func oneFollowerTakesNothingFromAnother() throws {
    let (mount, search) = follow()
    let edit = RecordEdit.newRecord("Of the other device")
    try replicas[1].commit(edit)
    try replicas.carry(from: 1, to: 0)
    #expect(mount.take() == [edit.record])
    #expect(mount.take() == [])
    #expect(search.waiting == [edit.record])
    // Whoever begins now hears of what comes now.
    #expect(Changes(of: member, by: .anybody).take() == [])
    #expect(search.take() == [edit.record])
  }

  @Test func whatThisProcessWroteIsNewsForWhoeverDidNotWriteIt() throws {
    let (mount, search) = follow()
    let edit = RecordEdit.newRecord("Mine")
    try replicas[0].commit(edit)
    #expect(mount.take() == [])
    #expect(search.take() == [edit.record])
  }

  /// What a join makes nobody has asked for, and a copy of what lost is a record that nobody had.
  @Test func whatAJoinMadeIsNewsForEverybody() throws {
    let edit = RecordEdit.newRecord("Both")
    try replicas[0].commit(edit)
    try replicas.everyoneMeets()
    for device in 0...1 {
      try replicas[device].commit(
        RecordEdit(record: edit.record, items: [.record: .note("of \(device)")]))
    }
    let (mount, search) = follow()
    try replicas.carry(from: 1, to: 0)
    let copies = try Set(replicas[0].conflicts.map(\.record))
    try #require(!copies.isEmpty)
    for changes in [mount, search] {
      #expect(changes.take().isSuperset(of: copies.union([edit.record])))
    }
  }

  /// Of what is read anew those that are others now are news, and no others.
  @Test func whatIsReadAnewIsNewsWhereItDiffers() throws {
    try replicas[1].commit(.newRecord("Before"))
    try replicas.everyoneMeets()
    let (mount, search) = follow()
    try member.heads.withLock { (heads) throws in _ = try member.readAnew(&heads) }
    #expect(mount.take() == [] && search.take() == [])
    let edit = RecordEdit.newRecord("Of the other device")
    try replicas[1].commit(edit)
    try Replicas.carry(from: replicas[1].store, to: replicas[0].store)
    try member.heads.withLock { (heads) throws in _ = try member.readAnew(&heads) }
    #expect(mount.take() == [edit.record])
    #expect(search.take() == [edit.record])
  }

  @Test func nothingIsKeptForWhoeverHasGone() throws {
    var changes: Changes? = Changes(of: member, by: .anybody)
    try replicas[0].commit(.newRecord("Mine"))
    #expect(changes?.waiting.count == 1)
    changes = nil
    #expect(member.state.withLock { $0.changes.followers.isEmpty })
  }

  /// A page tells whoever has it open, also of what a command beside it has given to somebody.
  @Test func whoMayDoWhatIsNewsInEveryProcess() throws {
    let adults = try Adults()
    let (page, command) = (adults.anna.vault, try adults.anna.open(on: adults.anna.store))
    func look() throws -> UInt64 {
      _ = try page.refreshMembers()
      for member in page.members { _ = try member.refresh() }
      return page.accessChanges
    }
    let before = try look()
    #expect(try look() == before)
    // Nor is it news that somebody has looked at people, or that what was looked at has been logged.
    _ = try page.knownPeople()
    page.audit.note(.read, member: page.members.first?.id)
    try page.audit.publish()
    _ = try page.knownPeople()
    #expect(try look() == before)
    let emma = try #require(command.members.first)
    try command.share(emma, with: adults.ben.id, role: .editor)
    let shared = try look()
    #expect(shared != before)
    #expect(try look() == shared)
    try command.noteComparedWords(with: adults.ben.id, name: "Ben")
    #expect(command.accessChanges > 0)
    _ = try command.addMember(named: #require(FileName("Oscar")))
    #expect(try look() != shared)
  }
}
