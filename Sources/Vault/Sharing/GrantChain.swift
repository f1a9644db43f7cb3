import BlobStore
import VaultCrypto
import VaultModel

/// Who may do what with one member: the grants that chain back, through owners, to its creator.
/// Docs/Format.md, "Signed files" and "Epochs".
struct GrantChain: Sendable {
  /// The valid grants, by epoch and person.
  private(set) var valid: [EpochID: [PersonID: GrantBody]] = [:]
  private(set) var epochs = EpochTree()
  private(set) var outcome: EpochTree.Outcome?
  private(set) var creator: PersonID?
  /// What people give up of their access.
  private(set) var leavings = Leavings()
  private(set) var problems: [Problem] = []
  /// Epochs whose first grant is of a device that was left out, and that no closing lists: they are no more.
  private(set) var departed: Set<EpochID> = []
  // The statement that each grant and leaving is.
  private var ids: [GrantBody: StatementID] = [:]
  private var leavingIDs: [StatementID: StatementID] = [:]
  /// Files beside the grants that may count before them.
  private(set) var copies: [GrantCopy] = []

  /// The epoch that new objects are sealed in; nil when there is none.
  // Inlined, it stops the optimizer of Swift 6.3.1 ("outside of lifetime use", CopyPropagation).
  @inline(never)
  var current: EpochID? { outcome?.current }

  /// The role of a person in the current epoch; nil without a grant.
  func role(of person: PersonID) -> Role? {
    current.flatMap { valid[$0]?[person]?.role }
  }

  /// The role that a person's own devices go by: none once the access has ended, and what is left of it when they
  /// give it up.
  func ownRole(of person: PersonID, now: UInt64) -> Role? {
    guard let grant = current.flatMap({ valid[$0]?[person] }), !grant.hasEnded(by: now) else {
      return nil
    }
    return leavings.counting[person].map(\.keeps) ?? grant.role
  }

  /// Whether heads of the person's devices count.
  func mayWrite(_ person: PersonID) -> Bool { valid.mayWrite(person, in: current) }

  /// Whether the person could write in some epoch, and so may have heads that counted once.
  func couldWrite(_ person: PersonID) -> Bool {
    valid.keys.contains { valid.mayWrite(person, in: $0) }
  }

  /// Reads and verifies the grants of a member that `creator` made.
  ///
  /// - Parameter seen: The epoch that was current here before.
  static func load(
    member: MemberID, creator: PersonID, seen: EpochID?, store: any BlobStore, files: SignedFiles,
    people: People
  ) throws(VaultError) -> GrantChain {
    var chain = GrantChain()
    chain.creator = creator
    let folder = BlobPath("members/\(member.hex)/grants")
    var candidates: [GrantBody] = []
    for epoch in try storing({ () throws(BlobStoreError) in try store.list(folder) }) {
      let inside = folder.appending(epoch.name)
      for entry in try storing({ () throws(BlobStoreError) in try store.list(inside) }) {
        let path = inside.appending(entry.name).string
        guard case .grant(_, let id, let person) = VaultPath(parsing: path) else {
          chain.problems.append(.foreign(path))
          if let epoch = EpochID(pathComponent: epoch.name),
            let copy = GrantCopy(at: inside.appending(entry.name), of: member, in: epoch)
          {
            chain.copies.append(copy)
          }
          continue
        }
        do throws(VaultError) {
          let (grant, statement) = try load(
            .grant(member, id, person), member, id, person, files: files, people: people)
          candidates.append(grant)
          chain.ids[grant] = statement
        } catch {
          if case .signedByRemovedDevice = error, person == id.owner { chain.departed.insert(id) }
          chain.problems.append(Problem(error, path: path))
        }
      }
    }
    chain.admit(candidates, creator: creator, seen: seen)
    let found = try Leavings.load(
      member: member, chain: chain, store: store, files: files, people: people)
    chain.leavings = found.leavings
    chain.leavingIDs = found.ids
    chain.problems += found.problems
    return chain
  }

  private static func load(
    _ path: VaultPath, _ member: MemberID, _ epoch: EpochID, _ person: PersonID,
    files: SignedFiles, people: People
  ) throws(VaultError) -> (GrantBody, StatementID) {
    let file = try files.load(path)
    let grant = try file.decode(GrantBody.init(decoding:))
    guard grant.member == member, grant.epoch == epoch, grant.person == person else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    let id = try people.verify(file, .grant, by: grant.certificate, of: grant.giver)
    return (grant, id)
  }

  /// The grants that count and the leavings which devices with these certificates have signed.
  func statements(signedBy certificates: Set<StatementID>) -> Set<StatementID> {
    let grants = valid.values.flatMap(\.values).filter { certificates.contains($0.certificate) }
    let leavings = leavingIDs.filter { certificates.contains($0.value) }.keys
    return Set(grants.compactMap { ids[$0] }).union(leavings)
  }

  /// Admits the candidates that chain back to the creator. The order of candidates does not matter.
  mutating func admit(_ candidates: [GrantBody], creator: PersonID, seen: EpochID? = nil) {
    var waiting = candidates
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      var rest: [GrantBody] = []
      for grant in waiting {
        if isVouchedFor(grant, creator: creator) {
          if grant.isFirst {
            epochs.begin(grant.epoch, following: grant.follows)
          }
          valid[grant.epoch, default: [:]][grant.person] = grant
          epochs.add(grant)
          isGrowing = true
        } else {
          rest.append(grant)
        }
      }
      waiting = rest
    }
    let begun = Set(candidates.filter(\.isFirst).map(\.epoch))
    for grant in waiting {
      let path = VaultPath.grant(grant.member, grant.epoch, grant.person).string
      problems.append(
        begun.contains(grant.epoch)
          ? Problem(
            .untrusted, .warning, path: path, reason: "whoever gave it was no owner; it is ignored")
          : Problem(
            .leftover, .note, path: path,
            reason: "its epoch is not begun yet, or was given up when a program was interrupted"))
    }
    outcome = epochs.outcome(seen: seen)
    for id in outcome?.struck ?? [] {
      guard let first = valid[id]?[id.owner] else { continue }
      problems.append(
        Problem(
          .untrusted, .warning, path: VaultPath.grant(first.member, id, id.owner).string,
          reason: "an owner from whom access was taken began this epoch, or it follows such a one; "
            + "it is ignored"))
    }
  }

  /// The grants of the current epoch, by person.
  var currentGrants: [GrantBody] {
    guard let outcome, let grants = valid[outcome.current] else { return [] }
    return grants.values.sorted { $0.person < $1.person }
  }

  /// Whether an epoch that was begun at the same time as the current one is not for this person.
  func leavesOutBesides(_ person: PersonID) -> Bool {
    guard let outcome else { return false }
    return outcome.besides.contains { valid[$0]?[person] == nil }
  }

  /// Everyone with access in one of the epochs, but for those who are left.
  func people(in epochs: [EpochID], besides left: [PersonID]) -> [PersonID] {
    var people: Set<PersonID> = []
    for epoch in epochs {
      if let grants = valid[epoch] { people.formUnion(grants.keys) }
    }
    return people.subtracting(left).sorted()
  }

  /// Grants of owners that the current epoch was begun without having seen: nobody took the access away, and yet it is not
  /// in that epoch. Of several for one person, that of the greatest epoch.
  ///
  /// - Parameter now: Milliseconds since 1970; what has ended by then is left out.
  func overlooked(by now: UInt64) -> [GrantBody] {
    guard let outcome, let current = valid[outcome.current] else { return [] }
    let lines = epochs.lines
    let standing = valid.filter { !outcome.struck.contains($0.key) }
    var takenOut: [PersonID: Set<EpochID>] = [:]
    for (epoch, grants) in standing {
      for person in grants[epoch.owner]?.without ?? [] {
        takenOut[person, default: []].insert(epoch)
      }
    }
    var found: [PersonID: GrantBody] = [:]
    for (epoch, grants) in standing.sorted(by: { $0.key < $1.key }) {
      for grant in grants.values
      where current[grant.person] == nil && !grant.isFirst && !grant.hasEnded(by: now)
        && role(of: grant.giver) == .owner
        && takenOut[grant.person, default: []].isSubset(of: lines[epoch] ?? [])
      { found[grant.person] = grant }
    }
    return found.values.sorted { $0.person < $1.person }
  }

  private func isVouchedFor(_ grant: GrantBody, creator: PersonID) -> Bool {
    let epoch = grant.epoch
    guard grant.isFirst else {
      return epochs.isOwner(grant.giver, in: epoch)
    }
    guard grant.role == .owner, grant.personGeneration == grant.giverGeneration else {
      return false
    }
    guard let latest = grant.follows.map(\.number).max() else {
      return epoch.number == 1 && epoch.owner == creator
    }
    return epoch.number > latest && epoch.number - latest <= EpochTree.stepLimit
      && grant.follows.allSatisfy { epochs.isOwner(epoch.owner, in: $0) }
  }
}

extension GrantBody {
  /// Whoever begins an epoch gives the first grant of it, to themself.
  var isFirst: Bool { giver == person && giver == epoch.owner }
}

extension [EpochID: [PersonID: GrantBody]] {
  fileprivate func mayWrite(_ person: PersonID, in epoch: EpochID?) -> Bool {
    switch epoch.flatMap({ self[$0]?[person]?.role }) {
    case .owner, .editor: true
    case .viewer, nil: false
    }
  }
}
