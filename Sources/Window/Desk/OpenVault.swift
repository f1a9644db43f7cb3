import Notes
import Pictures
import Search
import Threads
import Vault
import VaultErrors
import VaultModel

/// A vault that the page shows. Safe to use from any thread.
final class OpenVault: Sendable {
  let vault: Vault
  let pictures: Pictures
  let lostVersions = LostVersions()
  let sliceOrders = SliceOrders()
  private let gate: any VaultGate
  /// For one at a time.
  private let search: Guarded<VaultSearch>
  private let looking = Guarded<ContinuousClock.Instant?>(nil)
  private let changing = Guarded(())
  private let state: Guarded<State>

  private struct State {
    var version: UInt64 = 0
    var followed: [(member: Member, changes: Changes)] = []
    var accessChanges: UInt64 = 0
    var sought = SoughtWords()
    var timelines: [Bool: (version: UInt64, rows: [TimelineRow])] = [:]
  }

  init(_ vault: Vault, _ gate: any VaultGate) throws {
    self.vault = vault
    self.gate = gate
    pictures = Pictures(gate.renderer)
    search = Guarded(try VaultSearch(vault, gate.renderer))
    state = Guarded(State())
    followMembers()
  }

  // MARK: What others do

  /// Another number whenever something has changed.
  var version: UInt64 {
    state.withLock { state in
      let accessChanges = vault.accessChanges
      var hasNews = accessChanges != state.accessChanges
      state.accessChanges = accessChanges
      for (_, changes) in state.followed where !changes.take().isEmpty { hasNews = true }
      if hasNews { state.version += 1 }
      return state.version
    }
  }

  /// Something that shows has changed that is not in the vault.
  func noteChange() { state.withLock { $0.version += 1 } }

  private func followMembers() {
    let members = vault.members
    state.withLock { state in
      state.followed.removeAll { one in !members.contains { $0 === one.member } }
      for member in members where !state.followed.contains(where: { $0.member === member }) {
        state.followed.append((member, Changes(of: member, by: .anybody)))
      }
    }
  }

  /// Takes in what mounts, commands and other devices have written, at most once a second.
  ///
  /// - Parameter isDue: Whether it is done however short ago that was.
  /// - Returns: What could not be taken in, which shows as it was before.
  @discardableResult
  func lookAround(isDue: Bool = false) -> (any Error)? {
    looking.withLock { last in
      if !isDue, let last, last + .seconds(1) > .now { return nil }
      defer { last = .now }
      gate.takeInMounts()
      var failure: (any Error)?
      do throws(VaultError) { _ = try vault.refreshMembers() } catch { failure = error }
      followMembers()
      for member in vault.members {
        do throws(VaultError) {
          _ = try member.refresh()
          if !vault.isReadOnly, member.isToBeJoined { _ = try member.joinConcurrent() }
        } catch { failure = failure ?? error }
      }
      return failure
    }
  }

  // MARK: Looking

  /// The records of these members, newest first: those that anybody would look for, no folders that only hold others, and no
  /// parts of another record, as the folders of a patient's disc are.
  func timeline(deleted: Bool) -> [TimelineRow] {
    let version = version
    if let known = state.withLock({ $0.timelines[deleted] }), known.version == version {
      return known.rows
    }
    var rows: [TimelineRow] = []
    for member in vault.members {
      var wholes = WholeRecords(member)
      for entry in member.allEntries()
      where entry.record != .root && entry.isDeleted == deleted && wholes.isWhole(entry) {
        rows.append(TimelineRow(entry, of: member.id))
      }
    }
    rows.sort { $1.age < $0.age }
    state.withLock { $0.timelines[deleted] = (version, rows) }
    return rows
  }

  /// What a text finds in these members' records, newest first, with the place where it stands.
  func find(
    _ text: String, in members: [Member], limit: Int,
    isWanted: @Sendable (RecordEntry) -> Bool
  ) throws -> (found: [(row: TimelineRow, excerpt: String)], total: Int) {
    try search.withLock { search in
      let query = search.query(text)
      if query.isEmpty { return ([], 0) }
      try search.catchUp(members)
      let (hits, total) = try search.find(query, in: members, limit: limit, isWanted: isWanted)
      return (
        try hits.map {
          (TimelineRow($0.entry, of: $0.member.id), try search.excerpt(of: $0, query).text)
        }, total
      )
    }
  }

  /// The name under which an address has what was looked for.
  func name(ofSought words: String) -> String { state.withLock { $0.sought.name(of: words) } }

  /// What was looked for under this name; nil if it is not known any more.
  func sought(_ name: String) -> String? { state.withLock { $0.sought.words(named: name) } }

  /// How many versions that lost wait for somebody to decide.
  ///
  /// - Throws: What reading throws.
  func conflictCount() throws(VaultError) -> Int {
    var count = 0
    for member in vault.members { count += try lostVersions.originals(in: member).count }
    return count
  }

  // MARK: Remotes

  /// What the vault is called.
  var name: String { gate.name }

  func remotes() throws -> [RemoteLine] { try gate.remotes(of: vault) }

  /// Syncs with all of them, and takes in what has come.
  ///
  /// - Returns: What did not go through, and what a person should look at.
  func sync(
    _ progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws -> [RemoteProblem] {
    gate.takeInMounts()
    let problems = try gate.sync(vault, progress: progress)
    lookAround(isDue: true)
    return problems
  }

  // MARK: Changing

  /// Runs what changes something: one at a time, and on what there is now, whoever has written it a moment ago. What is
  /// written after that, by another process, an edit tells by its `base`.
  func change(_ body: () throws -> Void) throws {
    try changing.withLock { _ in
      lookAround(isDue: true)
      try body()
    }
  }

  /// The folder in which a record of this type stands, which is made where there is none.
  func folder(for entry: RecordEntry, in member: Member) throws(VaultError) -> RecordID {
    guard let type = RecordType(parsing: entry.type) else { return .root }
    let (parent, edits) = member.place(for: type)
    if !edits.isEmpty { try commit(edits, to: member) }
    return parent
  }

  /// Moves a record to another member.
  ///
  /// - Returns: The record's id there.
  /// - Throws: As `Vault.move`.
  func move(
    _ record: RecordID, of source: Member, into parent: RecordID, of target: Member
  ) throws(VaultError) -> RecordID {
    let new = try vault.move(record, of: source, into: parent, of: target)
    vault.audit.note(.create, member: target.id, record: new, detail: "moved")
    vault.audit.note(.delete, member: source.id, record: record, detail: "moved")
    return new
  }

  func commit(_ edits: [RecordEdit], to member: Member) throws(VaultError) {
    try vault.commit(edits, to: member)
  }

  /// Commits edits that say what they are of; false, with nothing committed, where that was changed meanwhile.
  func commitIfUnchanged(_ edits: [RecordEdit], to member: Member) throws(VaultError) -> Bool {
    do { try commit(edits, to: member) } catch {
      guard case .changedMeanwhile = error else { throw error }
      return false
    }
    return true
  }
}

/// A record in a list.
struct TimelineRow: Sendable {
  let age: RecordAge
  let member: MemberID
  let record: RecordID

  init(_ entry: RecordEntry, of member: MemberID) {
    (age, self.member, record) = (RecordAge(entry), member, entry.record)
  }
}

extension RecordEntry {
  /// Whether it is more than a folder that holds others.
  var isOfInterest: Bool {
    !isBare || !type.isEmpty || !date.isEmpty || hasUnreadableFrontMatter
  }

  /// The type by which it is listed; empty if it has none.
  var knownType: String { RecordType(parsing: type)?.rawValue ?? type }
}
