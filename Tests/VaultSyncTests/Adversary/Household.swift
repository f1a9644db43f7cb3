import BlobStore
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultModel
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
        id: id, store: store, folder: nil, state: StateFolder(store: stateStore), key: key.key,
        options: OpenOptions(), clock: clock.wallClock)
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
        id: vault.id, store: store, folder: nil, state: StateFolder(store: stateStore),
        key: key.key, options: OpenOptions(), clock: clock.wallClock)
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

  /// - Parameter taking: The numbers of the machines that take part.
  init(_ cast: HouseholdCast, taking numbers: [Int], traitors: Set<Int>) throws {
    self.traitors = traitors
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

  func add(_ machine: Machine) { machines[machine.number] = machine }

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
    looksEverywhere: Bool = false
  ) throws -> SyncReport {
    let report = try Self.sync(
      machine.vault, with: remotes[remote], as: "r\(remote)", direction: direction,
      looksEverywhere: looksEverywhere)
    try accept(at: machine)
    return report
  }

  /// People take what they are given by those whom they know.
  private func accept(at machine: Machine) throws {
    let made = Set(members.values)
    for offer in machine.vault.offeredMembers where made.contains(offer.member.id) {
      try machine.vault.accept(offer.member.id)
    }
  }

  func quickSync(_ machine: Machine, _ remote: Int) throws {
    var options = SyncOptions()
    options.acceptsMassChange = true
    options.threadCount = 1
    let (vault, store, clock) = (machine.vault.id, machine.store, machine.clock.wallClock)
    let state = StateFolder(store: machine.stateStore)
    let closed = ClosedVault(id: vault, folder: store, state: state, clock: clock)
    let end = try RemoteSync(
      .heads(closed) { () throws(VaultError) in
        try VaultHeads.open(
          id: vault, store: store, folder: nil, state: state, key: machine.unlockKey.key,
          clock: clock)
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

  /// All sync with all until nothing moves.
  ///
  /// - Returns: Whether they come to rest, and what the last round read.
  func meet() throws -> (isAtRest: Bool, lastRead: UInt64) {
    for round in 0..<14 {
      tick()
      var moved = false
      var read: UInt64 = 0
      for machine in everyone {
        for remote in remotes.indices {
          let report = try sync(machine, remote, looksEverywhere: round == 0)
          moved = moved || !report.pulled.isEmpty || !report.pushed.isEmpty
          read += report.traffic.readByteCount
        }
      }
      if !moved, round > 1 { return (true, read) }
    }
    return (false, 0)
  }
}

extension Household.Machine {
  var unlockKey: Family.UnlockKey { disk.key }
}
