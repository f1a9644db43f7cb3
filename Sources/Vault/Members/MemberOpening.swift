import BlobStore
import VaultCrypto
import VaultModel
import VaultTrust

/// What opening a member's keys gives.
struct OpenedKeys: Sendable {
  let keys: MemberKeys
  let grants: GrantChain
}

/// Verifies a member's root and grants, and unwraps its keys for this person.
struct MemberOpening {
  let member: MemberID
  let store: any BlobStore
  let files: SignedFiles
  let people: People
  let person: PersonID
  /// Milliseconds since 1970.
  let now: UInt64
  /// The epoch that was current here before.
  let seen: EpochID?

  /// - Parameter identities: This person's agreement keys, by generation.
  /// - Throws: `damaged`, `missing`; `noAccess` when no valid grant is for this person or they gave it up, `accessEnded`
  ///   when it was until a time that has passed; `rolledBack` when the epoch that was current here is gone.
  func open(identities: IdentityKeys) throws(VaultError) -> OpenedKeys {
    let grants = try loadGrants()
    guard let current = grants.current, let mine = grants.valid[current]?[person] else {
      // A broken grant may be the one that is looked for.
      if let broken = grants.problems.first(where: {
        $0.severity == .damage && $0.path.hasPrefix("members/")
      }) {
        throw .damaged(path: broken.path, reason: broken.reason)
      }
      throw .noAccess(member: member)
    }
    guard !mine.hasEnded(by: now) else { throw .accessEnded(member: member) }
    guard grants.ownRole(of: person, now: now) != nil else { throw .noAccess(member: member) }
    let currentKeys = try unwrap(mine, identities)
    var others: [MemberKeys.Epoch] = []
    for (epoch, given) in grants.valid where epoch != current {
      guard let grant = given[person] else { continue }
      // What only an older epoch's key opens is missed when it is looked for.
      do throws(VaultError) { others.append(try unwrap(grant, identities)) } catch {
        guard case .damaged = error else { throw error }
      }
    }
    return OpenedKeys(keys: MemberKeys(current: currentKeys, others: others), grants: grants)
  }

  /// The valid grants of the member. No key is needed for that.
  ///
  /// - Throws: `damaged`, `missing` of the member's root; `rolledBack` when someone takes back, or hides, the epoch that
  ///   was current here; `io` and the like.
  func loadGrants() throws(VaultError) -> GrantChain {
    let root = try MemberRoot.load(member, files: files, people: people)
    let chain = try GrantChain.load(
      member: member, creator: root.person, seen: seen, store: store, files: files, people: people)
    if let seen, chain.valid[seen] == nil, !chain.departed.contains(seen) {
      throw .rolledBack(
        path: VaultPath.grant(member, seen, seen.owner).string,
        found: UInt64(chain.current?.number ?? 0), seen: UInt64(seen.number))
    }
    return chain
  }

  private func unwrap(
    _ grant: GrantBody, _ identities: IdentityKeys
  ) throws(VaultError) -> MemberKeys.Epoch {
    MemberKeys.Epoch(
      id: grant.epoch,
      keys: EpochKeys(
        try unwrapKey(grant, identities), member: member, binding: files.binding))
  }

  /// The family member key of a grant to this person.
  ///
  /// - Throws: `damaged` when its giver or the generation it is for is not known, or it does not unwrap.
  func unwrapKey(
    _ grant: GrantBody, _ identities: IdentityKeys
  ) throws(VaultError) -> FamilyMemberKey {
    let path = VaultPath.grant(member, grant.epoch, person).string
    guard
      let giver = people[grant.giver]?.agreementPublicKey(generation: grant.giverGeneration)
    else {
      throw .damaged(path: path, reason: "its giver is not in this vault")
    }
    guard let agreementKey = identities[grant.personGeneration] else {
      throw .damaged(path: path, reason: "it is wrapped for an unknown generation of keys")
    }
    do {
      let context = GrantContext(
        member: member, epoch: grant.epoch, giver: grant.giver, taker: person)
      return try FamilyMemberKey.unwrap(
        grant.wrappedKey, own: agreementKey.key, other: giver, grant: context,
        binding: files.binding)
    } catch {
      throw VaultError(error, path: path)
    }
  }
}

extension GrantBody {
  /// Whether it was given until a time that has come. Its person's own devices go by that; to everyone else it counts
  /// until an owner revokes it, so that no clock decides whose changes count.
  func hasEnded(by now: UInt64) -> Bool { role != .owner && until > 0 && until <= now }
}

extension MemberRoot {
  /// A member's root, verified.
  ///
  /// - Throws: `missing`; `damaged` when it is another member's, or its creator's device is not known or does not count.
  static func load(
    _ member: MemberID, files: SignedFiles, people: People
  ) throws(VaultError) -> MemberRoot {
    let path = VaultPath.memberRoot(member)
    let bytes = try storing { () throws(BlobStoreError) in
      try files.store.read(BlobPath(path.string), limit: SignedFiles.sizeLimit)
    }
    do throws(TrustError) {
      if let root = try people.trust.root(of: member, decoding: bytes) { return root }
    } catch {
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
}
