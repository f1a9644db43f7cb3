import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultSync

/// The people of the adversary's schedules with their machines, as they are before anything happens, and a stranger.
///
/// Anna has made Emma, of which Ben and Dora are owners, Carla an editor and Egon a viewer; Ben has made Liam, of which
/// Anna is an editor, Dora and Egon are viewers. All have met, and know one another through Anna, who has invited them.
/// Deriving keys takes long, so they are made once.
final class HouseholdCast: Sendable {
  struct Seat: Sendable {
    let person: Int
    let name: String
    let disk: Family.Seed
  }

  static let people = ["Anna", "Ben", "Carla", "Dora", "Egon"]
  /// Of each person the machines, the one first from which they remove others.
  static let machines = [
    ["Anna's desk", "Anna's phone", "Anna's tablet"], ["Ben's desk", "Ben's laptop"],
    ["Carla's desk", "Carla's phone"], ["Dora's desk"], ["Egon's desk"],
  ]

  /// Who can read each member at the beginning, by their place among the people.
  static let readers: [String: Set<Int>] = ["Emma": [0, 1, 2, 3, 4], "Liam": [0, 1, 3, 4]]

  static let shared = Result { try SeededRandomness.with(seed: 7) { try HouseholdCast() } }
  static let clock = WallClock { Household.beginning - 86_400_000 }

  let vault: VaultID
  let seats: [Seat]
  let persons: [PersonID]
  /// The 24 words of each person.
  let words: [String]
  let members: [String: MemberID]
  /// What the remotes have of it.
  let meeting: [BlobPath: [UInt8]]
  /// A person in a vault of the same id, of whom nobody has heard.
  let stranger: Family.Seed
  let strangersWords: String

  static var password: SecretBytes { SecretBytes(copying: Array("pw".utf8)) }

  static func newDevice(_ person: String, _ name: String) -> NewDevice {
    NewDevice(
      personName: person, deviceName: name, deviceKind: "desktop", passwordCost: .floor,
      recoveryCost: .floor)
  }

  /// What opens the machine whose disk this is.
  static func key(_ id: VaultID, _ state: MemoryStore) throws -> Family.UnlockKey {
    Family.UnlockKey(
      try UnlockSlots(vault: id, state: StateFolder(store: state))
        .open(password: password).takeKey())
  }

  private init() throws {
    let id = VaultID.random()
    vault = id
    var disks: [(person: Int, name: String, store: MemoryStore, state: MemoryStore)] = []
    var texts: [String] = []
    let (store, state) = (MemoryStore(), MemoryStore())
    let created = try Vault.create(
      VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: Self.clock),
      device: Self.newDevice(Self.people[0], Self.machines[0][0]), password: Self.password)
    let anna = try Vault.open(
      VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: Self.clock),
      key: created.unlockKey, options: OpenOptions())
    for (number, person) in Self.people.enumerated() {
      let (home, homeState) = number == 0 ? (store, state) : (MemoryStore(), MemoryStore())
      let words: String
      if number == 0 {
        words = created.words.words.joined(separator: " ")
      } else {
        let joined = try Vault.join(
          anna.invite(),
          in: VaultCopy(
            id: anna.invite().vault, store: home, state: StateFolder(store: homeState),
            clock: Self.clock), device: Self.newDevice(person, Self.machines[number][0]),
          password: Self.password, words: .random())
        words = joined.words.words.joined(separator: " ")
        try Self.copy("people/", from: home, to: store)
        _ = try anna.acceptIntroductions()
      }
      texts.append(words)
      disks.append((number, Self.machines[number][0], home, homeState))
      for name in Self.machines[number].dropFirst() {
        let (other, otherState) = (MemoryStore(), MemoryStore())
        try Self.copy("people/", from: home, to: other)
        let recovered = try RecoveryWords(parsing: words)
        _ = try Vault.recover(
          VaultCopy(id: id, store: other, state: StateFolder(store: otherState), clock: Self.clock),
          words: recovered, device: Self.newDevice(person, name), password: Self.password)
        disks.append((number, name, other, otherState))
      }
    }
    words = texts
    try anna.close()
    var everyone: [BlobPath: [UInt8]] = [:]
    for disk in disks { everyone.merge(disk.store.blobs) { first, _ in first } }
    let open = try disks.map { disk in
      for (path, bytes) in everyone where path.string.hasPrefix("people/") {
        try disk.store.replace(path, bytes, durably: true)
      }
      return try Vault.open(
        VaultCopy(
          id: id, store: disk.store, state: StateFolder(store: disk.state), clock: Self.clock),
        key: Self.key(id, disk.state).key, options: OpenOptions())
    }
    let firsts = Self.people.indices.compactMap { person in
      zip(disks, open).first { $0.0.person == person }?.1
    }
    persons = firsts.map(\.person)
    var members: [String: MemberID] = [:]
    let emma = try firsts[0].addMember(named: #require(FileName("Emma")))
    for (person, role) in [(1, Role.owner), (3, .owner), (2, .editor), (4, .viewer)] {
      try firsts[0].share(emma, with: persons[person], role: role)
    }
    members["Emma"] = emma.id
    let liam = try firsts[1].addMember(named: #require(FileName("Liam")))
    for (person, role) in [(0, Role.editor), (3, .viewer), (4, .viewer)] {
      try firsts[1].share(liam, with: persons[person], role: role)
    }
    members["Liam"] = liam.id
    self.members = members
    let meeting = MemoryStore()
    for _ in 0..<3 {
      for vault in open {
        try Household.sync(vault, with: meeting, as: "meeting", direction: .both)
        for offer in vault.offeredMembers { try vault.accept(offer.member.id) }
      }
    }
    for vault in open { try vault.close() }
    self.meeting = meeting.blobs
    seats = try disks.map { disk in
      Seat(
        person: disk.person, name: disk.name,
        disk: Family.Seed(store: disk.store, state: disk.state, key: try Self.key(id, disk.state)))
    }
    let (elsewhere, elsewhereState) = (MemoryStore(), MemoryStore())
    let mallory = try Vault.create(
      VaultCopy(
        id: id, store: elsewhere, state: StateFolder(store: elsewhereState), clock: Self.clock),
      device: Self.newDevice("Mallory", "Mallory's desk"), password: Self.password)
    strangersWords = mallory.words.words.joined(separator: " ")
    stranger = Family.Seed(
      store: elsewhere, state: elsewhereState, key: try Self.key(id, elsewhereState))
  }

  private static func copy(
    _ prefix: String, from source: MemoryStore, to target: MemoryStore
  ) throws {
    for (path, bytes) in source.blobs where path.string.hasPrefix(prefix) {
      try target.replace(path, bytes, durably: true)
    }
  }
}
