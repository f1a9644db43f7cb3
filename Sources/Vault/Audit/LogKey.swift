import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// For whom events are sealed that are noted while no key is here: Docs/Format.md, section 13, "Events that wait".
struct LogKey: Hashable, Sendable {
  let vault: VaultID
  let person: PersonID
  let generation: StatementID
  let agreementPublicKey: [UInt8]

  private static let title = "kinvault log key 1"
  private static let path: BlobPath = "log-key"
  private static let byteLimit = 8 << 10

  /// Nil for a person whose open generation is not known.
  init?(of person: Person, in vault: VaultID) {
    guard let generation = person.generation,
      let closing = person.history.valid[generation]
    else { return nil }
    (self.vault, self.person, self.generation) = (vault, person.id, generation)
    agreementPublicKey = closing.agreementKey
  }

  /// - Returns: Nil where no process with the keys has said it yet, or what it said is torn.
  static func load(state: StateFolder) throws(VaultError) -> LogKey? {
    guard let bytes = try state.readIfThere(path, limit: byteLimit) else { return nil }
    return LogKey(decoding: bytes)
  }

  /// Says it anew where it is another one. Does not wait for the disk.
  func store(state: StateFolder) throws(VaultError) {
    if try Self.load(state: state) == self { return }
    let bytes = ChecksummedLines.encode(
      title: Self.title,
      [
        "vault \(vault.hex)", "person \(person.hex)", "generation \(generation.hex)",
        "agreement \(Hex.encode(agreementPublicKey))",
      ])
    try storing(state.store.replace(Self.path, bytes, durably: false))
  }

  private init?(decoding bytes: [UInt8]) {
    let lines = ChecksummedLines(decoding: bytes, title: Self.title)
    guard let values = lines?.values(of: "vault", "person", "generation", "agreement"),
      let vault = VaultID(hex: values[0]), let person = PersonID(hex: values[1]),
      let generation = StatementID(hex: values[2]), let key = Hex.decode(String(values[3]))
    else { return nil }
    (self.vault, self.person, self.generation) = (vault, person, generation)
    agreementPublicKey = key
  }
}
