import BlobStore
import MachineState
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Honest people at their machines, each with a folder and a state in memory, and two remotes that they sync with when it
/// comes to that: so whatever one does reaches the others late, and in any order.
///
/// The clock of each step is later than all of the step before, whatever a step does: what is decided by time is the same
/// in each run of a schedule.
final class Household {
  static let beginning: UInt64 = 1_700_000_000_000

  /// One machine of one person.
  final class Machine {
    let number: Int
    let person: Int
    let name: String
    let clock: StepClock
    private(set) var store: MemoryStore
    private(set) var stateStore: MemoryStore
    private(set) var vault: Vault
    private let key: Family.UnlockKey
    /// Members that this person has said yes to, or that came from somebody whom they know, as far as was known then.
    private(set) var accepted: Set<MemberID> = []

    init(
      _ number: Int, _ person: Int, _ name: String, _ id: VaultID, _ disk: Family.Seed,
      at now: UInt64
    ) throws {
      (self.number, self.person, self.name) = (number, person, name)
      store = disk.store.imageAfterKill()
      stateStore = disk.state.imageAfterKill()
      key = disk.key
      clock = StepClock(now)
      vault = try Vault.open(
        VaultCopy(
          id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
        key: key.key, options: OpenOptions())
    }

    /// Of the members that its person owns, those whose removal was to be seen when it synced last.
    private(set) var hasSeenOut: [MemberID: Set<KeyHolder>] = [:]

    func noteOut(_ holders: Set<KeyHolder>, of member: MemberID) { hasSeenOut[member] = holders }

    func accept(_ member: MemberID) throws {
      try vault.accept(member)
      accepted.insert(member)
    }

    func noteShown(from known: [PersonID]) {
      accepted.formUnion(
        vault.members.filter { known.contains(where: $0.comesFrom) }.map(\.id))
    }

    /// What is on the disk now.
    var disk: Family.Seed {
      Family.Seed(store: store.imageAfterKill(), state: stateStore.imageAfterKill(), key: key)
    }

    /// The process is killed, and another one opens what it leaves.
    func reopen() throws {
      store = store.imageAfterKill()
      stateStore = stateStore.imageAfterKill()
      vault = try Vault.open(
        VaultCopy(
          id: vault.id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
        key: key.key, options: OpenOptions())
    }
  }

  /// A clock that moves a millisecond at each look, from where the step has set it.
  final class StepClock: Sendable {
    private let now: Mutex<UInt64>
    init(_ start: UInt64) { now = Mutex(start) }

    func set(_ time: UInt64) { now.withLock { $0 = max($0, time) } }

    var wallClock: WallClock {
      WallClock { [self] in
        now.withLock {
          $0 += 1
          return $0
        }
      }
    }
  }

  let vault: VaultID
  let persons: [PersonID]
  private(set) var machines: [Int: Machine] = [:]
  /// The names of those that were added with words.
  private(set) var added: Set<String> = []
  let remotes: [MemoryStore]
  var words: [String]
  /// By name; what people have made since is added.
  var members: [String: MemberID]
  var ledger = HonestLedger()
  /// In milliseconds since 1970.
  private(set) var now: UInt64
  /// Machines that were removed, with what was on their disks then, and people who were taken out.
  var lost: [Machine] = []
  /// Whose machines are the adversary's as soon as they are out of Emma.
  let traitors: Set<Int>
  /// Words that were replaced, with whose they were.
  var formerWords: [(person: Int, words: String)] = []
  var removals = Removals()
  /// What the adversary has written.
  var foreign: Set<BlobPath> = []
  /// What it gave that somebody honest rightly believes.
  var gifts = Gifts()
  let cast: HouseholdCast
  /// Why the last step was not done, for who looks into a failure.
  var lastError: (any Error)?

  /// - Parameter taking: The numbers of the machines that take part.
  init(_ cast: HouseholdCast, taking numbers: [Int], traitors: Set<Int>) throws {
    (self.cast, self.traitors) = (cast, traitors)
    removals.begin(with: Set(cast.meeting.keys))
    (vault, persons, words, members) = (cast.vault, cast.persons, cast.words, cast.members)
    remotes = [MemoryStore(), MemoryStore()]
    for remote in remotes {
      for (path, bytes) in cast.meeting { try remote.replace(path, bytes, durably: true) }
    }
    now = Self.beginning
    for number in numbers {
      let seat = cast.seats[number]
      machines[number] = try Machine(
        number, seat.person, seat.name, vault, seat.disk, at: now + UInt64(number))
    }
  }

  var everyone: [Machine] { machines.values.sorted { $0.number < $1.number } }

  /// The machine from which a person removes others.
  func first(of person: Int) -> Machine? { everyone.first { $0.person == person } }

  struct NoMachine: Error {}

  func machine(_ number: Int) throws -> Machine {
    guard let machine = machines[number] else { throw NoMachine() }
    return machine
  }

  func add(_ machine: Machine) {
    machines[machine.number] = machine
    added.insert(machine.name)
  }

  func remove(_ number: Int) { machines[number] = nil }

  /// Somebody is out of a member: from now on the adversary has what they had.
  func loseMachines(of person: Int, afterLeaving member: String) {
    guard member == "Emma", traitors.contains(person) else { return }
    for machine in everyone where machine.person == person {
      lost.append(machine)
      remove(machine.number)
    }
  }

  func member(_ name: String, at machine: Machine) -> Member? {
    members[name].flatMap { machine.vault.member($0) }
  }

  /// The next step begins.
  func tick(days: UInt64 = 0) {
    now += 20_000 + days * 86_400_000
    for machine in machines.values { machine.clock.set(now + UInt64(machine.number) * 13) }
  }

  // MARK: Syncing

  @discardableResult
  static func sync(
    _ vault: Vault, with remote: any BlobStore, as name: String,
    direction: SyncOptions.Direction, looksEverywhere: Bool = false
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.direction = direction
    options.acceptsMassChange = true
    options.threadCount = 1
    options.looksEverywhere = looksEverywhere
    return try RemoteSync(
      vault: vault, remote: remote, name: #require(RemoteName(name)), options: options
    ).run()
  }

  @discardableResult
  func sync(
    _ machine: Machine, _ remote: Int, _ direction: SyncOptions.Direction = .both,
    looksEverywhere: Bool = false, through store: (any BlobStore)? = nil
  ) throws -> SyncReport {
    let report = try Self.sync(
      machine.vault, with: store ?? remotes[remote], as: "r\(remote)", direction: direction,
      looksEverywhere: looksEverywhere)
    try accept(at: machine)
    try noteGiven(at: machine)
    if direction != .pull { noteOwned(at: machine) }
    return report
  }

  /// Links that were written at this machine since may have passed on what the adversary gave.
  func noteGiven(at machine: Machine) throws {
    try gifts.note(
      machine.store, besides: foreign,
      isHeard: { removals.isHeard(of: $0, in: machine.store.blobs) },
      isMisled: { try !Misled($0, at: machine, besides: foreign).isEmpty })
    for member in gifts.members where try !Misled(member, at: machine, besides: foreign).isEmpty {
      let links = try machine.vault.context.opening(of: member).loadLinks()
      gifts.note(member) { links.access.includes($0) }
    }
  }

  /// An owner's device has synced: whatever removals are to be seen there are carried out from now on.
  private func noteOwned(at machine: Machine) {
    let files = machine.store.blobs
    for member in machine.vault.members where member.role == .owner {
      machine.noteOut(removals.out(of: member.id, in: files), of: member.id)
    }
  }

  /// People take what they are given by those whom they know, also where that is the adversary by now.
  private func accept(at machine: Machine) throws {
    machine.noteShown(from: persons)
    let made = Set(members.values)
    for offer in machine.vault.offeredMembers {
      let isKnown = offer.gifts.contains { persons.contains($0.giver) }
      guard made.contains(offer.member.id) || isKnown && offer.renews == nil else { continue }
      try machine.accept(offer.member.id)
    }
  }

  func quickSync(_ machine: Machine, _ remote: Int) throws {
    var options = SyncOptions()
    options.acceptsMassChange = true
    options.threadCount = 1
    let copy = VaultCopy(
      id: machine.vault.id, store: machine.store, state: StateFolder(store: machine.stateStore),
      clock: machine.clock.wallClock)
    let end = try RemoteSync(
      .heads(copy) { () throws(VaultError) in
        try VaultHeads.open(copy, key: machine.unlockKey.key)
      },
      remote: remotes[remote], name: #require(RemoteName("r\(remote)")), options: options
    ).runIfEnough()
    guard case .done = end else {
      try sync(machine, remote)
      return
    }
    _ = try machine.vault.refreshMembers()
    for member in machine.vault.members { _ = try member.joinConcurrent() }
  }

  /// What came of a full exchange.
  struct Meeting {
    /// Whether nothing moves any more, and nobody writes anything.
    var isAtRest = false
    /// What was moved or written last, for who looks into a failure.
    fileprivate(set) var lastMoves: [String] = []
    /// Machines that heard that they had been removed.
    var removed: [String] = []
    /// What was read in all.
    var readByteCount: UInt64 = 0
    /// What all of the machines read of both remotes once nothing moves any more.
    var readAtRest: UInt64 = 0
  }

  /// All sync with all until each sync moves nothing, and leaves the folder as it is. Where nothing has changed on either
  /// side since such a sync, there is not another one.
  func meet() throws -> Meeting {
    var meeting = Meeting()
    var quiet: [Pair: Quiet] = [:]
    for round in 0..<14 {
      tick()
      for pair in pairs {
        guard let machine = machines[pair.machine] else { continue }
        let before = counts(of: pair, machine)
        if quiet[pair]?.counts == before { continue }
        let files = [machine.store.blobs, remotes[pair.remote].blobs]
        let recording = RecordingStore(remotes[pair.remote])
        guard
          let report = try syncUnlessRemoved(
            machine, pair.remote, looksEverywhere: round == 0, through: recording)
        else {
          meeting.removed.append(machine.name)
          quiet = quiet.filter { $0.key.machine != machine.number }
          continue
        }
        meeting.readByteCount += report.traffic.readByteCount
        let hasMoved = !report.pulled.isEmpty || !report.pushed.isEmpty
        if hasMoved || counts(of: pair, machine) != before || round == 0 {
          meeting.lastMoves =
            meeting.lastMoves.suffix(3) + [
              "\(machine.name) with \(pair.remote), pulled: \(report.pulled), pushed: \(report.pushed), "
                + "changed here: \(Self.changes(of: files[0], to: machine.store.blobs)), "
                + "there: \(Self.changes(of: files[1], to: remotes[pair.remote].blobs)), "
                + "put: \(recording.calls(.put, .remove).map(\.path.string))"
            ]
          quiet[pair] = nil
        } else {
          quiet[pair] = Quiet(counts: before, readByteCount: report.traffic.readByteCount)
        }
      }
      if try pairs.allSatisfy({ try quiet[$0]?.counts == counts(of: $0, machine($0.machine)) }) {
        meeting.isAtRest = true
        meeting.readAtRest = quiet.values.reduce(0) { $0 + $1.readByteCount }
        return meeting
      }
    }
    return meeting
  }

  private var pairs: [Pair] {
    everyone.flatMap { machine in
      remotes.indices.map { Pair(machine: machine.number, remote: $0) }
    }
  }

  /// Syncs; nil when the machine hears that it is none of its person's any more. Whoever adds one with the words where their
  /// other machine's closing has not come yet has it again only when they add it once more.
  private func syncUnlessRemoved(
    _ machine: Machine, _ remote: Int, looksEverywhere: Bool, through store: any BlobStore
  ) throws -> SyncReport? {
    do {
      return try sync(machine, remote, looksEverywhere: looksEverywhere, through: store)
    } catch SyncError.vault(.thisDeviceRemoved) {
      remove(machine.number)
      return nil
    }
  }

  /// What differs, for who looks into a failure.
  private static func changes(
    of before: [BlobPath: [UInt8]], to after: [BlobPath: [UInt8]]
  ) -> [String] {
    let paths = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    return paths.map { path in
      "\(after[path] == nil ? "-" : before[path] == nil ? "+" : "")\(path.string)"
    }.sorted().suffix(8).map { $0 }
  }

  private struct Pair: Hashable {
    let machine: Int
    let remote: Int
  }

  /// A sync that moved nothing.
  private struct Quiet {
    /// Of calls that changed something here and there before.
    let counts: [Int]
    let readByteCount: UInt64
  }

  private func counts(of pair: Pair, _ machine: Machine) -> [Int] {
    [machine.store.mutatingCallCount, remotes[pair.remote].mutatingCallCount]
  }
}

extension Household.Machine {
  var unlockKey: Family.UnlockKey { disk.key }
}
