import BlobStore
import Vault
import VaultModel

/// Moves what a sync moves besides heads and objects: who is in the vault, and who may do what with which member.
struct StatementSync {
  let session: SyncSession
  let exchange: SignedExchange

  /// The files of people, in the order in which a crash may stop their writing.
  private var peoplePaths: [VaultPath] {
    sorted { if case .person = $0.owner { !exchange.isRetired($0) } else { false } }
  }

  private func sorted(_ isWanted: (VaultPath) -> Bool) -> [VaultPath] {
    Self.sorted(exchange.local.files.union(exchange.look.files.keys).filter(isWanted))
  }

  private static func sorted(_ paths: Set<VaultPath>) -> [VaultPath] {
    paths
      .map { (path: $0, rank: $0.writeRank, text: $0.string) }
      .sorted { ($0.rank, $0.text) < ($1.rank, $1.text) }
      .map(\.path)
  }

  /// Statements of members whose links were looked for, or which the remote does not have at all.
  private var memberPaths: [VaultPath] {
    sorted { path in
      guard case .member(let member) = path.owner else { return false }
      return path.isStatement && isLookedFor(member)
    }
  }

  /// Statements of one member; none if its links were not looked for.
  private func paths(of member: MemberID) -> [VaultPath] {
    guard isLookedFor(member) else { return [] }
    return Self.sorted(exchange.files(of: .member(member)).filter(\.isStatement))
  }

  private func isLookedFor(_ member: MemberID) -> Bool {
    if exchange.look.givenUp.contains(member) { return false }
    return exchange.look.searched.contains(member) || !exchange.look.members.contains(member)
  }

  /// Whether there is nothing to move, in either direction.
  var isSettled: Bool {
    (peoplePaths + memberPaths).allSatisfy { path in
      if path.isStatement { return exchange.plan(statement: path) == .leave }
      return exchange.isSettled(path)
    }
  }

  /// What a sync would put on the remote, and whoever makes a copy from there needs.
  var lacking: [VaultPath] {
    (peoplePaths + memberPaths).filter { path in
      // A machine that asks to be let in is none that anybody needs.
      if case .deviceRequest = path { return false }
      return path.isStatement && !exchange.look.mayHide(path)
        && exchange.plan(statement: path) == .put
    }
  }

  // MARK: Pull

  /// A file of the remote that holds.
  typealias FetchedFile = (path: VaultPath, bytes: [UInt8], facts: SignedFacts)

  /// Puts in place here what the remote has and holds: closings, certificates, wraps, device registers, roots, links.
  func pull(into vault: Vault) throws(SyncError) {
    let new = try ofNewEpochs()
    let files = try news(
      among: (peoplePaths + memberPaths).filter { !new.contains($0) }, noting: tally)
    if session.options.isDryRun { return }
    try keeping(vault.place(files))
  }

  /// Everything that the remote has, holds, and would be put in place here.
  func news() throws(SyncError) -> [FetchedFile] { try news(among: peoplePaths + memberPaths) }

  /// The links that begin epochs of which nothing is here, though the member is, and all that follow them: they come with
  /// heads of those epochs, so that no program of this machine has to do without them. The wraps that they name as well,
  /// and what else is news beside them.
  private func ofNewEpochs() throws(SyncError) -> Set<VaultPath> {
    let news = memberPaths.filter { !exchange.local.files.contains($0) }
    var known: [MemberID: Set<StatementID>] = [:]
    // Of those that hold: anybody can put something into the folder of a member that has not come yet.
    for path in exchange.here.keys {
      if case .link(let member, let id) = path { known[member, default: []].insert(id) }
    }
    var late: Set<VaultPath> = []
    var members: Set<MemberID> = []
    for path in news {
      guard case .link(let member, let id) = path, let here = known[member] else { continue }
      let begins = try keeping(exchange.tree.beginsEpoch(member, id, besides: here))
      guard begins else { continue }
      late.insert(path)
      members.insert(member)
    }
    for path in news {
      if case .epochWrap(let member, _) = path, members.contains(member) { late.insert(path) }
    }
    return late
  }

  /// The links, and the wraps, of epochs of a member of which nothing is here.
  func newEpochs(of member: MemberID) throws(SyncError) -> [FetchedFile] {
    let new = try ofNewEpochs()
    return try news(among: paths(of: member).filter { new.contains($0) }, noting: tally)
  }

  /// Those of the files that the remote has, holds, and would be put in place here.
  private func news(
    among paths: [VaultPath], noting note: (FetchedFile) -> Void = { _ in }
  ) throws(SyncError) -> [FetchedFile] {
    var news: [FetchedFile] = []
    for path in paths {
      guard isTaken(path), let fetched = try exchange.fetched(path) else { continue }
      let file = (path: path, bytes: fetched.bytes, facts: fetched.facts)
      note(file)
      news.append(file)
    }
    return news
  }

  private func tally(_ file: FetchedFile) {
    session.tally(.pull, file.path, byteCount: UInt64(file.bytes.count))
  }

  private func isTaken(_ path: VaultPath) -> Bool {
    if path.isStatement {
      let plan = exchange.plan(statement: path)
      if plan == .differ { session.note(.differs(path, isTold: !isWrapOfAnother(path))) }
      return plan == .take
    }
    let plan = exchange.plan(path)
    exchange.note(plan, path)
    return plan.action == .take
  }

  private func isWrapOfAnother(_ path: VaultPath) -> Bool {
    if case .wrap(_, _, let device) = path { device != session.home.device } else { false }
  }

  // MARK: Push

  /// Puts on the remote what is here of people and it lacks.
  func pushPeople() throws(SyncError) { try push(peoplePaths) }

  /// Puts on the remote what is here of one member's root, links and wraps and it lacks.
  func push(_ member: MemberID) throws(SyncError) {
    try push(paths(of: member))
  }

  private func push(_ paths: [VaultPath]) throws(SyncError) {
    for path in paths {
      let isPut =
        path.isStatement
        ? exchange.plan(statement: path) == .put : exchange.plan(path).action == .put
      guard isPut, let file = try exchange.stored(path) else { continue }
      if isLost(path) { session.note(.lostThere(place(of: path))) }
      try session.put(path, file.bytes, file.facts)
    }
  }

  /// Whether the remote showed the statement before, and shows no file of its name any more. A request to be let in is removed
  /// once that was done.
  private func isLost(_ path: VaultPath) -> Bool {
    if case .deviceRequest = path { return false }
    return path.isStatement && exchange.shownBefore[path] != nil
      && exchange.look.files[path] == nil && !exchange.broken.contains(path)
  }

  /// What is told of as lost with it: the member's folder, where that is gone as a whole.
  private func place(of path: VaultPath) -> String {
    guard case .member(let member) = path.owner, !exchange.look.members.contains(member) else {
      return path.string
    }
    return "members/\(member.hex)"
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
    case .closing(let person, _), .certificate(let person, _), .wrap(let person, _, _),
      .device(let person, _), .introduction(let person), .deviceRequest(let person, _):
      .person(person)
    case .memberRoot(let member), .link(let member, _), .epochWrap(let member, _),
      .head(let member, _), .object(let member, _):
      .member(member)
    case .vault, .auditSegment: .other
    }
  }

  /// Docs/Format.md, "Write order" and "Changing keys": the wraps of a generation come before the closing that opens it,
  /// then certificates, devices, introductions; a member's root, the wraps, then the links that name them.
  fileprivate var writeRank: Int {
    switch self {
    case .wrap: 0
    case .closing: 1
    case .certificate: 2
    case .device: 3
    case .introduction, .deviceRequest: 4
    case .memberRoot: 5
    case .epochWrap: 6
    case .link: 7
    default: 8
    }
  }
}
