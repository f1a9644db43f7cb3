import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultSync
import VaultTrust

@testable import Vault

/// One thing that an honest person does at a machine; the same in every run of a schedule.
enum HonestStep {
  case create(Int, String, RecordID, parent: RecordID, title: String, text: String)
  case edit(Int, String, RecordID, text: String)
  case attach(Int, String, RecordID, text: String, byteCount: Int)
  case delete(Int, String, RecordID)
  case move(Int, String, RecordID, to: String)
  case share(Int, String, with: Int, Role, days: UInt64?)
  case unshare(Int, String, from: Int)
  case offer(Int, String, to: Int)
  case agree(Int, String)
  case leave(Int, String)
  case removeMachine(Int, lost: Int)
  case replaceWords(Int)
  case addMachine(of: Int, number: Int, from: Int)
  case addMember(Int, String)
  case collect(Int)
  case sync(Int, remote: Int, SyncOptions.Direction)
  case quickSync(Int, remote: Int)
  case reopen(Int)
  case passes(days: UInt64)
}

extension HonestStep {
  /// The machine at which it is done.
  var actor: Int? {
    switch self {
    case .create(let number, _, _, _, _, _), .edit(let number, _, _, _),
      .attach(let number, _, _, _, _), .delete(let number, _, _), .move(let number, _, _, _),
      .share(let number, _, _, _, _),
      .unshare(let number, _, _), .offer(let number, _, _), .agree(let number, _),
      .leave(let number, _), .removeMachine(let number, _), .replaceWords(let number),
      .addMachine(_, let number, _), .addMember(let number, _), .collect(let number),
      .sync(let number, _, _), .quickSync(let number, _), .reopen(let number):
      number
    case .passes: nil
    }
  }
}

extension Household {
  /// Does what the step says.
  ///
  /// - Returns: What came of it: nothing, or which error.
  func perform(_ step: HonestStep) throws -> String {
    tick(days: { if case .passes(let days) = step { days } else { 0 } }())
    let actor = step.actor.flatMap { machines[$0] }
    let outcome = try tryOut(step)
    if let actor = actor ?? step.actor.flatMap({ machines[$0] }) {
      try noteRemovals(by: step, at: actor, isDone: outcome == "done")
      try noteGiven(at: actor)
    }
    return outcome
  }

  private func tryOut(_ step: HonestStep) throws -> String {
    lastError = nil
    do {
      try carryOut(step)
      return "done"
    } catch let error as VaultError {
      lastError = error
      return Self.name(error)
    } catch let error as SyncError {
      lastError = error
      if case .vault(let error) = error { return Self.name(error) }
      return Self.name(error)
    } catch is NoMachine {
      return "no machine"
    }
  }

  /// Whoever is out since the step, by what stands in the folder where it was done.
  private func noteRemovals(
    by step: HonestStep, at actor: Machine, isDone: Bool
  ) throws {
    let new = try removals.note(actor.store, besides: foreign)
    switch step {
    case .unshare(_, let name, let person) where isDone:
      removals.add(holders(of: person), outOf: members[name] ?? .zero, by: links(new, of: name))
    case .leave(_, let name) where isDone:
      removals.add(
        holders(of: actor.person), outOf: members[name] ?? .zero, by: links(new, of: name))
    case .share(_, let name, let person, _, _):
      removals.void(holders(of: person), in: members[name] ?? .zero)
    case .removeMachine(_, let lost) where isDone:
      noteKeys([.machine(lost)], outBy: new)
    case .replaceWords where isDone: noteKeys([.words(formerWords.count - 1)], outBy: new)
    default: break
    }
    try removals.noteCarried(by: new, in: actor.store)
  }

  private func noteKeys(_ holders: Set<KeyHolder>, outBy new: Set<BlobPath>) {
    let closings = new.filter { $0.string.contains("/closings/") }
    for member in members.values {
      removals.add(holders, outOf: member, by: closings, isOfAccess: false)
    }
  }

  private func links(_ paths: Set<BlobPath>, of name: String) -> Set<BlobPath> {
    guard let member = members[name] else { return [] }
    return paths.filter { $0.string.hasPrefix("members/\(member.hex)/links/") }
  }

  /// All machines that a person has or had.
  private func holders(of person: Int) -> Set<KeyHolder> {
    let own = everyone.filter { $0.person == person } + lost.filter { $0.person == person }
    let seats = cast.seats.indices.filter { cast.seats[$0].person == person }
    return Set(own.map { .machine($0.number) } + seats.map { .machine($0) })
  }

  private static func name(_ error: some Error) -> String {
    String("\(error)".prefix { $0 != "(" && $0 != ":" })
  }

  private func carryOut(_ step: HonestStep) throws {
    switch step {
    case .create(let number, let member, let record, let parent, let title, let text):
      var edit = RecordEdit(
        record: record, isNew: true,
        place: RecordPlace(parent: parent, title: try #require(FileName(title))),
        attributes: RecordAttributes(mode: 0o700))
      edit.items[.record] = .note(text)
      try commit(edit, writing: [title, text], number, member)
    case .edit(let number, let member, let record, let text):
      var edit = RecordEdit(record: record)
      edit.items[.record] = .note(text)
      try commit(edit, writing: [text], number, member)
    case .attach(let number, let member, let record, let text, let byteCount):
      let name = try #require(FileName("scan"))
      let bytes = Array(text.utf8) + [UInt8](repeating: 7, count: byteCount)
      let open = try open(member, number)
      var edit = RecordEdit(record: record)
      edit.items[name] = Item(
        name: name, file: .random(), size: UInt64(bytes.count),
        content: try open.content(of: [open.objects.put(.chunk, bytes)]), time: .zero)
      try commit(edit, writing: [text], number, member)
    case .delete(let number, let member, let record):
      guard let entry = try open(member, number).entry(record) else {
        throw VaultError.notFound(what: "the record \(record)")
      }
      let open = try open(member, number)
      let seen = HonestLedger.texts(in: lines(of: open, record) + [entry.title.string])
      try commit(
        RecordEdit(
          record: record,
          place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)),
        writing: [], number, member)
      ledger.noteDeleted(seen)
    case .move(let number, let member, let record, let target):
      let (source, target) = (try open(member, number), try open(target, number))
      let seen = subtree(of: record, in: source).flatMap {
        lines(of: source, $0.record) + [$0.title.string]
      }
      _ = try machine(number).vault.move(record, of: source, into: .root, of: target)
      ledger.noteMoved(HonestLedger.texts(in: seen), to: target.id, by: number)
    case .passes: break
    case .collect(let number):
      _ = try machine(number).vault.collect(keepDays: 0, acceptsClock: true, isDryRun: false)
    case .sync(let number, let remote, let direction):
      try sync(machine(number), remote, direction)
    case .quickSync(let number, let remote): try quickSync(machine(number), remote)
    case .reopen(let number): try machine(number).reopen()
    case .addMember(let number, let name):
      members[name] = try machine(number).vault.addMember(named: #require(FileName(name))).id
    case .share, .unshare, .offer, .agree, .leave: try carryOutSharing(step)
    case .removeMachine, .replaceWords, .addMachine: try carryOutKeys(step)
    }
  }

  private func carryOutSharing(_ step: HonestStep) throws {
    switch step {
    case .share(let number, let member, let taker, let role, let days):
      let until = days.map { now + $0 * 86_400_000 }
      try machine(number).vault.share(
        open(member, number), with: persons[taker], role: role, until: until)
    case .unshare(let number, let member, let person):
      try machine(number).vault.beginEpoch(of: open(member, number), without: [persons[person]])
      loseMachines(of: person, afterLeaving: member)
    case .offer(let number, let member, let taker):
      try machine(number).vault.offerPlace(in: open(member, number), to: persons[taker])
    case .agree(let number, let name):
      let (vault, member) = (try machine(number).vault, try open(name, number))
      let offer = try vault.offeredPlaces().first {
        $0.member == member.id && $0.taker == vault.person
      }
      if let offer { try vault.agree(to: offer) }
    case .leave(let number, let member):
      let machine = try machine(number)
      try machine.vault.leave(open(member, number))
      // The program says that it has to be sent. What stands nowhere else the adversary has with the machine, to show or not.
      try sync(machine, 0, .push)
      loseMachines(of: machine.person, afterLeaving: member)
    default: preconditionFailure("another step")
    }
  }

  private func carryOutKeys(_ step: HonestStep) throws {
    switch step {
    case .removeMachine(let number, let lostNumber):
      let (own, other) = (try machine(number), try machine(lostNumber))
      try own.vault.beginGeneration(
        removing: [other.vault.device], words: RecoveryWords(parsing: words[own.person]))
      for member in own.vault.members where member.role == .owner {
        try own.vault.beginEpoch(of: member, without: [])
      }
      lost.append(other)
      remove(lostNumber)
    case .replaceWords(let number):
      let own = try machine(number)
      let new = RecoveryWords.random()
      let text = new.words.joined(separator: " ")
      try own.vault.replaceWords(RecoveryWords(parsing: words[own.person]), with: new)
      formerWords.append((own.person, words[own.person]))
      words[own.person] = text
    case .addMachine(let person, let number, let remote):
      let (store, state) = (MemoryStore(), MemoryStore())
      for (path, bytes) in remotes[remote].blobs where path.string.hasPrefix("people/") {
        try store.replace(path, bytes, durably: true)
      }
      let name = "\(HouseholdCast.people[person])'s machine \(number)"
      let clock = StepClock(now)
      _ = try Vault.recover(
        VaultCopy(
          id: vault, store: store, state: StateFolder(store: state), clock: clock.wallClock),
        words: RecoveryWords(parsing: words[person]),
        device: HouseholdCast.newDevice(HouseholdCast.people[person], name),
        password: HouseholdCast.password)
      let disk = Family.Seed(store: store, state: state, key: try HouseholdCast.key(vault, state))
      let machine = try Machine(number, person, name, vault, disk, at: now)
      add(machine)
      try sync(machine, remote)
    default: preconditionFailure("another step")
    }
  }

  private func open(_ member: String, _ number: Int) throws -> Member {
    guard let open = member == "" ? nil : self.member(member, at: try machine(number)) else {
      throw VaultError.noAccess(member: members[member] ?? .zero)
    }
    return open
  }

  private func commit(
    _ edit: RecordEdit, writing texts: [String], _ number: Int, _ name: String
  ) throws {
    let (machine, member) = (try machine(number), try open(name, number))
    let names = Set(edit.items.keys)
    let seen = HonestLedger.texts(in: lines(of: member, edit.record, named: names.contains))
    let commit = try member.commit([edit])
    if let failure = commit.failures.values.first { throw failure }
    let excluded = try excluded(from: member, machine)
    let entry = HonestLedger.Entry(
      machine: number, device: machine.vault.device, member: member.id, excluded: excluded)
    for text in texts { ledger.note(text, entry, insteadOf: seen) }
  }

  private func subtree(of record: RecordID, in member: Member) -> [RecordEntry] {
    (member.entry(record).map { [$0] } ?? [])
      + member.children(of: record).flatMap { subtree(of: $0.record, in: member) }
  }

  /// What stands in a record's files where it can be read.
  private func lines(
    of member: Member, _ record: RecordID, named isWanted: (FileName) -> Bool = { _ in true }
  ) -> [String] {
    guard let entry = member.entry(record),
      let items = try? member.items(of: member.revision(entry.revision))
    else { return [] }
    return items.filter { isWanted($0.name) }.compactMap { item in
      (try? member.beginning(of: item, byteCount: 64)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Who does not read what is written there now. Whoever was misled about an end of a place may rightly take somebody for let in
  /// again.
  private func excluded(from member: Member, _ machine: Machine) throws -> Set<KeyHolder> {
    guard try Misled(member.id, at: machine, besides: foreign).isEmpty else { return [] }
    let files = machine.store.blobs
    let out = removals.out(of: member.id, in: files)
    return removals.carriedOut(of: member.id, in: files)
      .union(out.intersection(machine.hasSeenOut[member.id] ?? []))
  }
}
