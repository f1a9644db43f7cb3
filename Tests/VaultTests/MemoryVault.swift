import BlobStore
import MachineState
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A vault in memory, with a clock that a test turns: what a crash leaves can be opened again.
struct MemoryVault {
  /// A clock that moves a millisecond at each look.
  final class Clock: Sendable {
    private let now: Mutex<UInt64>
    init(_ start: UInt64 = 1_700_000_000_000) { now = Mutex(start) }

    func advance(days: UInt64) { now.withLock { $0 += days * 86_400_000 } }

    func advance(seconds: UInt64) { now.withLock { $0 += seconds * 1000 } }

    func goBack(days: UInt64) { now.withLock { $0 -= days * 86_400_000 } }

    var wallClock: WallClock {
      WallClock {
        self.now.withLock {
          $0 += 1
          return $0
        }
      }
    }
  }

  let id: VaultID
  var store: MemoryStore
  var stateStore: MemoryStore
  let clock: Clock
  /// The words, and the key of the one device.
  let created: CreatedVault

  static let password = "correct horse"

  /// The cheapest cost that the format allows.
  static let newDevice = NewDevice(
    personName: "Adult A", deviceName: "desk", deviceKind: "desktop", passwordCost: .floor,
    recoveryCost: .floor)

  /// Made once and copied, since deriving keys takes long.
  private static let template = Result { try MemoryVault(made: ()) }

  /// The same vault each time, in files of its own.
  init() throws {
    let template = try Self.template.get()
    (id, created) = (template.id, template.created)
    (store, stateStore) = (template.store.imageAfterKill(), template.stateStore.imageAfterKill())
    clock = Clock(template.clock.wallClock.milliseconds())
  }

  private init(made: Void) throws {
    id = VaultID.random()
    store = MemoryStore()
    stateStore = MemoryStore()
    clock = Clock()
    created = try Vault.create(
      VaultCopy(
        id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
      device: Self.newDevice, password: SecretBytes(copying: Array(Self.password.utf8)))
  }

  /// With a member, Emma, and open.
  static func withEmma() throws -> (memory: MemoryVault, vault: Vault, emma: Member) {
    let memory = try MemoryVault()
    let vault = try memory.open()
    return (memory, vault, try vault.addMember(named: #require(FileName("Emma"))))
  }

  var state: StateFolder { StateFolder(store: stateStore) }

  func open(_ options: OpenOptions = OpenOptions(), on other: (any LocalStore)? = nil) throws
    -> Vault
  {
    try Vault.open(
      VaultCopy(id: id, store: other ?? store, state: state, clock: clock.wallClock),
      key: created.unlockKey, options: options)
  }

  /// The same vault as a process that was killed at this moment leaves it.
  func afterKill() -> MemoryVault {
    var copy = self
    copy.store = store.imageAfterKill()
    copy.stateStore = stateStore.imageAfterKill()
    return copy
  }

  /// The same vault as a power cut at this moment leaves it.
  func afterPowerCut(seed: UInt64) -> MemoryVault {
    var copy = self
    copy.store = store.imageAfterPowerCut(seed: seed)
    copy.stateStore = stateStore.imageAfterPowerCut(seed: seed)
    return copy
  }
}

extension RecordEdit {
  /// A new record with one note.
  static func newRecord(
    _ title: String, in parent: RecordID = .root, note: String? = nil
  ) -> RecordEdit {
    var edit = RecordEdit(
      record: .random(), isNew: true,
      place: RecordPlace(parent: parent, title: FileName(title) ?? .record),
      attributes: RecordAttributes(mode: 0o700))
    if let note { edit.items[.record] = .note(note) }
    return edit
  }
}

extension Item {
  /// A `record.md` with this text.
  static func note(_ text: String) -> Item {
    Item(
      name: .record, file: .random(), size: UInt64(text.utf8.count),
      content: text.isEmpty ? .none : .inline(Array(text.utf8)), time: .zero)
  }

  /// A file with this content, in one chunk.
  static func file(_ name: String, _ bytes: [UInt8], in member: Member) throws -> Item {
    Item(
      name: FileName(name) ?? .record, file: .random(), size: UInt64(bytes.count),
      content: try member.content(of: [member.objects.put(.chunk, bytes)]), time: .zero)
  }
}

extension ObjectStore {
  /// A range of the chunk's content.
  func read(_ chunk: ContentDigest, _ range: Range<Int>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let count = try bytes.withUnsafeMutableBytes { buffer throws(VaultError) in
      try read(chunk, at: range.lowerBound, into: buffer)
    }
    return Array(bytes.prefix(count))
  }
}

extension Member {
  /// The whole content of an item of a record's current revision.
  func bytes(of name: String, in record: RecordID) throws -> [UInt8]? {
    guard let entry = entry(record), let name = FileName(name) else { return nil }
    guard let item = try items(of: try revision(entry.revision)).first(where: { $0.name == name })
    else { return nil }
    return try beginning(of: item, byteCount: Int(item.size))
  }

  func record(titled title: String) -> RecordEntry? {
    allEntries().first { $0.title.string == title && !$0.isDeleted }
  }
}
