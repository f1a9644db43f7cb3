import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// An adversary who can write to the remotes, and to the folders that copiers fill, and has the keys of machines and people
/// that are out, of readers, of strangers, and words that were replaced.
///
/// It writes whatever these keys can make, well formed, and whatever needs no key.
struct Intruder {
  /// Somebody as whom it can sign.
  struct Signer {
    let person: PersonID
    let certificate: StatementID
    let device: DeviceID
    /// Whose keys they go back to.
    let holder: KeyHolder
    let sign: ([UInt8]) -> [UInt8]
  }

  /// Words with the person whose they are or were.
  struct Words {
    let person: PersonID
    let text: String
    let holder: KeyHolder
  }

  /// What stands on the remotes for everyone to read.
  struct Seen {
    var links: [MemberID: [StatementID: Link]] = [:]
    var roots: [MemberID: MemberRoot] = [:]
    var closings: [PersonID: [StatementID: Closing]] = [:]
    var certificates: [StatementID: Certificate] = [:]
    var heads: [VaultPath: HeadFile] = [:]
    var objects: [MemberID: [ObjectName]] = [:]
    var files: [BlobPath: [UInt8]] = [:]
  }

  let vault: VaultID
  /// Those whose machines it has, with the programs on them.
  private(set) var machines: [Household.Machine]
  /// Whose keys it has had from the beginning.
  private let captives: Set<KeyHolder>
  private(set) var signers: [Signer]
  private(set) var words: [Words]
  /// Keys that it has of epochs, some of which it made up, and from whom.
  var epochKeys: [MemberID: [StatementID: EpochKeys]] = [:]
  private(set) var heldKeys: [KeyHolder: [EpochKeys]] = [:]
  var random: SplitMix64
  var seen = Seen()
  /// What it has written, in all: paths and bytes.
  private(set) var written: [BlobPath: [UInt8]] = [:]
  private(set) var byteCount = 0
  /// What it says in records.
  var forgeryCount = 0
  /// Whether it has written records with keys of which not everybody had heard.
  private(set) var hasBeenBelieved = false
  /// Records of honest people to which it has written as somebody who may be believed: it shows one machine this and another
  /// one that.
  private(set) var touched: Set<RecordID> = []
  private var knownLost = 0
  private var knownWords = 0
  /// What happened, for who looks into a failure.
  var trace: [String] = []

  static let stranger = KeyHolder.machine(900)

  init(_ cast: HouseholdCast, seed: UInt64, readers: [Household.Machine]) throws {
    vault = cast.vault
    random = SplitMix64(seed: seed &* 2 &+ 2)
    machines = [
      try Household.Machine(
        900, 9, "Mallory's desk", cast.vault, cast.stranger, at: Household.beginning)
    ]
    words = [
      Words(
        person: machines[0].vault.person, text: cast.strangersWords, holder: Self.stranger)
    ]
    signers = []
    captives = Set(readers.map { .machine($0.number) }).union([Self.stranger])
    for machine in machines + readers { try take(machine) }
    machines += readers
  }

  var binding: Binding { Binding(vault: vault) }
  var files: SignedFiles { SignedFiles(store: machines[0].store, binding: binding) }

  mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  mutating func chance(_ one: Int) -> Bool { number(below: one) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &random)
  }

  /// The devices that are the adversary's.
  var devices: Set<DeviceID> { Set(signers.map(\.device)) }
  var people: Set<PersonID> { Set(signers.map(\.person)).union(words.map(\.person)) }

  // MARK: Keys

  /// Takes what honest people have lost since.
  mutating func takeWhatWasLost(in house: Household) throws {
    for machine in house.lost.dropFirst(knownLost) {
      trace.append("  the adversary has \(machine.name)")
      try take(machine)
      machines.append(machine)
    }
    knownLost = house.lost.count
    for (number, former) in house.formerWords.enumerated().dropFirst(knownWords) {
      words.append(
        Words(
          person: house.persons[former.person], text: former.words, holder: .words(number)))
    }
    knownWords = house.formerWords.count
  }

  private mutating func take(_ machine: Household.Machine) throws {
    let context = machine.vault.context
    let certificate = try #require(
      context.people[context.person]?.anyCertificate(of: context.device.id))
    let device = context.device
    add(
      Signer(
        person: context.person, certificate: certificate.id, device: device.id,
        holder: .machine(machine.number), sign: { device.signingKey.sign($0) }))
    noteKeys(of: machine)
  }

  /// Whether everybody has heard that these keys are nobody's any more. Whoever has not rightly believes what is written
  /// with them (Docs/Trust.md).
  func isHeard(of holder: KeyHolder, in house: Household) -> Bool {
    house.everyone.allSatisfy { house.removals.isHeard(of: holder, in: $0.store.blobs) }
  }

  /// The words that it writes with: of those that were replaced only once everybody has heard so, since what comes of it
  /// before lasts.
  func usableWords(in house: Household) -> [Words] {
    words.filter { isHeard(of: $0.holder, in: house) }
  }

  /// Whether it writes records of a member with these keys now: seldom where they are somebody's who may, or of whom not
  /// everybody has heard that they may not, since those records then stay.
  mutating func mayWriteRecords(
    of member: MemberID, by holder: KeyHolder, in house: Household
  ) -> Bool {
    if isNeverBelieved(holder, of: member, in: house) { return true }
    guard chance(6) else { return false }
    hasBeenBelieved = true
    return true
  }

  /// Records of a member are shown that were written with these keys.
  mutating func noteRecords(of member: MemberID, by holder: KeyHolder, in house: Household) {
    if !isNeverBelieved(holder, of: member, in: house) { hasBeenBelieved = true }
  }

  /// It writes to a record of somebody else's.
  mutating func noteTouched(
    _ record: RecordID, of member: MemberID, by holder: KeyHolder, in house: Household
  ) {
    if captives.contains(holder) || !isNeverBelieved(holder, of: member, in: house) {
      touched.insert(record)
    }
  }

  /// Whether everybody knows that they may not write the member with these keys. Of those that it has had from the beginning
  /// `AdversaryRun` knows who may.
  func isNeverBelieved(
    _ holder: KeyHolder, of member: MemberID, in house: Household
  ) -> Bool {
    captives.contains(holder)
      || house.removals.isOut(holder, of: member) && isHeard(of: holder, in: house)
  }

  mutating func add(_ signer: Signer) { signers.append(signer) }

  /// Keys of epochs that a program of the adversary's has.
  mutating func noteKeys(of machine: Household.Machine) {
    for member in machine.vault.openedMembers {
      let keys = member.register.keys
      for epoch in member.register.links.trust.epochs.states.keys {
        guard let known = keys.epoch(epoch), epochKeys[member.id]?[epoch] == nil else { continue }
        hold(known.keys, of: epoch, .machine(machine.number))
      }
    }
  }

  mutating func hold(_ keys: EpochKeys, of epoch: StatementID, _ holder: KeyHolder) {
    epochKeys[keys.member, default: [:]][epoch] = keys
    heldKeys[holder, default: []].append(keys)
  }

  // MARK: Reading and writing

  /// Reads all that is on the remotes.
  mutating func look(at house: Household) {
    var files: [BlobPath: [UInt8]] = [:]
    for remote in house.remotes { files.merge(remote.blobs) { first, _ in first } }
    var seen = Seen()
    seen.files = files
    for (blob, bytes) in files {
      guard let path = VaultPath(parsing: blob.string) else { continue }
      if case .object(let member, let name) = path {
        seen.objects[member, default: []].append(name)
        continue
      }
      guard let body = try? SignedFile(decoding: bytes).body else { continue }
      switch path {
      case .link(let member, let id):
        seen.links[member, default: [:]][id] = try? Link(decoding: body)
      case .memberRoot(let member): seen.roots[member] = try? MemberRoot(decoding: body)
      case .closing(let person, let id):
        seen.closings[person, default: [:]][id] = try? Closing(decoding: body)
      case .certificate(_, let id): seen.certificates[id] = try? Certificate(decoding: body)
      case .head: seen.heads[path] = try? HeadFile(decoding: body)
      default: break
      }
    }
    self.seen = seen
  }

  /// Puts a file where nothing stands, or where the adversary has put something before.
  mutating func put(_ path: BlobPath, _ bytes: [UInt8], in house: Household) throws {
    let target = number(below: 6)
    if target == 0, let machine = pick(house.everyone), !path.string.hasPrefix("people/") {
      try put(path, bytes, into: machine.store)
    }
    let remote = house.remotes[target % house.remotes.count]
    try put(path, bytes, into: remote)
    if written[path] != nil { house.foreign.insert(path) }
  }

  private mutating func put(
    _ path: BlobPath, _ bytes: [UInt8], into store: MemoryStore
  ) throws {
    if let there = store.blobs[path], written[path] != there, !isOwn(path) { return }
    do throws(BlobStoreError) { try store.replace(path, bytes, durably: true) } catch {
      // A folder stands there, or a file where a folder should.
      return
    }
    written[path] = bytes
    byteCount += bytes.count
  }

  /// Whether it is the register of a machine that it has.
  private func isOwn(_ path: BlobPath) -> Bool {
    switch VaultPath(parsing: path.string) {
    case .head(_, let device), .device(_, let device): devices.contains(device)
    default: false
    }
  }

  mutating func put(_ path: VaultPath, _ bytes: [UInt8], in house: Household) throws {
    try put(BlobPath(path.string), bytes, in: house)
  }

  /// Signs a statement and puts it where it belongs.
  @discardableResult
  mutating func put(
    _ label: SignedLabel, _ body: [UInt8], at path: (StatementID) -> VaultPath,
    in house: Household, sign: ([UInt8]) -> [UInt8]
  ) throws -> StatementID {
    let id = vault.statementID(label, body: body)
    try put(path(id), files.statement(label, body, sign: sign), in: house)
    return id
  }

  // MARK: Acting

  /// Does one thing.
  mutating func act(in house: Household) throws {
    look(at: house)
    switch number(below: 16) {
    case 0..<4: try writeLink(in: house)
    case 4: try writeHandOver(in: house)
    case 5: try writeCertificate(in: house)
    case 6: try writeClosing(in: house)
    case 7..<10: try writeHead(in: house)
    case 10..<14: try runProgram(in: house)
    case 14: try writeUnsigned(in: house)
    default: try writeMember(in: house)
    }
  }
}
