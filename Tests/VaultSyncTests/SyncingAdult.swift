import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// One adult's folder and open vault, who shares nothing with others but remotes.
struct SyncingAdult {
  let store: MemoryStore
  let vault: Vault
  /// How much of strangers' files is taken.
  var strangersLimit = CargoQuota.limit
  /// Empty for the family's person.
  let words: [String]
  /// Opens the vault as another process of this machine finds it, in the folder as this store shows it.
  let openedOn: (any LocalStore) throws -> Vault

  init(_ device: Family.Device) {
    (store, vault, words) = (device.store, device.vault, [])
    openedOn = { try device.open(on: $0) }
  }

  /// Joins with an invitation in an empty folder.
  init(
    joining invitation: Invitation, as name: String, words: consuming RecoveryWords = .random()
  ) throws {
    let state = StateFolder(store: MemoryStore())
    let store = MemoryStore()
    self.store = store
    let device = NewDevice(
      personName: name, deviceName: "tablet", deviceKind: "tablet", passwordCost: .floor,
      recoveryCost: .floor)
    let joined = try Vault.join(
      invitation, in: VaultCopy(id: invitation.vault, store: store, state: state, clock: .system),
      device: device, password: SecretBytes(copying: Array("pw".utf8)), words: words)
    self.words = joined.words.words
    let openedOn = { (folder: any LocalStore) in
      try Vault.open(
        VaultCopy(id: joined.id, store: folder, state: state, clock: .system),
        key: joined.unlockKey, options: OpenOptions())
    }
    self.openedOn = openedOn
    vault = try openedOn(store)
  }

  /// One more device of somebody's, by the words, in this folder.
  init(
    recovering id: VaultID, in store: MemoryStore, words: borrowing RecoveryWords
  ) throws {
    let state = StateFolder(store: MemoryStore())
    let copy = VaultCopy(id: id, store: store, state: state, clock: .system)
    let key = try Vault.recover(
      copy, words: words, device: Family.newDevice,
      password: SecretBytes(copying: Array("pw".utf8)))
    let openedOn = { (folder: any LocalStore) in
      try Vault.open(
        VaultCopy(id: id, store: folder, state: state, clock: .system), key: key,
        options: OpenOptions())
    }
    (self.store, self.openedOn, self.words) = (store, openedOn, [])
    vault = try openedOn(store)
  }

  func opened() throws -> Vault { try openedOn(store) }

  /// Ben, who joins this family and may write Emma's records; all have met at this remote.
  static func editor(of family: Family, at usb: MemoryStore) throws -> SyncingAdult {
    try family.meet(at: usb)
    let desk = family[0]
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(usb)
    try desk.sync(usb)
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    for _ in 0..<2 {
      try family.meet(at: usb)
      try ben.sync(usb)
    }
    return ben
  }

  /// Anna, who has a vault with these records of Emma's, and Ben, whom she has let in to it; both have met at this remote.
  static func annaAndBen(
    at usb: MemoryStore, as role: Role, writing titles: [String] = ["Visit"]
  ) throws -> (anna: SyncingAdult, ben: SyncingAdult) {
    let anna = try SyncingAdult(Family(count: 1)[0])
    for title in titles { try anna.write(title) }
    try anna.sync(usb)
    let ben = try SyncingAdult(joining: anna.vault.invite(), as: "Ben")
    try ben.sync(usb)
    try anna.sync(usb)
    #expect(try anna.vault.acceptIntroductions() == [ben.vault.person])
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: role)
    for adult in [anna, ben] { try adult.sync(usb) }
    return (anna, ben)
  }

  @discardableResult
  func sync(
    _ remote: any BlobStore, as name: String = "usb", looksEverywhere: Bool = false,
    takesStrangers: Bool = false
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.looksEverywhere = looksEverywhere
    options.takesStrangers = takesStrangers
    options.strangersLimit = strangersLimit
    return try RemoteSync(
      vault: vault, remote: remote, name: #require(RemoteName(name)), options: options
    ).run()
  }

  var emma: Member? { vault.members.first { $0.name.string == "Emma" } }

  func write(_ title: String) throws {
    let commit = try #require(emma).commit([.newRecord(title, note: "a note")])
    if let failure = commit.failures.values.first { throw failure }
  }

  func delete(_ title: String) throws {
    let emma = try #require(emma)
    let entry = try #require(emma.children(of: .root).first { $0.title.string == title })
    var edit = RecordEdit(record: entry.record)
    edit.place = RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)
    if let failure = try emma.commit([edit]).failures.values.first { throw failure }
  }

  var titles: Set<String> {
    get throws { Set(try #require(emma).children(of: .root).map(\.title.string)) }
  }
}

extension SyncingAdult {
  /// A link that this adult's device signs, which stands nowhere yet.
  func signedLink(
    of member: MemberID, as place: Place?, follows: [StatementID], _ change: Change,
    epoch: FileHash? = nil
  ) throws -> (path: BlobPath, id: StatementID, bytes: [UInt8]) {
    let context = vault.context
    let body = Link(
      member: member, person: context.person, certificate: try context.ownCertificate().id,
      place: place, follows: follows, changes: [change], epoch: epoch, time: 1
    ).encoded()
    let id = vault.id.statementID(.link, body: body)
    let bytes = context.signedFiles.statement(.link, body) { context.device.signingKey.sign($0) }
    return (BlobPath(VaultPath.link(member, id).string), id, bytes)
  }
}
