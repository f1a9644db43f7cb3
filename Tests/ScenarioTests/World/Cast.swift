import BlobStore
import MachineState
import Synchronization
import TestSupport
import VaultCrypto
import VaultModel

@testable import Vault

/// The people of a scenario with their devices, as they are before anything happens: the first person has made the vault
/// and the members, the others have joined by invitation, and every device has a copy of the people's files.
///
/// Deriving keys takes long, so that one is made for each list of people and kept.
final class Cast: Sendable {
  struct Seat: Sendable {
    let person: String
    let device: String
    let store: MemoryStore
    let state: MemoryStore
    let key: UnlockKey
  }

  /// A key that several devices of several worlds can hold.
  final class UnlockKey: Sendable {
    let key: DeviceUnlockKey
    init(_ key: consuming DeviceUnlockKey) { self.key = key }
  }

  private struct Plan: Hashable, Sendable {
    var people: [Scenario.Person]
    var members: [String]
  }

  private static let made = Mutex<[Plan: Cast]>([:])
  static let clock = WallClock { World.beginning - 86_400_000 }

  let vault: VaultID
  let seats: [Seat]
  /// The 24 words of each person.
  let words: [String: String]

  static func of(_ scenario: Scenario) throws -> Cast {
    let plan = Plan(
      people: scenario.people.isEmpty
        ? [.init(name: "Anna", devices: ["desk", "laptop"])] : scenario.people,
      members: scenario.members.isEmpty ? ["Emma"] : scenario.members)
    return try made.withLock { made in
      if let known = made[plan] { return known }
      let cast = try Cast(plan)
      made[plan] = cast
      return cast
    }
  }

  private init(_ plan: Plan) throws {
    let id = VaultID.random()
    vault = id
    let (store, state) = (MemoryStore(), MemoryStore())
    let first = plan.people[0]
    let created = try Vault.create(
      VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: Self.clock),
      device: Self.device(first.name, first.devices[0]), password: Self.password)
    let opened = try Vault.open(
      VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: Self.clock),
      key: created.unlockKey, options: OpenOptions())
    var seats: [Seat] = []
    var words = [first.name: created.words.words.joined(separator: " ")]
    for device in first.devices.dropFirst() {
      seats.append(
        try Self.recover(first.name, device, id, created.words, from: store, at: Self.clock))
    }
    for person in plan.people.dropFirst() {
      let (home, homeState) = (MemoryStore(), MemoryStore())
      let joined = try Vault.join(
        opened.invite(),
        in: VaultCopy(
          id: opened.invite().vault, store: home, state: StateFolder(store: homeState),
          clock: Self.clock), device: Self.device(person.name, person.devices[0]),
        password: Self.password, words: .random())
      words[person.name] = joined.words.words.joined(separator: " ")
      for device in person.devices.dropFirst() {
        seats.append(
          try Self.recover(person.name, device, id, joined.words, from: home, at: Self.clock))
      }
      try Self.copyPeople(from: home, to: store)
      _ = try opened.acceptIntroductions()
      seats.append(
        Seat(
          person: person.name, device: person.devices[0], store: home, state: homeState,
          key: UnlockKey(try Self.unlock(id, homeState))))
    }
    for member in plan.members { _ = try opened.addMember(named: FileName(member) ?? .record) }
    try opened.close()
    seats.append(
      Seat(
        person: first.name, device: first.devices[0], store: store, state: state,
        key: UnlockKey(try Self.unlock(id, state))))
    let order = plan.people.flatMap(\.devices)
    self.words = words
    self.seats = order.compactMap { name in seats.first { $0.device == name } }
  }

  private static var password: SecretBytes { SecretBytes(copying: Array("pw".utf8)) }

  private static func device(_ person: String, _ name: String) -> NewDevice {
    NewDevice(
      personName: person, deviceName: name, deviceKind: "desktop", passwordCost: .floor,
      recoveryCost: .floor)
  }

  private static func unlock(_ id: VaultID, _ state: MemoryStore) throws -> DeviceUnlockKey {
    try UnlockSlots(vault: id, state: StateFolder(store: state)).open(password: password).takeKey()
  }

  /// A machine that has become a device of a person's with the words alone, and a copy of the people's files.
  static func recover(
    _ person: String, _ device: String, _ id: VaultID, _ words: borrowing RecoveryWords,
    from source: MemoryStore, at clock: WallClock
  ) throws -> Seat {
    let (store, state) = (MemoryStore(), MemoryStore())
    try copyPeople(from: source, to: store)
    let key = try Vault.recover(
      VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: clock), words: words,
      device: self.device(person, device), password: password)
    return Seat(
      person: person, device: device, store: store, state: state, key: UnlockKey(key))
  }

  private static func copyPeople(from source: MemoryStore, to target: MemoryStore) throws {
    for (path, bytes) in source.blobs where path.string.hasPrefix("people/") {
      try target.replace(path, bytes, durably: true)
    }
  }
}
