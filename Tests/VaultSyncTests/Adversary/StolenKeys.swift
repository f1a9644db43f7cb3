import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects
import VaultTrust

@testable import Vault
@testable import VaultPeople

/// Every key of an epoch that some of those can get at whose keys the adversary has, together, with all that was ever
/// written before them.
struct StolenKeys {
  private(set) var epochs: [KeyID: EpochKeys] = [:]
  /// The links that began them, as far as they are known.
  private var links: [KeyID: StatementID] = [:]
  private var identities: [PersonID: [StatementID: IdentityKeys.Shared]] = [:]
  private let binding: Binding

  init(
    of intruder: Intruder, _ holders: Set<KeyHolder>, files: [BlobPath: [UInt8]]
  ) throws {
    binding = intruder.binding
    for holder in holders {
      for keys in intruder.heldKeys[holder] ?? [] { epochs[keys.keyID] = keys }
    }
    for machine in intruder.machines where holders.contains(.machine(machine.number)) {
      noteMasters(of: machine, intruder.seen, files)
    }
    for words in intruder.words where holders.contains(words.holder) {
      try noteMasters(under: words, intruder.seen)
    }
    // What it has wrapped itself it had before, and from whom is told by that.
    let given = files.filter { intruder.written[$0.key] != $0.value }
    for (member, links) in intruder.seen.links { note(links, of: member, given) }
  }

  /// What these machines had, and whatever was ever wrapped for the keys of their people that they have.
  init(of vaults: [Vault], files: [BlobPath: [UInt8]]) throws {
    binding = try #require(vaults.first).context.binding
    for vault in vaults {
      let own = try #require(vault.context.people[vault.person])
      for generation in own.history.valid.keys {
        guard let key = vault.context.keys.identities[generation] else { continue }
        identities[vault.person, default: [:]][generation] = key
      }
    }
    var links: [MemberID: [StatementID: Link]] = [:]
    for (path, bytes) in files {
      guard case .link(let member, let id) = VaultPath(parsing: path.string) else { continue }
      links[member, default: [:]][id] = try Link(decoding: SignedFile(decoding: bytes).body)
    }
    for (member, found) in links { note(found, of: member, files) }
  }

  private mutating func add(
    _ master: borrowing MasterKey, _ generation: StatementID, _ person: PersonID,
    _ closings: [StatementID: Closing]
  ) {
    guard identities[person]?[generation] == nil, let closing = closings[generation] else { return }
    identities[person, default: [:]][generation] = IdentityKeys.Shared(
      master.agreementKey(binding: binding))
    for (followed, wrapped) in zip(closing.follows, closing.past) {
      guard let older = try? master.unwrapPrevious(wrapped, binding: binding) else { continue }
      add(older, followed, person, closings)
    }
  }

  /// What is wrapped for a machine that it has, whoever wrapped it.
  private mutating func noteMasters(
    of machine: Household.Machine, _ seen: Intruder.Seen, _ files: [BlobPath: [UInt8]]
  ) {
    let (person, device) = (machine.vault.person, machine.vault.context.device)
    for (generation, _) in seen.closings[person] ?? [:] {
      let path = BlobPath(VaultPath.wrap(person, generation, device.id).string)
      let context = DeviceWrapContext(person: person, generation: generation, device: device.id)
      for wrap in [files[path], machine.store.blobs[path]].compactMap(\.self) {
        guard
          let master = try? MasterKey.unwrap(
            wrap, for: context, agreementKey: device.agreementKey, binding: binding)
        else { continue }
        add(master, generation, person, seen.closings[person] ?? [:])
      }
    }
  }

  private mutating func noteMasters(under words: Intruder.Words, _ seen: Intruder.Seen) throws {
    let parsed = try RecoveryWords(parsing: words.text)
    let key = parsed.rootSigningKey(binding: binding).publicKey
    let closings = seen.closings[words.person] ?? [:]
    for (generation, closing) in closings where closing.rootKey.bytes == key {
      guard let slot = try? RecoverySlot(decoding: closing.recovery) else { continue }
      let cost = Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
      guard let seed = try? parsed.seed(salt: slot.salt, cost: cost),
        let master = try? MasterKey.unwrap(slot.wrappedMasterKey, seed: seed, binding: binding)
      else { continue }
      add(master, generation, words.person, closings)
    }
  }

  /// What links name, whether they count or not.
  private mutating func note(
    _ links: [StatementID: Link], of member: MemberID, _ files: [BlobPath: [UInt8]]
  ) {
    for (id, link) in links {
      for wrap in link.wraps {
        let epoch = wrap.epoch ?? id
        guard let identity = identities[wrap.person]?[wrap.generation],
          let commitment = links[epoch]?.epoch,
          let file = files[BlobPath(VaultPath.epochWrap(member, wrap.file).string)]
        else { continue }
        let context = EpochWrapContext(
          member: member, commitment: commitment, person: wrap.person, generation: wrap.generation)
        guard
          let key = try? FamilyMemberKey.unwrap(
            file, for: context, agreementKey: identity.key.expanded(), binding: binding)
        else { continue }
        let keys = EpochKeys(key, member: member, binding: binding)
        epochs[keys.keyID] = keys
        self.links[keys.keyID] = epoch
      }
    }
  }

  /// The texts between angle brackets in all that opens, each with the epochs under which it stands.
  func readable(in files: [BlobPath: [UInt8]]) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    for (path, bytes) in files {
      guard case .object(_, let name) = VaultPath(parsing: path.string),
        let id = ObjectStore.keyID(of: bytes), let keys = epochs[id],
        let kind = bytes.withUnsafeBytes({ try? ObjectHeader(decoding: $0).kind }),
        let content = try? keys.open(name: name, kind: kind, file: bytes)
      else { continue }
      for text in Self.texts(in: content) {
        found[text, default: []].insert(links[id]?.shortHex ?? "none that is known")
      }
    }
    return found
  }

  private static func texts(in bytes: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    for start in bytes.indices where bytes[start] == UInt8(ascii: "<") {
      guard let end = bytes[start...].prefix(24).firstIndex(of: UInt8(ascii: ">")) else { continue }
      found.insert(String(decoding: bytes[start...end], as: UTF8.self))
    }
    return found
  }
}
