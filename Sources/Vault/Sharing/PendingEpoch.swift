import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// An epoch that is being begun, as this machine remembers it: whatever happens, what is sealed under its key can be
/// found and gone on with. Docs/Format.md, "This machine's state".
struct PendingEpoch: Sendable {
  /// The commitment to the epoch's key, by which the link is known that began the epoch.
  let commitment: FileHash
  /// The epoch that was in use.
  let former: StatementID
  /// Who is to have no access any more.
  var without: Set<PersonID>
  var keepsHistory: Bool
  /// Whether it takes the place of one that was torn: then nobody knows who else was to have no access.
  var isAfterTorn = false
  /// The key of the epoch, sealed with the person's profile key.
  var key: Sealed

  /// What this machine remembers of a member.
  enum Memory {
    case epoch(PendingEpoch)
    /// An epoch was being begun, and a disk has lost whose access was to end with it.
    case torn
  }

  private static let title = "kinvault epoch 2"
  private static let byteLimit = 4 << 20
  static let folder: BlobPath = "epochs"

  private static func path(of member: MemberID) -> BlobPath { folder.appending(member.hex) }

  /// Forgets it, once the epoch stands or can be begun no more, and has it told that more was to be done, if so.
  func finish(of member: Member) throws(VaultError) {
    if isAfterTorn { member.context.noteForgottenAccess(to: member) }
    try Self.remove(of: member.id, state: member.context.state)
  }

  // MARK: The file

  /// Nil where no epoch is being begun.
  ///
  /// - Throws: `damaged` for what is whole, and nothing that this version has written.
  static func load(of member: MemberID, state: StateFolder) throws(VaultError) -> Memory? {
    guard let bytes = try state.readIfThere(path(of: member), limit: byteLimit) else { return nil }
    if ChecksummedLines.isTorn(bytes) { return .torn }
    guard let epoch = PendingEpoch(decoding: bytes) else {
      throw .damaged(
        path: state.describe(path(of: member)),
        reason: "it is of another version of kinvault, which has to go on with it")
    }
    return .epoch(epoch)
  }

  /// On disk when it returns.
  func store(of member: MemberID, state: StateFolder) throws(VaultError) {
    let bytes = encoded()
    try storing(state.store.replace(Self.path(of: member), bytes, durably: true))
  }

  static func remove(of member: MemberID, state: StateFolder) throws(VaultError) {
    try storing(state.store.remove(path(of: member)))
  }

  private func encoded() -> [UInt8] {
    var lines = ["commitment \(commitment.hex)", "former \(former.hex)"]
    lines += without.sorted().map { "without \($0.hex)" }
    lines.append("history \(keepsHistory ? "kept" : "dropped")")
    if isAfterTorn { lines.append("torn before") }
    lines.append("key \(key.words)")
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  private init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    var commitment: FileHash?
    var former: StatementID?
    var key: Sealed?
    (without, keepsHistory) = ([], true)
    for words in lines.words(upTo: 2) {
      switch (words.first, words.count) {
      case ("commitment", 2): commitment = FileHash(hex: String(words[1]))
      case ("former", 2): former = StatementID(hex: String(words[1]))
      case ("without", 2):
        guard let person = PersonID(hex: String(words[1])) else { return nil }
        without.insert(person)
      case ("history", 2): keepsHistory = words[1] != "dropped"
      case ("torn", 2): isAfterTorn = true
      case ("key", 2):
        guard let sealed = Sealed(words: words[1]) else { return nil }
        key = sealed
      default: return nil
      }
    }
    guard let commitment, let former, let key else { return nil }
    (self.commitment, self.former, self.key) = (commitment, former, key)
  }

  // MARK: The key

  /// Remembers a new key, for the epoch that is to come after this one.
  init(
    after former: StatementID, without: Set<PersonID>, keepsHistory: Bool,
    isAfterTorn: Bool, key: borrowing FamilyMemberKey, of member: MemberID, binding: Binding,
    sealingKey: SealingKey
  ) {
    commitment = key.commitment(member: member, binding: binding)
    self.former = former
    self.without = without
    self.keepsHistory = keepsHistory
    self.isAfterTorn = isAfterTorn
    self.key = key.sealed(with: sealingKey, path: Self.path(of: member).string, counter: 0)
  }

  /// - Throws: `damaged`.
  func openKey(
    of member: MemberID, sealingKey: SealingKey, state: StateFolder
  ) throws(VaultError) -> FamilyMemberKey {
    let path = Self.path(of: member)
    do {
      return try FamilyMemberKey.open(
        key, with: sealingKey, path: path.string, counter: 0)
    } catch {
      throw VaultError(error, path: state.describe(path))
    }
  }
}

extension PendingEpoch.Memory {
  /// Who is to have no access any more; nobody where that cannot be read.
  var without: Set<PersonID> {
    switch self {
    case .epoch(let pending): pending.without
    case .torn: []
    }
  }

  var keepsHistory: Bool {
    switch self {
    case .epoch(let pending): pending.keepsHistory
    case .torn: true
    }
  }

  /// Whether somebody's access may have been to end of whom nothing is known.
  var isTorn: Bool {
    switch self {
    case .epoch(let pending): pending.isAfterTorn
    case .torn: true
    }
  }

  /// Whether the epoch is known to have been begun.
  func stands(in links: MemberLinks) -> Bool {
    switch self {
    case .epoch(let pending): links.hasEpoch(pending.commitment)
    case .torn: false
    }
  }
}
