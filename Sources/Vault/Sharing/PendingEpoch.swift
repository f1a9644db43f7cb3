import BlobStore
import VaultCrypto
import VaultModel

/// An epoch that is being begun, as this machine remembers it: whatever happens, what is sealed under its key can be
/// found and gone on with. Docs/Format.md, "This machine's state".
struct PendingEpoch: Sendable {
  var id: EpochID
  var follows: [EpochID]
  /// Who is to have no access any more.
  var without: Set<PersonID>
  var keepsHistory: Bool
  /// The key of the epoch, sealed with the person's profile key.
  var key: Sealed

  private static let title = "kinvault epoch 1"
  private static let byteLimit = 4 << 20
  static let folder: BlobPath = "epochs"

  private static func path(of member: MemberID) -> BlobPath { folder.appending(member.hex) }

  // MARK: The file

  static func load(of member: MemberID, state: StateFolder) throws(VaultError) -> PendingEpoch? {
    let bytes: [UInt8]
    do throws(BlobStoreError) {
      bytes = try state.store.read(path(of: member), limit: byteLimit)
    } catch {
      if case .notFound = error { return nil }
      throw VaultError(error)
    }
    guard let epoch = PendingEpoch(decoding: bytes) else {
      throw .damaged(path: state.describe(path(of: member)), reason: "its checksum is wrong")
    }
    return epoch
  }

  /// On disk when it returns.
  func store(of member: MemberID, state: StateFolder) throws(VaultError) {
    let bytes = encoded()
    try storing { () throws(BlobStoreError) in
      try state.store.replace(Self.path(of: member), bytes, durably: true)
    }
  }

  static func remove(of member: MemberID, state: StateFolder) throws(VaultError) {
    try storing { () throws(BlobStoreError) in try state.store.remove(path(of: member)) }
  }

  private func encoded() -> [UInt8] {
    var lines = ["epoch \(id.pathComponent)"]
    lines += follows.map { "follows \($0.pathComponent)" }
    lines += without.sorted().map { "without \($0.hex)" }
    lines.append("history \(keepsHistory ? "kept" : "dropped")")
    lines.append("key \(Hex.encode(key.nonce)) \(Hex.encode(key.ciphertext))")
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  private init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    var id: EpochID?
    var key: Sealed?
    (follows, without, keepsHistory) = ([], [], true)
    for words in lines.words(upTo: 3) {
      switch (words.first, words.count) {
      case ("epoch", 2): id = EpochID(pathComponent: String(words[1]))
      case ("follows", 2):
        guard let epoch = EpochID(pathComponent: String(words[1])) else { return nil }
        follows.append(epoch)
      case ("without", 2):
        guard let person = PersonID(hex: String(words[1])) else { return nil }
        without.insert(person)
      case ("history", 2): keepsHistory = words[1] != "dropped"
      case ("key", 3):
        guard let nonce = Hex.decode(String(words[1])),
          let ciphertext = Hex.decode(String(words[2]))
        else { return nil }
        key = Sealed(nonce: nonce, ciphertext: ciphertext)
      default: return nil
      }
    }
    guard let id, let key else { return nil }
    (self.id, self.key) = (id, key)
  }

  // MARK: The key

  /// Remembers a new key for the epoch.
  init(
    _ id: EpochID, following follows: [EpochID], without: Set<PersonID>, keepsHistory: Bool,
    key: borrowing FamilyMemberKey, of member: MemberID, sealingKey: SealingKey
  ) {
    (self.id, self.follows, self.without) = (id, follows, without)
    self.keepsHistory = keepsHistory
    self.key = Sealed(
      key.sealed(
        with: sealingKey, path: Self.path(of: member).string, counter: UInt64(id.number)))
  }

  /// - Throws: `damaged`.
  func openKey(
    of member: MemberID, sealingKey: SealingKey, state: StateFolder
  ) throws(VaultError) -> FamilyMemberKey {
    let path = Self.path(of: member)
    do {
      return try FamilyMemberKey.open(
        SealedValue(key), with: sealingKey, path: path.string, counter: UInt64(id.number))
    } catch {
      throw VaultError(error, path: state.describe(path))
    }
  }
}
