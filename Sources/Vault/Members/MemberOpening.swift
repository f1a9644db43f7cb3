import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
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
