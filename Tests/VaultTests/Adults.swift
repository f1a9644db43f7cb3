import BlobStore
import Log
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Adults who each have keys of their own and a folder of their own; files are carried between the folders by hand.
/// The first one has made the vault and a member, Emma, and has invited the others.
final class Adults {
  /// One adult with a device, its folder and its open vault.
  final class Adult {
    var store: MemoryStore
    var stateStore: MemoryStore
    let clock: MemoryVault.Clock
    private(set) var vault: Vault
    private let key: CreatedVault

    fileprivate init(
      _ id: VaultID, store: MemoryStore, stateStore: MemoryStore, key: CreatedVault, start: UInt64
    ) throws {
      self.store = store.imageAfterKill()
      self.stateStore = stateStore.imageAfterKill()
      self.key = key
      clock = MemoryVault.Clock(start)
      vault = try Vault.open(
        VaultCopy(
          id: id, store: self.store, state: StateFolder(store: self.stateStore),
          clock: clock.wallClock), key: key.unlockKey, options: OpenOptions())
    }

    var id: PersonID { vault.person }
    /// Nil for someone who has no keys of hers; those that are only offered are among the opened ones.
    var emma: Member? { vault.openedMembers.first { $0.name.string == "Emma" } }
    var words: [String] { key.words.words }

    /// Opens what a process that was killed now leaves.
    func reopen() throws {
      store = store.imageAfterKill()
      stateStore = stateStore.imageAfterKill()
      vault = try Vault.open(
        VaultCopy(
          id: vault.id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
        key: key.unlockKey, options: OpenOptions())
    }

    /// Another process of the machine, with the vault, or its state, in a store that looks on.
    func open(
      on store: any LocalStore, state: (any LocalStore)? = nil, readOnly: Bool = false,
      log: BackgroundLog = .silent
    ) throws -> Vault {
      try Vault.open(
        VaultCopy(
          id: vault.id, store: store, state: StateFolder(store: state ?? stateStore),
          clock: clock.wallClock),
        key: key.unlockKey, options: OpenOptions(readOnly: readOnly, log: log))
    }

    /// A new record of Emma's with a note.
    @discardableResult
    func write(_ title: String, _ note: String = "a note") throws -> RecordID {
      let edit = RecordEdit.newRecord(title, note: note)
      let commit = try #require(emma).commit([edit])
      if let failure = commit.failures.values.first { throw failure }
      return edit.record
    }

    /// Writes another note into a record of Emma's.
    func edit(_ record: RecordID, _ note: String) throws {
      var edit = RecordEdit(record: record)
      edit.items[.record] = .note(note)
      _ = try #require(emma).commit([edit])
    }

    /// What a client does that was changed so that it writes whatever its person may.
    @discardableResult
    func writeRegardlessOfRole(_ title: String) throws -> RecordID {
      let edit = RecordEdit.newRecord(title, note: "forged")
      let member = try #require(emma)
      try member.heads.withLock { heads in
        var writer = CommitWriter(member: member, heads: heads)
        try writer.add([edit])
        _ = try writer.finish()
        heads = writer.heads
      }
      return edit.record
    }

    var titles: Set<String> {
      get throws {
        Set(try #require(emma).children(of: .root).map(\.title.string))
      }
    }

    func problems(at path: VaultPath) -> [Problem] {
      vault.problems.filter { $0.path == path.string }
    }
  }

  /// The vault as everyone first has it, made once: deriving keys from words takes long.
  private final class Template: Sendable {
    struct Seed: Sendable {
      let store: MemoryStore
      let stateStore: MemoryStore
      let key: CreatedVault
    }

    let id: VaultID
    let seeds: [Seed]

    init() throws {
      let first = try MemoryVault()
      let vault = try first.open()
      _ = try vault.addMember(named: #require(FileName("Emma")))
      id = first.id
      var seeds = [Seed(store: first.store, stateStore: first.stateStore, key: first.created)]
      for name in ["Ben", "Carla"] {
        let (store, stateStore) = (MemoryStore(), MemoryStore())
        let key = try Vault.join(
          vault.invite(),
          in: VaultCopy(
            id: vault.invite().vault, store: store, state: StateFolder(store: stateStore),
            clock: first.clock.wallClock), device: Adults.newDevice(of: name),
          password: Adults.password, words: .random())
        try Replicas.carry(from: store, to: first.store)
        _ = try vault.acceptIntroductions()
        seeds.append(Seed(store: store, stateStore: stateStore, key: key))
      }
      try vault.close()
      self.seeds = seeds
    }
  }

  private static let template = Result { try Template() }

  static var password: SecretBytes { SecretBytes(copying: Array("pw".utf8)) }

  static func newDevice(of name: String) -> NewDevice {
    NewDevice(
      personName: name, deviceName: "\(name)'s desk", deviceKind: "desktop", passwordCost: .floor,
      recoveryCost: .floor)
  }

  let everyone: [Adult]
  var anna: Adult { everyone[0] }
  var ben: Adult { everyone[1] }
  var carla: Adult { everyone[2] }

  /// Three adults, who all have everything that is in the vault.
  init() throws {
    let template = try Self.template.get()
    everyone = try template.seeds.enumerated().map { number, seed in
      try Adult(
        template.id, store: seed.store, stateStore: seed.stateStore, key: seed.key,
        start: 1_700_000_100_000 + UInt64(number) * 7)
    }
    try meet()
  }

  /// With Ben as an editor, and Carla if she is to be one, and a note that Anna wrote.
  static func withNote(
    carlaEdits: Bool = false
  ) throws -> (adults: Adults, note: RecordID) {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    if carlaEdits { try adults.share(with: adults.carla, .editor) }
    let note = try adults.anna.write("Allergies", "PENICILLIN: severe")
    try adults.meet()
    return (adults, note)
  }

  /// Gives someone access to Emma, and carries it around.
  func share(with taker: Adult, _ role: Role, until: UInt64? = nil) throws {
    try anna.vault.share(#require(anna.emma), with: taker.id, role: role, until: until)
    try meet()
  }

  /// Brings what one has to another.
  func carry(from source: Adult, to target: Adult) throws {
    try Replicas.carry(from: source.store, to: target.store)
    _ = try target.vault.refreshMembers()
    // Nobody here is a stranger, though only Anna has met the others.
    for offer in target.vault.offeredMembers { try target.vault.accept(offer.member.id) }
    for member in target.vault.members {
      _ = try member.refresh()
      _ = try member.joinConcurrent()
    }
  }

  /// Carries in all directions until nothing changes.
  func meet() throws {
    for _ in 0..<3 {
      for source in everyone {
        for target in everyone where target !== source { try carry(from: source, to: target) }
      }
    }
  }
}

extension Vault {
  /// Signs a link with this device's key, whatever it says, and puts it into a folder.
  @discardableResult
  func forge(_ link: Link, into store: MemoryStore) throws -> VaultPath {
    let body = link.encoded()
    let path = VaultPath.link(link.member, id.statementID(.link, body: body))
    let device = context.device
    let bytes = context.signedFiles.statement(.link, body) { device.signingKey.sign($0) }
    try store.replace(BlobPath(path.string), bytes, durably: true)
    return path
  }

  /// The beginning of a link of this device's person, as the holder of a place, or of none.
  func link(of member: Member, as place: Place?, _ changes: [Change]) throws -> Link {
    Link(
      member: member.id, person: person, certificate: try context.ownCertificate().id,
      place: place, follows: member.register.links.history.tips, changes: changes, time: 1)
  }
}
