import BlobStore
import MachineState
import Threads
import Vault
import VaultModel
import VaultTrust

/// What a remote shows: the names and marks of its signed files, of which nothing is verified.
struct RemoteLook: Sendable {
  /// There is a `vault.json`, and it is this vault's.
  var hasDescription = false
  /// Signed files, where they were looked for.
  var files: [VaultPath: BlobEntry] = [:]
  var members: Set<MemberID> = []
  /// Members whose root, links and wraps were looked for.
  var searched: Set<MemberID> = []
  /// Members whose folder could not be listed to its end, or all that are known where the list of them could not.
  var givenUp: Set<MemberID> = []
  /// The list of people broke off: what it does not show may be there.
  var isPeopleCut = false
  /// Whose folders were listed to their end all the same, each by its name.
  var listedByName: Set<PersonID> = []
  /// Folders that were not looked into: what strangers have there was left before.
  var passedBy: Set<CargoOwner> = []
  /// Whose folder of these had its turn last all the same; nil if nobody's had.
  var lastTurn: CargoOwner?

  /// Whether it is not known if the file is there, since the list in which it would stand broke off.
  func mayHide(_ path: VaultPath) -> Bool {
    guard isPeopleCut, files[path] == nil, case .person(let person) = path.owner else {
      return false
    }
    return !listedByName.contains(person)
  }

  /// Whether the file may be there and stands where nothing but heads was looked for, since nothing was new.
  func hasNotLookedFor(_ path: VaultPath) -> Bool {
    guard case .member(let member) = path.owner, !path.isHead else { return false }
    return members.contains(member) && !searched.contains(member)
  }

  func heads(of member: MemberID) -> [DeviceID] {
    files.keys.compactMap { path in
      if case .head(member, let device) = path { device } else { nil }
    }.sorted()
  }
}

extension RemoteLook {
  /// What would have been seen if these files were not there, nor the members that have nothing else and are not here.
  func without(_ left: Set<VaultPath>, besides local: LocalLook) -> RemoteLook {
    if left.isEmpty { return self }
    var look = self
    look.files = files.filter { !left.contains($0.key) }
    let remaining = Set(look.files.keys.map(\.owner))
    for case .member(let member) in Set(left.map(\.owner))
    where !local.members.contains(member) && !remaining.contains(.member(member)) {
      look.members.remove(member)
      look.searched.remove(member)
    }
    return look
  }

  /// More names in one folder than any family has, besides those that are here: what everybody carries must shut no folder.
  static let nameLimit = 100_000
  /// More than in the folder of anybody in it, besides those that are here.
  static let personNameLimit = 10_000
  /// More than in the folders of all its members, besides those that are here.
  static let memberNameLimit = 500_000
}

/// Looks at a remote. Costs, when nothing changed, one request for `vault.json`, what listing `people` takes, one for
/// `members`, and one for each member; where the list of `people` breaks off, besides, what listing each known person's
/// folder takes.
struct RemoteLooking {
  let session: SyncSession
  /// The signed files that are here.
  let local: Set<VaultPath>
  /// What is not looked into.
  let skipping: CargoSkipping
  /// How many names members' folders may still have.
  private let left: Guarded<Int>

  init(
    session: SyncSession, local: LocalLook, memberNameLimit: Int = RemoteLook.memberNameLimit
  ) {
    self.session = session
    self.local = local.files
    left = Guarded(memberNameLimit + local.files.count)
    skipping = CargoSkipping(session: session, local: local)
  }

  func look() throws(SyncError) -> RemoteLook {
    var look = RemoteLook()
    look.hasDescription = try identify()
    try listPeople(&look)
    try listMembers(&look)
    if !look.hasDescription { try requireOwnLeftovers(look) }
    look.lastTurn = skipping.lastTurn
    return look
  }

  /// What was seen before, with what has to be looked for besides, because of what is here by now.
  func look(again seen: RemoteLook) throws(SyncError) -> RemoteLook {
    var look = seen
    let known = Known(seen: session.memory.seen, local: local)
    let files = Dictionary(grouping: seen.files) { $0.key.owner }
    let unsearched = seen.members.subtracting(seen.searched).filter { member in
      let heads = (files[.member(member)] ?? []).map { ($0.key, $0.value) }
      return needsSearch(member, Dictionary(uniqueKeysWithValues: heads), known)
    }
    try list(unsearched, known, &look)
    return look
  }

  // MARK: Which vault

  /// - Returns: Whether there is a vault at all.
  private func identify() throws(SyncError) -> Bool {
    let bytes: [UInt8]
    do {
      bytes = try session.remote.read(
        BlobPath(VaultPath.vault.string), limit: VaultDescription.byteLimit)
    } catch {
      switch error {
      case .notFound:
        try requireBeginning()
        return false
      case .tooLarge: throw .notThisVault(reason: "it is too large\(try mendingHint())")
      default: throw .remote(error)
      }
    }
    let found: VaultID
    do { found = try VaultDescription(decoding: bytes).vault } catch {
      // A store that cuts files short may hold the beginning of what a first push put last.
      guard VaultDescription(vault: session.home.id).encoded().starts(with: bytes) else {
        throw .notThisVault(reason: "\(error)\(try mendingHint())")
      }
      try requireBeginning()
      return false
    }
    guard found == session.home.id else { throw .otherVault(found: found) }
    return true
  }

  /// What can be done about a `vault.json` that is damaged; nothing if it is not this vault's.
  private func mendingHint() throws(SyncError) -> String {
    guard try RemoteDescription(session).isExtended() else { return "" }
    return ". It begins as this vault's does; to write it anew: kinvault check --repair --remote "
      + session.nameToType
  }

  /// Without `vault.json` there may be nothing strange; and something, if this machine has seen anything of the vault
  /// there: what is empty now is a disk that is not plugged in, or another one.
  private func requireBeginning() throws(SyncError) {
    let names = try asking(session.remote.list(.root))
    if let strange = RemoteRoot.stranger(among: names) {
      throw .notEmpty(example: strange.name)
    }
    if let name = session.name, session.memory.hasHeldFiles,
      !names.contains(where: { RemoteRoot.vaultFolders.contains($0.name) })
    {
      throw .emptied(remote: name)
    }
  }

  /// Without `vault.json`, only what an interrupted first push of this very vault left may be there. It may be another
  /// device's, which has changed the keys of a person or let somebody in; but then there are people among it who are known here,
  /// and nobody's id stands in two vaults.
  private func requireOwnLeftovers(_ look: RemoteLook) throws(SyncError) {
    let closings = look.files.keys.filter { $0.closedPerson != nil }
    let known = Set(local.compactMap(\.closedPerson))
    guard !closings.isEmpty, known.isDisjoint(with: closings.compactMap(\.closedPerson)) else {
      return
    }
    throw .notEmpty(example: closings.map(\.string).min() ?? "")
  }

  // MARK: Names

  private func listPeople(_ look: inout RemoteLook) throws(SyncError) {
    let here = local.count { if case .person = $0.owner { true } else { false } }
    if try listPeople(under: "people", limit: RemoteLook.nameLimit + here, &look) { return }
    session.note(.crowdedPeople)
    look.isPeopleCut = true
    try listKnownPeople(&look)
  }

  /// Looks by their names for the people who are known: whatever lies beside their folders keeps no news of them away.
  private func listKnownPeople(_ look: inout RemoteLook) throws(SyncError) {
    let here = Dictionary(grouping: local, by: \.owner).mapValues(\.count)
    for person in knownPeople where look.files.count < RemoteLook.memberNameLimit + local.count {
      if skipping.skips(.person(person)) {
        look.passedBy.insert(.person(person))
        continue
      }
      let folder = BlobPath("people/\(person.hex)")
      let limit = RemoteLook.personNameLimit + (here[.person(person)] ?? 0)
      if try listPeople(under: folder, limit: limit, &look) {
        look.listedByName.insert(person)
      } else {
        session.note(.endlessListing(folder.string))
      }
    }
  }

  /// This person first, then those for whom they vouch; where nobody is a stranger, all who are here.
  private var knownPeople: [PersonID] {
    let own = session.home.person
    let others =
      session.home.vouching.map { $0.people.union($0.companions) }
      ?? Set(local.compactMap { if case .person(let person) = $0.owner { person } else { nil } })
    return [own] + others.subtracting([own]).sorted()
  }

  /// - Returns: Whether the list came to its end.
  private func listPeople(
    under folder: BlobPath, limit: Int, _ look: inout RemoteLook
  ) throws(SyncError) -> Bool {
    var passedBy: Set<CargoOwner> = []
    defer { look.passedBy.formUnion(passedBy) }
    do {
      try session.remote.walk(
        under: folder, depth: 7 - folder.partCount, limit: limit,
        entering: { folder in
          guard let owner = CargoOwner(path: folder.string), skipping.skips(owner) else {
            return true
          }
          passedBy.insert(owner)
          return false
        }
      ) { path, entry in
        add(path, entry, to: &look)
        return .goOn
      }
      return true
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return false
    }
  }

  private func listMembers(_ look: inout RemoteLook) throws(SyncError) {
    let folder: BlobPath = "members"
    let entries: [BlobEntry]
    do { entries = try list(folder) } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.endlessListing(folder.string))
      look.givenUp = Set(
        local.union(session.memory.seen.keys).compactMap { path in
          if case .member(let member) = path.owner { member } else { nil }
        })
      return
    }
    for entry in entries {
      if entry.isFolder, let member = MemberID(hex: entry.name) {
        if skipping.skips(.member(member)) {
          look.passedBy.insert(.member(member))
        } else {
          look.members.insert(member)
        }
      } else {
        session.note(.foreign("members/\(entry.name)"))
      }
    }
    try list(look.members, Known(seen: session.memory.seen, local: local), &look)
  }

  /// Lists the heads of these members, and what else of them is to be looked for.
  private func list(
    _ members: Set<MemberID>, _ known: Known, _ look: inout RemoteLook
  ) throws(SyncError) {
    let results = Gathered<(MemberID, RemoteLook)>()
    // Whoever leaves a member may have no head of it, and writes the register of their device instead.
    let left = session.memory.leftCargo
    let hasNewsOfPeople = look.files.contains { path, entry in
      known.seen[path]?.fingerprint != entry.fingerprint
        && CargoOwner(path).map { left[$0] == nil } ?? true
    }
    // However many others have made up, those that are here are looked at.
    let here = members.filter { known.localByOwner[.member($0)] != nil }
    for group in [here, members.subtracting(here)] {
      try session.forEach(group.sorted()) { [self] (member) throws(SyncError) in
        results.add((member, try listMember(member, known, hasNewsOfPeople: hasNewsOfPeople)))
      }
    }
    for (member, part) in results.all {
      look.files.merge(part.files) { first, _ in first }
      look.searched.formUnion(part.searched)
      if !part.givenUp.isEmpty { look.givenUp.insert(member) }
    }
  }

  /// What is remembered of the remote, and what is here, by folder.
  private struct Known: Sendable {
    let seen: [VaultPath: RemoteMemory.Seen]
    let seenByOwner: [VaultPath.Owner: [VaultPath]]
    let localByOwner: [VaultPath.Owner: [VaultPath]]

    init(seen: [VaultPath: RemoteMemory.Seen], local: Set<VaultPath>) {
      self.seen = seen
      seenByOwner = Dictionary(grouping: seen.keys, by: \.owner)
      localByOwner = Dictionary(grouping: local, by: \.owner)
    }
  }

  private func listMember(
    _ member: MemberID, _ known: Known, hasNewsOfPeople: Bool
  ) throws(SyncError) -> RemoteLook {
    var look = RemoteLook()
    let folder = BlobPath("members/\(member.hex)")
    let here = known.localByOwner[.member(member)] ?? []
    do {
      let heads = folder.appending("heads")
      for entry in try list(heads, besides: here) {
        add(heads.child(named: entry.name), entry, to: &look)
      }
      guard hasNewsOfPeople || needsSearch(member, look.files, known) else { return look }
      look.searched.insert(member)
      for part in ["links", "wraps"] {
        let inside = folder.appending(part)
        for entry in try list(inside, besides: here) {
          add(inside.child(named: entry.name), entry, to: &look)
        }
      }
      for entry in try list(folder, besides: here) where !entry.isFolder {
        add(folder.child(named: entry.name), entry, to: &look)
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.endlessListing(folder.string))
      look.givenUp.insert(member)
    }
    return look
  }

  /// - Parameter here: Files that are here, of this folder and others. They count for nothing.
  private func list(
    _ folder: BlobPath, besides here: [VaultPath] = []
  ) throws(BlobStoreError) -> [BlobEntry] {
    let isEndless = BlobStoreError.endlessListing(
      folder: folder.string, limit: RemoteLook.nameLimit)
    guard left.withLock({ $0 > 0 }) else { throw isEndless }
    let entries = try session.remote.list(folder)
    if entries.count > RemoteLook.nameLimit {
      let prefix = folder.string + "/"
      let hereCount = here.count { $0.string.hasPrefix(prefix) }
      guard entries.count <= RemoteLook.nameLimit + hereCount else { throw isEndless }
    }
    left.withLock { $0 -= entries.count }
    return entries
  }

  /// Whether more than the heads is to be listed: something about the member is new.
  private func needsSearch(
    _ member: MemberID, _ heads: [VaultPath: BlobEntry], _ known: Known
  ) -> Bool {
    let seen = known.seen
    if session.looksEverywhere || seen[.memberRoot(member)] == nil { return true }
    let isHeadNew = heads.contains { path, entry in
      seen[path]?.fingerprint != entry.fingerprint
    }
    let seenOfMember = known.seenByOwner[.member(member)] ?? []
    let isHeadGone = seenOfMember.contains { path in
      if case .head = path { heads[path] == nil } else { false }
    }
    if isHeadNew || isHeadGone { return true }
    // The folder here is a new one: what this machine remembers of the remote, it has lost.
    if seenOfMember.contains(where: { $0.isStatement && !local.contains($0) }) { return true }
    return (known.localByOwner[.member(member)] ?? []).contains { path in
      path.isStatement && seen[path] == nil
    }
  }

  private func add(_ path: BlobPath?, _ entry: BlobEntry, to look: inout RemoteLook) {
    guard let path, entry.kind == .blob, let known = VaultPath(parsing: path.string) else {
      return session.noteForeign(path, named: entry.name)
    }
    if let owner = CargoOwner(known), skipping.skips(owner) {
      // A store that lists a whole tree shows it all the same.
      look.passedBy.insert(owner)
      return
    }
    look.files[known] = entry
  }
}

extension VaultPath {
  /// Whose closing it is; nil of everything else.
  fileprivate var closedPerson: PersonID? {
    if case .closing(let person, _) = self { person } else { nil }
  }
}
