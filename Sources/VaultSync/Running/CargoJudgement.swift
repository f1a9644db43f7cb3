import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultTrust

/// What a sync does with the news of strangers on a remote: people and members for whom nobody vouches whom this person
/// knows. Docs/Sync.md, "Strangers".
struct Cargo: Sendable {
  /// News that is left on the remote.
  var left: Set<VaultPath> = []
  /// What may come of strangers' members that are taken.
  var rooms: [MemberID: CargoRoom] = [:]
  /// What all that is taken of strangers weighs.
  var weight = CargoWeight()
  /// What was read to decide that.
  var read: [VaultPath: [UInt8]] = [:]
  /// What may still be read.
  var unverified = UnverifiedBytes()
  /// Folders that were not looked into, and are carried after all.
  var missed: Set<CargoOwner> = []

  /// Leaves these on the remote; what was read of them makes room for others.
  fileprivate mutating func leave(_ paths: Set<VaultPath>) {
    left = paths
    for path in paths {
      if let bytes = read.removeValue(forKey: path) { unverified.giveBack(bytes.count) }
    }
  }
}

/// Decides, before anything else is read, which of the news of a remote are strangers', and which of those are taken.
struct CargoJudgement {
  let session: SyncSession
  let look: RemoteLook
  let local: LocalLook
  /// The folder here.
  let tree: SignedTree

  private typealias File = (path: VaultPath, entry: BlobEntry)

  func run() throws(SyncError) -> Cargo {
    guard !session.options.takesStrangers, let base = session.home.vouching else {
      session.remember { memory in
        memory.leftCargo = [:]
        memory.vouched = nil
      }
      return Cargo()
    }
    let news = self.news()
    let known = leftBefore(news, base)
    guard needsJudgement(news, known, base) else {
      let left = known.filter { !base.isBase($0) }.union(empty(base))
      remember(left, news, weights: [:], base)
      return Cargo(left: Set(left.flatMap { paths(news[$0]) }))
    }
    var cargo = Cargo()
    let unread = try read(news.filter { !known.contains($0.key) }, base, into: &cargo)
    let bytes = cargo.read
    let tree = try keeping { () throws(VaultError) in
      bytes.isEmpty ? self.tree : try self.tree.adding(bytes)
    }
    let vouching = try extended(base, tree, news, bytes)
    cargo.missed = look.passedBy.filter { vouching.carries($0) }
    let strangers = news.filter { !vouching.carries($0.key) }
    var admission = CargoAdmission(
      session: session, local: local, tree: tree, vouching: vouching)
    let judged = strangers.filter { !known.contains($0.key) && !unread.contains($0.key) }
    if !judged.isEmpty { try admission.run(judged.mapValues { weight($0) }) }
    (cargo.rooms, cargo.weight) = (admission.rooms, admission.weight)
    var weights = admission.left
    for owner in noteBroken(Set(judged.keys).subtracting(admission.taken), tree, bytes) {
      weights[owner] = CargoWeight()
    }
    let left = Set(strangers.keys).subtracting(admission.taken)
    cargo.leave(Set(left.flatMap { paths(news[$0]) }))
    let remembered = left.subtracting(unread).union(empty(base))
    remember(remembered, news, weights: weights, base)
    return cargo
  }

  // MARK: What is news

  /// What of each folder this machine has not verified as it stands there.
  private func news() -> [CargoOwner: [File]] {
    let seen = session.memory.seen
    var news: [CargoOwner: [File]] = [:]
    for (path, entry) in look.files {
      guard let owner = CargoOwner(path) else { continue }
      if seen[path]?.fingerprint != entry.fingerprint || !local.files.contains(path) {
        news[owner, default: []].append((path, entry))
      }
    }
    return news
  }

  /// Those whose news was left before, and is the same.
  private func leftBefore(_ news: [CargoOwner: [File]], _ base: Vouching) -> Set<CargoOwner> {
    let memory = session.memory
    // Once a day there may be room again.
    guard !session.looksEverywhere, memory.vouched == base.fingerprint else { return [] }
    return Set(
      news.filter { owner, files in
        memory.leftCargo[owner].map { $0.mark == Self.mark(of: files) } ?? false
      }.keys)
  }

  /// Whether anything but what is known of everyone is to be looked at: news of somebody whom the person does not know, or
  /// a link, which may name somebody.
  private func needsJudgement(
    _ news: [CargoOwner: [File]], _ known: Set<CargoOwner>, _ base: Vouching
  ) -> Bool {
    news.contains { owner, files in
      if known.contains(owner) { return false }
      return !base.isBase(owner)
        || files.contains { if case .link = $0.path { true } else { false } }
    }
  }

  /// Members of which there is no signed file, neither here nor there: somebody is about to put them there, or never will.
  private func empty(_ base: Vouching) -> Set<CargoOwner> {
    let owners = Set(look.files.keys.map(\.owner))
    let empty = look.members.subtracting(local.members).filter { !owners.contains(.member($0)) }
    return Set(empty.map { .member($0) }).filter { !base.isBase($0) }
  }

  private func paths(_ files: [File]?) -> [VaultPath] { (files ?? []).map(\.path) }

  private func weight(_ files: [File]) -> CargoWeight {
    files.reduce(into: CargoWeight()) { $0.add(byteCount: $1.entry.size) }
  }

  /// Of the names and the marks of files, in any order.
  private static func mark(of files: [File]) -> UInt64 {
    files.reduce(0) { sum, file in
      sum &+ ((file.entry.fingerprint &* 0x9E37_79B9_7F4A_7C15) ^ file.path.mark)
    }
  }

  // MARK: What decides

  /// Reads the statements that say who is who.
  ///
  /// - Returns: Those of whom not all of that could be read.
  private func read(
    _ news: [CargoOwner: [File]], _ base: Vouching, into cargo: inout Cargo
  ) throws(SyncError) -> Set<CargoOwner> {
    let wanted = news.flatMap { owner, files -> [File] in
      let telling = files.filter { $0.path.tellsWhoIsWho }
      // What can not be taken in any case need not be read.
      if !base.isBase(owner), !weight(telling).fits(session.options.strangersLimit) { return [] }
      return telling
    }
    let known = local.files
    let paths = wanted.map { file in
      (
        path: file.path,
        rank: (
          CargoOwner(file.path).map(base.isBase) ?? true ? 0 : 1,
          known.contains(file.path) ? 0 : 1, file.entry.size, file.path.string
        )
      )
    }.sorted { $0.rank < $1.rank }.map(\.path)
    let found = Gathered<(VaultPath, [UInt8])>()
    let missing = Gathered<VaultPath>()
    let unverified = cargo.unverified
    try session.forEach(paths) { (path) throws(SyncError) in
      let isRead = try unverified.take { () throws(SyncError) in
        try session.readListed(path)
      } then: {
        found.add((path, $0))
      }
      if !isRead { missing.add(path) }
    }
    cargo.read = Dictionary(found.all, uniquingKeysWith: { first, _ in first })
    return Set(missing.all.compactMap(CargoOwner.init))
  }

  private func extended(
    _ base: Vouching, _ tree: SignedTree, _ news: [CargoOwner: [File]],
    _ bytes: [VaultPath: [UInt8]]
  ) throws(SyncError) -> Vouching {
    var introductions: [PersonID: [UInt8]] = [:]
    for (path, bytes) in bytes {
      if case .introduction(let person) = path { introductions[person] = bytes }
    }
    var members = local.members
    for case .member(let member) in news.keys { members.insert(member) }
    let (answering, judged) = (introductions, members)
    return try keeping { () throws(VaultError) in
      var vouching = base
      for answers in try session.home.answers(answering) { vouching.note(answers: answers) }
      return try tree.extending(vouching, by: judged)
    }
  }

  /// Tells which roots of members that are left do not hold.
  ///
  /// - Returns: The members that no closing lists, though a device of somebody who is known has made them: room brings none here.
  private func noteBroken(
    _ left: Set<CargoOwner>, _ tree: SignedTree, _ bytes: [VaultPath: [UInt8]]
  ) -> Set<CargoOwner> {
    var unlisted: Set<CargoOwner> = []
    for case .member(let member) in left {
      let path = VaultPath.memberRoot(member)
      guard let root = bytes[path] else { continue }
      do { _ = try tree.verify(path, root) } catch {
        if error.isOfUnlistedMember { unlisted.insert(.member(member)) }
        session.note(error, thereIn: path)
      }
    }
    return unlisted
  }

  // MARK: What is remembered

  /// Remembers what was left, and tells what was not before.
  private func remember(
    _ left: Set<CargoOwner>, _ news: [CargoOwner: [File]],
    weights: [CargoOwner: CargoWeight], _ base: Vouching
  ) {
    let before = session.memory.leftCargo
    var all = before.filter { look.passedBy.contains($0.key) }
    var isNew = false
    for owner in left {
      let files = news[owner] ?? []
      let mark = Self.mark(of: files)
      isNew = isNew || before[owner]?.mark != mark && !files.isEmpty
      let weight = weights[owner] ?? before[owner]?.weight ?? weight(files)
      all[owner] = RemoteMemory.LeftCargo(mark: mark, weight: weight)
    }
    let told = all.mapValues(\.weight).filter { $0.value.fileCount > 0 }
    if isNew, !told.isEmpty {
      session.note(.strangers(told, on: session.nameToType))
    }
    let remembered = all
    session.remember { memory in
      memory.leftCargo = remembered
      memory.vouched = base.fingerprint
    }
  }
}

extension VaultPath {
  /// Whether it says whose devices are whose, who made a member, who may do what with it, or who answers an invitation.
  fileprivate var tellsWhoIsWho: Bool {
    switch self {
    case .closing, .certificate, .introduction, .memberRoot, .link: true
    default: false
    }
  }

  /// Tells files of one folder apart.
  var mark: UInt64 {
    string.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }
}
