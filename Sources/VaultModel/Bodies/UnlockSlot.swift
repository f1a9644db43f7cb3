/// One way in which this machine unlocks the vault: `Docs/Format.md` section 14, "Slots".
///
/// All of its parts are needed to open it, and any one slot opens the vault.
package struct UnlockSlot: Hashable, WireMessage {
  static let version: UInt64 = 1
  /// Of a name, in bytes.
  package static let nameLimit = 255

  package var vault: VaultID
  package var id: UnlockSlotID
  /// What the person calls it.
  package var name: String
  /// Milliseconds since 1970.
  package var created: UInt64
  /// The device unlock key under the key that the parts give.
  package var wrappedUnlockKey: [UInt8]
  /// At least one, and none of a kind twice.
  package var parts: [UnlockPart]
  /// SHA-256 of `encodedWithoutChecksum()`; nil until it is computed.
  package var checksum: FileHash?
  package var unknown: UnknownFields

  package init(
    vault: VaultID, id: UnlockSlotID, name: String, created: UInt64, wrappedUnlockKey: [UInt8],
    parts: [UnlockPart], checksum: FileHash? = nil, unknown: UnknownFields = .none
  ) {
    self.vault = vault
    self.id = id
    self.name = name
    self.created = created
    self.wrappedUnlockKey = wrappedUnlockKey
    self.parts = parts
    self.checksum = checksum
    self.unknown = unknown
  }

  package static let what: StaticString = "slot"
  package static let blank = UnlockSlot(
    vault: .zero, id: .zero, name: "", created: 0, wrappedUnlockKey: [], parts: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.version(1, Self.version, of: "an unlock slot of version")
    try fields.id(2, &vault, "vault")
    try fields.id(3, &id, "id")
    try fields.text(4, &name, "name", limit: Self.nameLimit)
    try fields.time(5, &created, "created")
    try fields.bytes(6, &wrappedUnlockKey, "wrapped unlock key", exactly: KeySize.wrappedKey)
    var stored = parts.map(StoredUnlockPart.init)
    try fields.messages(7, &stored, "parts", limit: UnlockPart.Kind.allCases.count)
    var read: [UnlockPart] = []
    for part in stored { read.append(try part.part()) }
    guard !read.isEmpty, Set(read.map(\.kind)).count == read.count else {
      throw .malformed(what: "parts", reason: "there are none, or two of one kind")
    }
    parts = read
    try fields.id(8, &checksum, "checksum")
    fields.unknown(&unknown)
  }
}

/// Something that has to be known or had to open a slot.
package enum UnlockPart: Hashable, Sendable {
  /// A password, and how it is stretched. Whether the costs are allowed is checked where they are used.
  case password(salt: [UInt8], passes: UInt32, memoryKiB: UInt32)
  /// A secret that the person's desktop keeps.
  case keyring
  /// A FIDO2 token with this credential, whose `hmac-secret` is asked for `salt`.
  case token(credential: [UInt8], salt: [UInt8], asksForPIN: Bool)
  /// The TPM 2.0 of this machine, and the sealed object that only it can load.
  case tpm(publicArea: [UInt8], privateArea: [UInt8], asksForPIN: Bool)

  package enum Kind: UInt32, CaseIterable, Sendable {
    case password = 1
    case keyring = 2
    case token = 3
    case tpm = 4
  }

  package var kind: Kind {
    switch self {
    case .password: .password
    case .keyring: .keyring
    case .token: .token
    case .tpm: .tpm
    }
  }

  /// Of a token's salt, in bytes.
  package static let tokenSaltSize = 32
  /// Of a credential, and of each of a TPM's two areas, in bytes.
  package static let blobLimit = 2_048
}

/// A part as it stands in the file: one message for all kinds.
private struct StoredUnlockPart: Hashable, WireMessage {
  private static let asksForPIN: UInt32 = 1

  var kind: UInt32 = 0
  var salt: [UInt8] = []
  var passes: UInt32 = 0
  var memoryKiB: UInt32 = 0
  var credential: [UInt8] = []
  var publicArea: [UInt8] = []
  var privateArea: [UInt8] = []
  var flags: UInt32 = 0
  var unknown = UnknownFields.none

  static let what: StaticString = "part of a slot"
  static let blank = StoredUnlockPart()

  init() {}

  init(_ part: UnlockPart) {
    kind = part.kind.rawValue
    switch part {
    case .password(let salt, let passes, let memoryKiB):
      (self.salt, self.passes, self.memoryKiB) = (salt, passes, memoryKiB)
    case .keyring: break
    case .token(let credential, let salt, let asksForPIN):
      (self.credential, self.salt) = (credential, salt)
      flags = asksForPIN ? Self.asksForPIN : 0
    case .tpm(let publicArea, let privateArea, let asksForPIN):
      (self.publicArea, self.privateArea) = (publicArea, privateArea)
      flags = asksForPIN ? Self.asksForPIN : 0
    }
  }

  func part() throws(ModelError) -> UnlockPart {
    guard let kind = UnlockPart.Kind(rawValue: kind) else {
      throw .unsupported(
        what: "a way to unlock", found: "kind \(kind)", supported: "kinds 1 to 4")
    }
    let asksForPIN = flags & Self.asksForPIN != 0
    switch kind {
    case .password:
      guard salt.count == KeySize.salt else { throw .malformed(what: "salt", reason: "its size") }
      return .password(salt: salt, passes: passes, memoryKiB: memoryKiB)
    case .keyring: return .keyring
    case .token:
      guard salt.count == UnlockPart.tokenSaltSize, !credential.isEmpty else {
        throw .malformed(what: "token", reason: "its salt or credential is missing")
      }
      return .token(credential: credential, salt: salt, asksForPIN: asksForPIN)
    case .tpm:
      guard !publicArea.isEmpty, !privateArea.isEmpty else {
        throw .malformed(what: "TPM object", reason: "one of its areas is missing")
      }
      return .tpm(publicArea: publicArea, privateArea: privateArea, asksForPIN: asksForPIN)
    }
  }

  mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.number(1, &kind, "kind")
    try fields.bytes(2, &salt, "salt", counts: 0...UnlockPart.tokenSaltSize)
    try fields.number(3, &passes, "passes")
    try fields.number(4, &memoryKiB, "memory")
    try fields.bytes(5, &credential, "credential", counts: 0...UnlockPart.blobLimit)
    try fields.bytes(6, &publicArea, "public area", counts: 0...UnlockPart.blobLimit)
    try fields.bytes(7, &privateArea, "private area", counts: 0...UnlockPart.blobLimit)
    try fields.number(8, &flags, "flags")
    fields.unknown(&unknown)
  }
}
