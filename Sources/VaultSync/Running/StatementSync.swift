import BlobStore
import Vault
import VaultModel

/// Moves what a sync moves besides heads and objects: who is in the vault, and who may do what with which member.
struct StatementSync {
  let session: SyncSession
  let exchange: SignedExchange

  /// The files of people, in the order in which a crash may stop their writing.
  private var peoplePaths: [VaultPath] {
    sorted { if case .person = $0.owner { true } else { false } }
  }

  private func sorted(_ isWanted: (VaultPath) -> Bool) -> [VaultPath] {
    exchange.local.files.union(exchange.look.files.keys).filter(isWanted)
      .sorted { ($0.writeRank, $0.string) < ($1.writeRank, $1.string) }
  }

  /// Statements of members whose grants were looked for, or which the remote does not have at all.
  private var memberPaths: [VaultPath] {
    sorted { path in
      guard case .member(let member) = path.owner, path.isStatement else { return false }
      if exchange.look.givenUp.contains(member) { return false }
      return exchange.look.searched.contains(member) || !exchange.look.members.contains(member)
    }
  }

  /// Whether there is nothing to move, in either direction.
  var isSettled: Bool {
    (peoplePaths + memberPaths).allSatisfy { path in
      if path.isStatement { return exchange.plan(statement: path) == .leave }
      return exchange.isSettled(path)
    }
  }

  // MARK: Pull

  /// Puts in place here what the remote has and holds: identities, certificates, device registers, roots, grants.
  func pull(into vault: Vault) throws(SyncError) {
    var taken: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)] = []
    for path in peoplePaths + memberPaths {
      guard isTaken(path), let file = try exchange.fetched(path) else { continue }
      taken.append((path, file.bytes, file.facts))
      session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
    }
    if session.options.isDryRun { return }
    let files = taken
    try keeping { () throws(VaultError) in try vault.place(files) }
  }

  private func isTaken(_ path: VaultPath) -> Bool {
    if path.isStatement {
      let plan = exchange.plan(statement: path)
      if plan == .differ { session.note(.differs(path)) }
      return plan == .take
    }
    let plan = exchange.plan(path)
    exchange.note(plan, path)
    return plan.action == .take
  }

  // MARK: Push

  /// Puts on the remote what is here of people and it lacks.
  func pushPeople() throws(SyncError) { try push(peoplePaths) }

  /// The same for one member's root and grants.
  func push(_ member: MemberID) throws(SyncError) {
    try push(memberPaths.filter { $0.owner == .member(member) })
  }

  private func push(_ paths: [VaultPath]) throws(SyncError) {
    for path in paths {
      let isPut =
        path.isStatement
        ? exchange.plan(statement: path) == .put : exchange.plan(path).action == .put
      guard isPut, let file = try exchange.stored(path) else { continue }
      try session.put(path, file.bytes, file.facts)
    }
  }
}

extension VaultPath {
  enum Owner: Hashable {
    case person(PersonID)
    case member(MemberID)
    case other
  }

  /// Whose folder it stands in.
  var owner: Owner {
    switch self {
    case .identity(let person), .certificate(let person, _, _), .device(let person, _),
      .introduction(let person):
      .person(person)
    case .memberRoot(let member), .grant(let member, _, _), .head(let member, _),
      .object(let member, _):
      .member(member)
    case .vault, .auditSegment: .other
    }
  }

  /// Written once, and never replaced.
  var isStatement: Bool {
    switch self {
    case .certificate, .introduction, .memberRoot, .grant: true
    default: false
    }
  }

  /// Docs/Format.md, "Write order": new people are identity, certificate, device, introduction; new members root, then grant.
  fileprivate var writeRank: Int {
    switch self {
    case .identity: 0
    case .certificate: 1
    case .device: 2
    case .introduction: 3
    case .memberRoot: 4
    case .grant: 5
    default: 6
    }
  }
}
