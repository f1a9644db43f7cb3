import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault

/// Several devices of one person, each with a folder of its own; files are carried between the folders by hand.
final class Replicas {
  /// One device, its folder and its open vault.
  final class Replica {
    let store: MemoryStore
    let state: StateFolder
    let clock: MemoryVault.Clock
    var vault: Vault

    init(store: MemoryStore, state: StateFolder, clock: MemoryVault.Clock, vault: Vault) {
      self.store = store
      self.state = state
      self.clock = clock
      self.vault = vault
    }

    var member: Member { get throws { try #require(vault.members.first) } }

    @discardableResult
    func commit(_ edits: RecordEdit...) throws -> Commit { try commit(edits) }

    @discardableResult
    func commit(_ edits: [RecordEdit]) throws -> Commit {
      let commit = try member.commit(edits)
      if let failure = commit.failures.values.first { throw failure }
      return commit
    }

    /// The live records under the conflicts folder.
    var conflicts: [RecordEntry] {
      get throws {
        try member.children(of: ConflictCopy.folder(of: member.id)).sorted { $0.title < $1.title }
      }
    }

    /// Everything that shows: paths and contents.
    func contents() throws -> [String: String] {
      let member = try member
      var found: [String: String] = [:]
      func visit(_ entry: RecordEntry, _ path: String, depth: Int) throws {
        try #require(depth < 50, "a ring of records shows")
        found[path + "/"] = entry.record.hex
        for item in try member.items(of: member.revision(entry.revision)) {
          let bytes = try member.beginning(of: item, byteCount: Int(item.size))
          found["\(path)/\(item.name.string)"] = String(decoding: bytes, as: UTF8.self)
        }
        for child in member.children(of: entry.record) {
          try visit(
            child, "\(path)/\(child.title.string)[\(child.record.shortHex)]", depth: depth + 1)
        }
      }
      try visit(#require(member.entry(.root)), "", depth: 0)
      return found
    }
  }

  /// The vault as three devices have it, made once: deriving keys from words takes long.
  private final class Template: Sendable {
    struct Device: Sendable {
      let store: MemoryStore
      let state: MemoryStore
    }

    let id: VaultID
    let firstDevice: Device
    let firstKey: CreatedVault
    let others: [(device: Device, key: UnlockKey)]

    init() throws {
      let first = try MemoryVault()
      let vault = try first.open()
      let emma = try #require(FileName("Emma"))
      _ = try vault.addMember(named: emma)
      id = first.id
      firstKey = first.created
      firstDevice = Device(store: first.store, state: first.stateStore)
      others = try (0..<2).map { _ in
        let device = Device(store: MemoryStore(), state: MemoryStore())
        try Replicas.carry(from: first.store, to: device.store)
        let key = try Vault.recover(
          VaultCopy(
            id: first.id, store: device.store, state: StateFolder(store: device.state),
            clock: first.clock.wallClock), words: first.created.words,
          device: MemoryVault.newDevice, password: SecretBytes(copying: Array("pw".utf8)))
        return (device, UnlockKey(key))
      }
    }
  }

  private final class UnlockKey: Sendable {
    let key: DeviceUnlockKey
    init(_ key: consuming DeviceUnlockKey) { self.key = key }
  }

  private static let template = Result { try Template() }

  private(set) var devices: [Replica] = []

  /// A vault with a member on every device.
  ///
  /// - Parameter count: 1 to 3 devices.
  init(count: Int) throws {
    let template = try Self.template.get()
    try add(template.firstDevice, key: template.firstKey.unlockKey, template.id)
    for other in template.others.prefix(count - 1) {
      try add(other.device, key: other.key.key, template.id)
    }
    try everyoneMeets()
  }

  /// The same, and every device has what these edits make.
  convenience init(count: Int, with edit: RecordEdit, _ others: RecordEdit...) throws {
    try self.init(count: count)
    try devices[0].commit([edit] + others)
    try everyoneMeets()
  }

  private func add(
    _ device: Template.Device, key: borrowing DeviceUnlockKey, _ id: VaultID
  ) throws {
    let store = device.store.imageAfterKill()
    let state = StateFolder(store: device.state.imageAfterKill())
    let clock = MemoryVault.Clock(1_700_000_100_000 + UInt64(devices.count) * 7)
    let vault = try Vault.open(
      VaultCopy(id: id, store: store, state: state, clock: clock.wallClock), key: key,
      options: OpenOptions())
    devices.append(Replica(store: store, state: state, clock: clock, vault: vault))
  }

  subscript(number: Int) -> Replica { devices[number] }

  /// Brings what one device has to another, which joins it.
  func carry(from source: Int, to target: Int) throws {
    try Self.carry(from: devices[source].store, to: devices[target].store)
    let member = try devices[target].member
    _ = try member.refresh()
    _ = try member.joinConcurrent()
  }

  /// Carries in all directions until nothing changes.
  func everyoneMeets() throws {
    for _ in 0..<4 {
      for source in devices.indices {
        for target in devices.indices where target != source {
          try carry(from: source, to: target)
        }
      }
    }
  }

  /// The first device makes one change and the second a day later the other one, and then everyone meets.
  func change(_ first: RecordEdit, then later: RecordEdit) throws {
    try devices[0].commit(first)
    devices[1].clock.advance(days: 1)
    try devices[1].commit(later)
    try everyoneMeets()
  }

  /// Copies what is missing and what has a higher counter, heads last.
  static func carry(from source: MemoryStore, to target: MemoryStore) throws {
    var registers: [BlobPath] = []
    try source.walk(under: .root) { (path, entry) throws(BlobStoreError) in
      guard let path, !entry.isFolder, let parsed = VaultPath(parsing: path.string)
      else { return .goOn }
      switch parsed {
      case .device, .head: registers.append(path)
      default:
        guard try target.size(of: path) == nil else { break }
        try target.replace(path, source.read(path, limit: 64 << 20), durably: false)
      }
      return .goOn
    }
    for path in registers {
      let bytes = try source.read(path, limit: 1 << 20)
      if let old = try? target.read(path, limit: 1 << 20),
        try counter(of: old, at: path) >= counter(of: bytes, at: path)
      {
        continue
      }
      try target.replace(path, bytes, durably: false)
    }
  }

  private static func counter(of bytes: [UInt8], at path: BlobPath) throws -> UInt64 {
    let body = try SignedFile(decoding: bytes).body
    return switch VaultPath(parsing: path.string) {
    case .device: try DeviceBody(decoding: body).counter
    default: try HeadFile(decoding: body).counter
    }
  }
}
