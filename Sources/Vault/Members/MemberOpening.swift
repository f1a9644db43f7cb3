import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

/// What opening a member's keys gives.
struct OpenedKeys: Sendable {
  let keys: MemberKeys
  let links: MemberLinks
  /// The wraps that were opened on the way, for this machine to remember.
  let wraps: [VaultPath: [UInt8]]
}

/// Verifies a member's root and links, and unwraps its keys for this person.
struct MemberOpening {
  let member: MemberID
  let store: any BlobStore
  let files: SignedFiles
  let people: People
  let person: PersonID
  /// Milliseconds since 1970.
  let now: UInt64
  /// What counted here before.
  let memory: LinkMemory

  /// The member's links, judged. No key is needed for that.
  ///
  /// - Throws: `damaged`, `missing` of the member's root; `io` and the like.
  func loadLinks() throws(VaultError) -> MemberLinks {
    try LinkReading(
      member: member, store: store, files: files, people: people, memory: memory
    ).run()
  }

  /// - Parameters:
  ///   - identities: This person's agreement keys, by generation.
  ///   - known: What was unwrapped before.
  /// - Throws: `damaged`, `missing`; `noAccess` when no link that counts gives this person access or they gave it up,
  ///   `accessEnded` when it was until a time that has passed.
  func open(
    identities: ExpandedIdentities, reusing known: MemberKeys? = nil
  ) throws(VaultError) -> OpenedKeys {
    try open(loadLinks(), identities: identities, reusing: known)
  }

  func open(
    _ links: MemberLinks, identities: ExpandedIdentities, reusing known: MemberKeys?
  ) throws(VaultError) -> OpenedKeys {
    guard links.access.includes(person) else {
      // A broken link may be the one that is looked for.
      if let broken = links.problems.first(where: { $0.severity == .damage }) {
        throw .damaged(path: broken.path, reason: .broken(broken.reason))
      }
      throw .noAccess(member: member)
    }
    guard links.role(of: person, now: now) != nil else { throw .accessEnded(member: member) }
    var epochs: [StatementID: MemberKeys.Epoch] = [:]
    var wraps: [VaultPath: [UInt8]] = [:]
    var failure: VaultError?
    let given = links.history.wraps(for: person, remembering: memory.verified)
    for wrap in given where epochs[wrap.epoch] == nil {
      if let epoch = known?.epoch(wrap.epoch) {
        epochs[wrap.epoch] = epoch
        continue
      }
      // What only an older epoch's key opens is missed when it is looked for.
      do {
        let key = try unwrap(wrap, identities)
        epochs[wrap.epoch] = MemberKeys.Epoch(
          id: wrap.epoch, keys: EpochKeys(key, member: member, binding: files.binding))
        wraps[.epochWrap(member, wrap.wrap.file)] = try file(of: wrap)
      } catch {
        guard error.isDamage else { throw error }
        failure = failure ?? error
      }
    }
    let current = links.trust.epochs.ranking.compactMap { epochs[$0] }.first
    guard let current else { throw failure ?? .noAccess(member: member) }
    epochs[current.id] = nil
    return OpenedKeys(
      keys: MemberKeys(current: current, others: Array(epochs.values)), links: links, wraps: wraps)
  }

  private func file(of wrap: EpochWrap) throws(VaultError) -> [UInt8] {
    let path = VaultPath.epochWrap(member, wrap.wrap.file)
    if let known = memory.files[path] { return known }
    let file = try storing(store.read(BlobPath(path.string), limit: EpochWrapContext.fileLimit))
    guard Digest.sha256(file) == wrap.wrap.file else {
      throw .damaged(path: path.string, reason: "its name is not that of what it holds")
    }
    return file
  }

  /// The key of a wrap for this person.
  ///
  /// - Throws: `missing`; `damaged` when the generation it is for is not known, or it is not the epoch's key.
  func unwrap(
    _ wrap: EpochWrap, _ identities: ExpandedIdentities
  ) throws(VaultError) -> FamilyMemberKey {
    let path = VaultPath.epochWrap(member, wrap.wrap.file)
    let file = try file(of: wrap)
    guard let agreementKey = identities[wrap.wrap.generation] else {
      throw .damaged(path: path.string, reason: "it is for a generation of keys that is not here")
    }
    do throws(CryptoError) {
      let key = try FamilyMemberKey.unwrap(
        file,
        for: EpochWrapContext(
          member: member, commitment: wrap.commitment, person: person,
          generation: wrap.wrap.generation),
        agreementKey: agreementKey, binding: files.binding)
      guard key.commitment(member: member, binding: files.binding) == wrap.commitment else {
        throw CryptoError.malformed(reason: "it is another key than its epoch's")
      }
      return key
    } catch {
      throw VaultError(error, path: path.string)
    }
  }
}

extension MemberRoot {
  /// A member's root, verified.
  ///
  /// - Parameter memory: What counted here before; read where the root does not hold.
  /// - Throws: `missing`; `damaged` when it is another member's, or its creator's device is not known or does not count.
  static func load(
    _ member: MemberID, files: SignedFiles, people: People,
    memory: @autoclosure () throws(VaultError) -> LinkMemory = LinkMemory()
  ) throws(VaultError) -> MemberRoot {
    let path = VaultPath.memberRoot(member)
    let bytes = try storing(files.store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
    return try load(member, from: bytes, people: people, memory: memory())
  }

  /// A member's root, verified, from the bytes of its file.
  static func load(
    _ member: MemberID, from bytes: [UInt8], people: People,
    memory: @autoclosure () throws(VaultError) -> LinkMemory
  ) throws(VaultError) -> MemberRoot {
    let path = VaultPath.memberRoot(member)
    do {
      if let root = try people.trust.root(of: member, decoding: bytes) { return root }
    } catch {
      // Whoever has a removed device makes members without end; only what counted here is worth asking for.
      if error == .departed {
        let countedHere = try memory().files[path] != nil
        throw .damaged(path: path.string, reason: .unlisted(countedHere: countedHere))
      }
      throw .damaged(path: path.string, reason: "\(error)")
    }
    throw .damaged(path: path.string, reason: "its creator is not in this vault")
  }
}

/// This person's agreement keys of every generation whose master key could be had, by the closing that opened it.
struct IdentityKeys: Sendable {
  /// A key shared between copies of this value.
  final class Shared: Sendable {
    let key: AgreementKey
    init(_ key: consuming AgreementKey) { self.key = key }
  }

  private var keys: [StatementID: Shared] = [:]

  mutating func add(_ key: consuming AgreementKey, generation: StatementID) {
    keys[generation] = Shared(key)
  }

  subscript(generation: StatementID) -> Shared? { keys[generation] }

  /// To unwrap with, for as long as an opening takes.
  func expanded() -> ExpandedIdentities { ExpandedIdentities(self) }
}

/// A person's identity keys while an opening unwraps keys with them: each is expanded when it is needed first, and once.
///
/// Not to be kept longer than that: what is expanded stands in ordinary memory.
final class ExpandedIdentities: Sendable {
  private let identities: IdentityKeys
  private let expanded = Guarded<[StatementID: ExpandedAgreementKey]>([:])

  init(_ identities: IdentityKeys) { self.identities = identities }

  func has(_ generation: StatementID) -> Bool { identities[generation] != nil }

  subscript(generation: StatementID) -> ExpandedAgreementKey? {
    guard let shared = identities[generation] else { return nil }
    return expanded.withLock { expanded in
      if let known = expanded[generation] { return known }
      let new = shared.key.expanded()
      expanded[generation] = new
      return new
    }
  }
}
