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
@testable import VaultSync

/// Several devices of one person, each with a folder and a state of its own in memory, and remotes between them.
final class Family {
  /// One device and its open vault.
  final class Device {
    var store: MemoryStore
    var stateStore: MemoryStore
    var vault: Vault
    let clock: TurnedClock
    private var key: UnlockKey

    init(_ id: VaultID, _ seed: Seed, start: UInt64) throws {
      store = seed.store.imageAfterKill()
      stateStore = seed.state.imageAfterKill()
      clock = TurnedClock(start)
      key = seed.key
      vault = try Vault.open(
        VaultCopy(
          id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
        key: seed.key.key, options: OpenOptions())
    }

    /// The disk of this machine as it is now: the vault and the state together.
    func snapshot() -> Seed {
      Seed(store: store.imageAfterKill(), state: stateStore.imageAfterKill(), key: key)
    }

    /// The machine goes back to an earlier moment, as one does whose disk is put back.
    func putBack(_ snapshot: Seed) throws {
      store = snapshot.store.imageAfterKill()
      stateStore = snapshot.state.imageAfterKill()
      vault = try open(on: store)
    }

    /// Makes this machine a device anew, by the words.
    func recover(_ words: borrowing RecoveryWords) throws {
      key = UnlockKey(
        try Vault.recover(
          copy(on: store), words: words, device: Family.newDevice,
          password: SecretBytes(copying: Array("pw".utf8))))
      try reopen()
    }

    /// A second machine with a copy of this one's disk.
    func clone() throws -> Device {
      try Device(vault.id, snapshot(), start: clock.milliseconds() + 3)
    }

    /// This machine knows remotes of these names, and so remembers what to remove there.
    func knowRemotes(_ names: [String]) throws {
      let registry = RemoteRegistry(state: StateFolder(store: stateStore))
      for name in names {
        try registry.add(
          RemoteConfiguration(
            name: #require(RemoteName(name)), address: "/\(name)", created: 0))
      }
    }

    /// Opens what a process that was killed now leaves.
    func reopen(_ options: OpenOptions = OpenOptions()) throws {
      store = store.imageAfterKill()
      stateStore = stateStore.imageAfterKill()
      vault = try open(on: store, options)
    }

    func open(on store: any LocalStore, _ options: OpenOptions = OpenOptions()) throws -> Vault {
      try Vault.open(copy(on: store), key: key.key, options: options)
    }

    /// The vault as far as its heads, in the folder as `store` shows it.
    func openHeads(on store: any LocalStore) throws(VaultError) -> VaultHeads? {
      try VaultHeads.open(copy(on: store), key: key.key)
    }

    /// A sync without the lists of records; nil where that is not enough.
    func quickSync(
      _ remote: any BlobStore, as name: String = "usb", on store: (any LocalStore)? = nil,
      _ options: SyncOptions = SyncOptions()
    ) throws -> SyncReport? {
      let folder: any LocalStore = store ?? self.store
      return try syncHeads(remote, as: name, on: folder, options).report
    }

    /// The same, with what it saw where it is not enough.
    func syncHeads(
      _ remote: any BlobStore, as name: String = "usb", on folder: any LocalStore,
      _ options: SyncOptions = SyncOptions()
    ) throws -> RemoteSync.End {
      try RemoteSync(
        .heads(copy(on: folder)) { [self] () throws(VaultError) in try openHeads(on: folder) },
        remote: remote, name: #require(RemoteName(name)), options: options
      ).runIfEnough()
    }

    private func copy(on store: any LocalStore) -> VaultCopy {
      VaultCopy(
        id: vault.id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock)
    }

    @discardableResult
    func syncLocked(_ remote: any BlobStore, as name: String = "usb") throws -> SyncReport {
      try RemoteSync(
        .locked(copy(on: store)), remote: remote, name: #require(RemoteName(name))
      ).run()
    }

    var emma: Member {
      get throws { try #require(vault.members.first { $0.name.string == "Emma" }) }
    }

    @discardableResult
    func commit(_ edits: RecordEdit...) throws -> Commit {
      let commit = try emma.commit(edits)
      if let failure = commit.failures.values.first { throw failure }
      return commit
    }

    /// A new record of Emma's with a note.
    @discardableResult
    func write(_ title: String, _ note: String) throws -> RecordID {
      let edit = RecordEdit.newRecord(title, note: note)
      try commit(edit)
      return edit.record
    }

    func edit(_ record: RecordID, _ note: String) throws {
      var edit = RecordEdit(record: record)
      edit.items[.record] = .note(note)
      try commit(edit)
    }

    func delete(_ record: RecordID) throws {
      let entry = try #require(emma.entry(record))
      var edit = RecordEdit(record: record)
      edit.place = RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)
      try commit(edit)
    }

    @discardableResult
    func sync(
      _ remote: any BlobStore, as name: String = "usb", seeing seen: RemoteSight? = nil,
      _ change: (inout SyncOptions) -> Void = { _ in }
    ) throws -> SyncReport {
      var options = SyncOptions()
      change(&options)
      var sync = try RemoteSync(
        vault: vault, remote: remote, name: #require(RemoteName(name)), options: options)
      sync.seen = seen
      return try sync.run()
    }

    /// What a mount does of itself: takes versions of these records away that nobody else has seen.
    ///
    /// - Parameters:
    ///   - records: All of them by default.
    ///   - inUse: Objects that a program has open.
    func thin(
      _ records: Set<RecordID>? = nil, to policy: KeepPolicy = .standard,
      except inUse: Set<ContentDigest> = []
    ) throws {
      try vault.thin(emma, records, to: policy, except: inUse)
    }

    /// Everything that shows: paths and contents of all members.
    func contents() throws -> [String: String] { try Self.contents(of: vault) }

    static func contents(of vault: Vault) throws -> [String: String] {
      var found: [String: String] = [:]
      for member in vault.members {
        for entry in member.allEntries() where !entry.isDeleted {
          let path =
            entry.record == .root ? member.name.string : member.displayPath(of: entry.record)
          found["\(path)[\(entry.record.shortHex)]/"] = ""
          for item in try member.items(of: member.revision(entry.revision)) {
            // What is behind the beginning `expectWhole` reads.
            let bytes = try member.beginning(of: item, byteCount: 4096)
            found["\(path)[\(entry.record.shortHex)]/\(item.name.string)"] =
              bytes.count < 4096
              ? String(decoding: bytes, as: UTF8.self) : "\(item.size): \(bytes.prefix(8))"
          }
        }
      }
      return found
    }

    /// The folder holds everything that its heads name, whole.
    func expectWhole(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation)
      throws
    {
      let problems = try vault.check(readsData: true).problems.filter { $0.severity > .note }
      #expect(problems == [], comment, sourceLocation: sourceLocation)
    }
  }

  final class UnlockKey: Sendable {
    let key: DeviceUnlockKey
    init(_ key: consuming DeviceUnlockKey) { self.key = key }
  }

  /// A device as it begins.
  struct Seed: Sendable {
    let store: MemoryStore
    let state: MemoryStore
    let key: UnlockKey
  }

  /// A clock that moves a millisecond at each look, and further when a test turns it.
  final class TurnedClock: Sendable {
    private let now: Mutex<UInt64>
    init(_ start: UInt64) { now = Mutex(start) }

    func milliseconds() -> UInt64 { wallClock.milliseconds() }

    func turn(bySeconds seconds: Int64) {
      now.withLock { $0 = UInt64(max(1, Int64($0) + seconds * 1000)) }
    }

    func set(to milliseconds: UInt64) { now.withLock { $0 = milliseconds } }

    var wallClock: WallClock {
      WallClock { [self] in
        now.withLock {
          $0 += 1
          return $0
        }
      }
    }
  }

  /// The vault as each device first has it, made once: deriving keys from words takes long.
  fileprivate final class Template: Sendable {
    let id = VaultID.random()
    let created: CreatedVault
    let devices: [Seed]

    init() throws {
      let (store, state) = (MemoryStore(), MemoryStore())
      let password = SecretBytes(copying: Array("pw".utf8))
      let created = try Vault.create(
        VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: .system),
        device: Family.newDevice, password: password)
      self.created = created
      let people = store.blobs
      let vault = try Vault.open(
        VaultCopy(
          id: id, store: store, state: StateFolder(store: state),
          clock: WallClock { 1_700_000_000_000 }), key: created.unlockKey, options: OpenOptions())
      _ = try vault.addMember(named: #require(FileName("Emma")))
      var devices = [
        Seed(store: store, state: state, key: try Self.unlock(id, state, password: "pw"))
      ]
      for _ in 0..<5 {
        // Who joins has the people's files at first, and nothing else.
        let (store, state) = (MemoryStore(), MemoryStore())
        for (path, bytes) in people { try store.replace(path, bytes, durably: true) }
        let key = try Vault.recover(
          VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: .system),
          words: created.words, device: Family.newDevice, password: password)
        devices.append(Seed(store: store, state: state, key: UnlockKey(key)))
      }
      self.devices = devices
    }

    static func unlock(
      _ id: VaultID, _ state: MemoryStore, password: String
    ) throws -> UnlockKey {
      UnlockKey(
        try UnlockSlots(vault: id, state: StateFolder(store: state))
          .open(password: SecretBytes(copying: Array(password.utf8))).takeKey())
    }
  }

  private static let template = Result { try Template() }

  static let newDevice = NewDevice(
    personName: "Adult A", deviceName: "desk", deviceKind: "desktop", passwordCost: .floor,
    recoveryCost: .floor)

  /// The 24 words of the one person.
  static var words: CreatedVault { get throws { try template.get().created } }

  let devices: [Device]

  /// A vault whose first device has a member, Emma. The others have not met it yet.
  ///
  /// - Parameter count: At most 6.
  init(count: Int = 2) throws {
    let template = try Self.template.get()
    devices = try template.devices.prefix(count).enumerated().map { number, seed in
      try Device(template.id, seed, start: 1_700_000_100_000 + UInt64(number) * 7)
    }
  }

  subscript(number: Int) -> Device { devices[number] }

  /// A family that has met at a remote, with a note of Emma's and a member Liam.
  static func met(at remote: any BlobStore) throws -> (family: Family, note: RecordID) {
    let family = try Family()
    let note = try family[0].write("Visit", "first")
    _ = try family[0].vault.addMember(named: #require(FileName("Liam")))
    try family.meet(at: remote)
    return (family, note)
  }

  /// Every device syncs with the remote until nothing moves.
  func meet(at remote: any BlobStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<6 {
      let reports = try devices.map { try $0.sync(remote) }
      if reports.allSatisfy({ $0.pulled.isEmpty && $0.pushed.isEmpty }) { return }
    }
    Issue.record("they do not come to rest", sourceLocation: sourceLocation)
  }

  /// All show the same, and everything is whole.
  func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let first = try devices[0].contents()
    for device in devices {
      #expect(try device.contents() == first, sourceLocation: sourceLocation)
      try device.expectWhole(sourceLocation: sourceLocation)
    }
  }
}

extension Vault {
  /// What a mount does of itself with a member. Every record by default.
  func thin(
    _ member: Member, _ records: Set<RecordID>? = nil, to policy: KeepPolicy = .standard,
    except inUse: Set<ContentDigest> = []
  ) throws {
    let seen = seenByRemotes(of: member.id)
    let all = Set(member.allEntries().map(\.record))
    _ = try member.thin(records ?? all, to: policy, seenElsewhere: seen.counter)
    member.forgetReplaced(besides: seen)
    // What cannot be told now, because something cannot be read, goes another time.
    guard let names = member.unneededReplaced(seenElsewhere: seen) else { return }
    try member.removeReplaced(names, except: inUse, seenElsewhere: seen)
  }
}

extension RemoteSync.End {
  /// Nil where the sync was not enough.
  var report: SyncReport? { if case .done(let report) = self { report } else { nil } }

  /// What one that was not enough saw.
  var sight: RemoteSight? { if case .notEnough(let sight) = self { sight } else { nil } }
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

  /// A file of chunks of which no two are the same.
  static func photo(
    _ name: String, byteCount: Int, seed: UInt64, in member: Member
  ) throws -> Item {
    var random = SplitMix64(seed: seed)
    var chunks: [ContentDigest?] = []
    var left = byteCount
    while left > 0 {
      let size = min(left, ObjectLayout.maximumContentSize(of: .chunk))
      var bytes = [UInt8](repeating: 7, count: size)
      let mark = withUnsafeBytes(of: random.next()) { Array($0) }
      bytes.replaceSubrange(0..<min(8, size), with: mark.prefix(size))
      chunks.append(try member.objects.put(.chunk, bytes))
      left -= size
    }
    return Item(
      name: FileName(name) ?? .record, file: .random(), size: UInt64(byteCount),
      content: try member.content(of: chunks), time: .zero)
  }
}
