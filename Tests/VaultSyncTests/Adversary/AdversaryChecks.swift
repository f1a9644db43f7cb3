import BlobStore
import TestSupport
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// What must hold after a schedule whatever the adversary did.
struct AdversaryChecks {
  let attacked: Household
  let honest: Household
  let intruder: Intruder
  let hasEditor: Bool
  /// Whose keys it has had from the beginning.
  let captives: Set<Int>
  let leaving: Set<PersonID>
  /// Machines that went by an end of a place which the adversary has signed, until their people settled it.
  let misled: Misled

  /// - Parameter expected: What people see without the adversary; nil if their doings have parted.
  func failures(expecting expected: HouseholdView?) throws -> [String] {
    let view = try HouseholdView(of: attacked, leaving)
    let shown =
      canBeShownOtherwise
      ? try HouseholdView(of: attacked, leaving, besides: intruder.touched).withoutForgeries : view
    return try (expected.map { differences(view, $0) } ?? []) + shown.disagreements(of: attacked)
      + misled.untold + secrets() + authors() + entries() + wholeness()
      + (misled.isEmpty ? links() : [])
  }

  /// Whether the adversary had keys with which somebody rightly believed records. It shows one machine a head of its own, and
  /// puts another, which waits, in its place before the next machine looks.
  private var canBeShownOtherwise: Bool { hasEditor || intruder.hasBeenBelieved }

  /// Records are compared where nobody could write there whom somebody rightly believed.
  private func differences(_ view: HouseholdView, _ expected: HouseholdView) -> [String] {
    if canBeShownOtherwise {
      return view.withoutContents.differences(from: expected.withoutContents, "view")
    }
    return view.differences(from: expected, "view")
  }

  // MARK: What opens

  /// Nothing opens with the keys of those who may not read it, whatever all of them together have: who was out as far as
  /// the writer's folder said, captives who never had the member, and strangers; but for those to whom it gave access as
  /// somebody who was rightly believed.
  private func secrets() throws -> [String] {
    var files: [BlobPath: [UInt8]] = intruder.seen.files
    for machine in attacked.everyone { files.merge(machine.store.blobs) { first, _ in first } }
    // What captives may read the adversary can repeat.
    let honest = files.filter { intruder.written[$0.key] != $0.value }
    // What is written by who was misled opens for whom that one rightly believes.
    let believers = attacked.everyone.reduce(into: [:]) { $0[$1.vault.device] = $1.number }
    let written = attacked.ledger.entries.filter { _, entry in
      believers[entry.device].map { !misled.contains($0, entry.member) } ?? true
    }
    let entries = Dictionary(grouping: written) { _, entry in
      entry.excluded.intersection(holders).union(outsiders(of: entry.member))
        .subtracting(believed(in: entry.member))
    }
    return try entries.flatMap { holders, entries in
      let readable = try StolenKeys(of: intruder, holders, files: files).readable(in: honest)
      return entries.compactMap { text, entry in
        readable[text].map { epochs in
          "secrets: \(text) of \(entry.device.shortHex), under epochs \(epochs.sorted()), opens with keys of "
            + "\(holders.sorted())"
        }
      }
    }
  }

  /// Those whose keys it has.
  private var holders: Set<KeyHolder> {
    Set(intruder.machines.map { .machine($0.number) } + intruder.words.map(\.holder))
  }

  /// Keys of people to whom somebody honest has rightly given those of the member.
  private func believed(in member: MemberID) -> Set<KeyHolder> {
    let takers = attacked.gifts.believed[member] ?? []
    let machines = intruder.machines.filter { takers.contains($0.vault.person) }
    let words = intruder.words.filter { takers.contains($0.person) }
    return Set(machines.map { .machine($0.number) } + words.map(\.holder))
  }

  private func outsiders(of member: MemberID) -> Set<KeyHolder> {
    let name = attacked.members.first { $0.value == member }?.key ?? ""
    let readers = HouseholdCast.readers[name] ?? []
    let seats = attacked.cast.seats.enumerated().filter { _, seat in
      captives.contains(seat.person) && !readers.contains(seat.person)
    }
    return Set(seats.map { .machine($0.offset) }).union([Intruder.stranger])
  }

  // MARK: Whose it is

  /// Whatever honest people have not written is shown as that of a device which is the adversary's.
  private func authors() throws -> [String] {
    var failures: [String] = []
    for machine in attacked.everyone {
      for (name, id) in attacked.members {
        guard let member = machine.vault.member(id) else { continue }
        // A copy of what lost in a join is its maker's, and says whose that was.
        let copies = ConflictCopy.folder(of: id)
        for entry in member.allEntries()
        where !entry.isDeleted && entry.record != .root && entry.parent != copies {
          for found in try member.history(of: entry.record) {
            failures += try authorFailures(found, member, "\(machine.name): \(name)")
          }
        }
      }
    }
    return failures
  }

  private func authorFailures(
    _ found: NamedRevision, _ member: Member, _ place: String
  ) throws -> [String] {
    guard case .signed(let author) = try member.authorship(of: found.digest) else { return [] }
    let own = try texts(of: found.revision, in: member)
    var before: Set<String> = []
    for previous in found.revision.previous {
      // What was replaced may be collected.
      if let older = try? member.revision(previous) {
        before.formUnion(try texts(of: older, in: member))
      } else {
        return []
      }
    }
    return own.subtracting(before).compactMap { text in
      let writer = attacked.ledger.entries[text]?.device
      if writer == author.device || writer == nil && intruder.devices.contains(author.device) {
        return nil
      }
      return "authors: \(place): \(text) is shown as \(author.device.shortHex)'s"
    }
  }

  private func texts(of revision: RecordRevision, in member: Member) throws -> Set<String> {
    guard let document = revision.document, !document.isDeleted else { return [] }
    let bytes = try member.beginning(of: document, byteCount: 64)
    return [String(decoding: bytes, as: UTF8.self)]
  }

  /// A list of records says what the revisions say, whoever wrote either.
  private func entries() throws -> [String] {
    var failures: [String] = []
    for machine in attacked.everyone {
      for id in attacked.members.values {
        guard let member = machine.vault.member(id) else { continue }
        for entry in member.allEntries() where entry.record != .root {
          let place = try member.revision(entry.revision).place
          if (place.title, place.isDeleted) != (entry.title, entry.isDeleted) {
            failures.append(
              "entries: \(machine.name) shows \(entry.title.string) for \(place.title.string)")
          }
        }
      }
    }
    return failures
  }

  /// Nothing is damaged of what honest people have written, but for what is without the adversary. What somebody misses they
  /// do not see.
  private func wholeness() throws -> [String] {
    let damaged = try honest.everyone.reduce(into: Set<String>()) { names, machine in
      names.formUnion(try damage(at: machine, of: honest).keys)
    }
    return try attacked.everyone.flatMap { machine in
      try damage(at: machine, of: attacked).filter {
        !damaged.contains($0.key) && isHere($0.key, at: machine.number)
      }.map { "whole: \(machine.name): \($0): \($1)" }
    }
  }

  /// Whether the member comes to the machine without the adversary; it may show one that nobody else has, and put something
  /// where there is none.
  private func isHere(_ name: String, at machine: Int) -> Bool {
    guard let id = honest.members[name], let machine = honest.machines[machine] else {
      return false
    }
    return machine.store.blobs[BlobPath(VaultPath.memberRoot(id).string)] != nil
  }

  /// By the names of members what is damaged of each, but for what the adversary has written: as the command says it, which
  /// opens the vault for it. A process that has been running tells also what it found when it began.
  private func damage(
    at machine: Household.Machine, of house: Household
  ) throws -> [String: String] {
    try machine.reopen()
    let problems = try machine.vault.check(readsData: true).problems.filter { problem in
      problem.kind == .damaged && problem.severity == .damage
        && intruder.written[BlobPath(problem.path)] == nil
    }
    return house.members.compactMapValues { id in
      problems.first { $0.path.hasPrefix("members/\(id.hex)") }.map { "\($0.path): \($0.reason)" }
    }
  }

  // MARK: Cost

  /// What honest people write about access grows with what they do, whatever others write: at most twice as many links, as
  /// somebody of the adversary's leaves rightly, and an owner's machine begins an epoch for it, or two do at once.
  private func links() -> [String] {
    let (with, without) = (honestLinks(of: attacked), honestLinks(of: honest))
    guard with > 2 * without else { return [] }
    return ["links: honest people have written \(with) links instead of \(without)"]
  }

  private func honestLinks(of house: Household) -> Int {
    var paths: Set<BlobPath> = []
    let folders = house.members.values.map { "members/\($0.hex)/links/" }
    for machine in house.everyone {
      paths.formUnion(
        machine.store.blobs.keys.filter { path in
          folders.contains { path.string.hasPrefix($0) }
        })
    }
    return paths.subtracting(intruder.written.keys).count
  }

  /// All come to rest, whoever is idle writes nothing, and no sync reads more than the adversary has written.
  func restFailures(_ meeting: Household.Meeting, alone: Household.Meeting) -> [String] {
    guard meeting.isAtRest else { return ["rest: the machines go on: \(meeting.lastMoves)"] }
    var failures: [String] = []
    let byteCount = UInt64(intruder.byteCount)
    let syncCount = UInt64(attacked.everyone.count * attacked.remotes.count)
    if meeting.readAtRest > alone.readAtRest + (byteCount + 1_024) * syncCount {
      failures.append(
        "cost: at rest \(meeting.readAtRest) bytes are read instead of \(alone.readAtRest)")
    }
    if meeting.readByteCount > 4 * alone.readByteCount + 4 * (byteCount + 1_024) * syncCount {
      failures.append(
        "cost: \(meeting.readByteCount) bytes are read instead of \(alone.readByteCount)")
    }
    return failures
  }
}
