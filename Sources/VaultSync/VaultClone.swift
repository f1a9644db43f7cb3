import BlobStore
import Vault
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// Begins a copy of a vault on this machine: an empty folder, filled from a remote.
///
/// It brings the vault's id and its people, verified, which is what `Vault.recover` needs to make this machine a device
/// with the 24 words. Then the vault opens, without members, and the first sync brings those. Whoever stops in
/// between begins again with the same call.
///
/// This is a sync of the least reach: it looks, judges, plans and performs as any other, but for one machine that is
/// nobody's device yet. So it has no memory of the remote, no course to choose, and nothing to put there.
package enum VaultClone {
  /// What a clone begins with.
  package struct Beginning: Sendable {
    package var vault: VaultID
    /// How many people were found. The words must be those of one of them.
    package var personCount: Int
    package var problems: [SyncProblem]
  }

  /// Fills a folder, which is made if it is missing.
  ///
  /// - Parameters:
  ///   - known: Whose files come whatever they weigh: who has invited this person. Of everyone else, of whom nothing can be
  ///     known yet, those come that fit into what a vault takes of strangers, the smallest first.
  ///   - takesStrangers: Takes everyone. Of somebody whose files are more than is held unverified, a part.
  /// - Throws: `tooManyPeople` when nobody is among as much as is held unverified, `crowdedPeople` when the list of people does
  ///   not end and those who are known are not found by name, `noVault` when the remote holds none,
  ///   `notThisVault` when it is of a kind that is not known, `folderNotEmpty` when the folder has anything in it but what an
  ///   interrupted clone of this vault left.
  package static func begin(
    from remote: any BlobStore, into folder: FilePath, knowing known: Set<PersonID> = [],
    takesStrangers: Bool = false
  ) throws(SyncError) -> Beginning {
    let store: DirectoryStore
    do { store = try DirectoryStore.make(folder) } catch {
      throw .vault(VaultError(error))
    }
    let order = CloneOrder(known: known, takesStrangers: takesStrangers)
    return try begin(from: remote, into: store, called: folder.string, order)
  }

  /// `begin` in any store; `name` is what the folder is called in messages.
  static func begin(
    from remote: any BlobStore, into store: any LocalStore, called name: String,
    _ order: CloneOrder = CloneOrder()
  ) throws(SyncError) -> Beginning {
    let description = try Self.description(of: remote)
    try requireFree(store, for: description, called: name)
    var people = try ClonedPeople.read(remote, order)
    let files = people.files
    let tree = try keeping(
      SignedTree.load(vault: description.vault, store: store).adding(files))
    if !order.takesStrangers { people.leave(order, besides: try LocalLook.ofFolder(store).files) }
    for (path, bytes) in try people.judge(in: tree)
    where try !hasNewer(path, than: bytes, in: store, tree) {
      try write(path, bytes, into: store)
    }
    // A folder without people is no vault that could be opened.
    guard tree.personCount > 0 else {
      throw people.isCut ? .tooManyPeople(fileCount: people.listedCount) : .noVault
    }
    try write(.vault, description.encoded(), into: store)
    return Beginning(
      vault: description.vault, personCount: tree.personCount, problems: people.problems)
  }

  /// What a remote says it holds.
  ///
  /// - Throws: `noVault` when it holds none, `notThisVault` when it is of a kind that is not known.
  package static func description(
    of remote: any BlobStore
  ) throws(SyncError) -> VaultDescription {
    let bytes: [UInt8]
    do {
      bytes = try remote.read(
        BlobPath(VaultPath.vault.string), limit: VaultDescription.byteLimit)
    } catch {
      if case .notFound = error { throw .noVault }
      throw .remote(error)
    }
    do { return try VaultDescription(decoding: bytes) } catch {
      throw .notThisVault(reason: "\(error)")
    }
  }

  private static func requireFree(
    _ store: any LocalStore, for description: VaultDescription, called name: String
  ) throws(SyncError) {
    do {
      let entries = try store.list(.root).filter { !$0.name.hasPrefix(".") }
      if entries.allSatisfy({ $0.name == "people" && $0.isFolder }) { return }
      let path = BlobPath(VaultPath.vault.string)
      if try store.size(of: path) != nil,
        try store.read(path, limit: VaultDescription.byteLimit) == description.encoded()
      {
        return
      }
    } catch {
      throw .vault(VaultError(error))
    }
    throw .vault(.folderNotEmpty(folder: name))
  }

  /// Whether a register is here that is newer, as a clone that was cut short at its end leaves that of its device.
  private static func hasNewer(
    _ path: VaultPath, than bytes: [UInt8], in store: any LocalStore, _ tree: SignedTree
  ) throws(SyncError) -> Bool {
    guard case .device = path else { return false }
    let here: [UInt8]
    do { here = try store.read(BlobPath(path.string), limit: Limits.signedFileBytes) } catch {
      if case .notFound = error { return false }
      throw .vault(VaultError(error))
    }
    do {
      return try tree.verify(path, here).counter > tree.verify(path, bytes).counter
    } catch {
      // One that does not hold keeps nothing away.
      guard error.isDamage else { throw .vault(error) }
      return false
    }
  }

  private static func write(
    _ path: VaultPath, _ bytes: [UInt8], into store: any LocalStore
  ) throws(SyncError) {
    do {
      try store.replace(BlobPath(path.string), bytes, durably: true)
    } catch {
      throw .vault(VaultError(error))
    }
  }
}

/// Whose files a clone takes.
struct CloneOrder: Sendable {
  /// Whose files come whatever they weigh.
  var known: Set<PersonID> = []
  var takesStrangers = false
  /// So much comes of everyone else.
  var strangersLimit = CargoQuota.limit

  fileprivate func isKnown(_ owner: CargoOwner) -> Bool {
    if case .person(let person) = owner { known.contains(person) } else { false }
  }

  /// The files in the order in which they are read while there is room: of those who are known first, then of those who have
  /// the least. Whoever fills the folder of one person keeps nobody else out.
  fileprivate func inTurn(_ files: [ListedFile]) -> [ListedFile] {
    var folders: [CargoOwner: [ListedFile]] = [:]
    for file in files {
      if let owner = CargoOwner(file.path) { folders[owner, default: []].append(file) }
    }
    let weights = folders.mapValues { files in
      files.reduce(into: CargoWeight()) { $0.add(byteCount: $1.size) }
    }
    let owners = CargoQuota.smallestFirst(weights).map(\.owner)
    return (owners.filter(isKnown) + owners.filter { !isKnown($0) }).flatMap { owner in
      Self.everyKindInTurn(folders[owner] ?? [])
    }
  }

  /// One of each kind, the smallest first, then the next of each: of whatever kind somebody has put any number there, the others
  /// are read.
  private static func everyKindInTurn(_ files: [ListedFile]) -> [ListedFile] {
    var kinds: [Int: [ListedFile]] = [:]
    for file in files { kinds[file.path.cloneTurn, default: []].append(file) }
    var turns: [(number: Int, kind: Int, file: ListedFile)] = []
    for (kind, files) in kinds {
      let sorted = files.map { (file: $0, text: $0.path.string) }
        .sorted { ($0.file.size, $0.text) < ($1.file.size, $1.text) }
      for (number, entry) in sorted.enumerated() { turns.append((number, kind, entry.file)) }
    }
    return turns.sorted { ($0.number, $0.kind) < ($1.number, $1.kind) }.map(\.file)
  }
}

/// A file of a person as a remote lists it. Some servers say no sizes.
private struct ListedFile {
  let path: VaultPath
  let size: UInt64
}

/// The files of people that a remote shows, of which a clone takes some.
private struct ClonedPeople {
  private(set) var files: [VaultPath: [UInt8]]
  private(set) var problems: [SyncProblem]
  /// How many the remote lists.
  let listedCount: Int
  /// What was not read, since no more is held unverified.
  private let unread: [ListedFile]

  /// Whether more is there than was read.
  var isCut: Bool { !unread.isEmpty }

  static func read(
    _ remote: any BlobStore, _ order: CloneOrder
  ) throws(SyncError) -> ClonedPeople {
    var problems: [SyncProblem] = []
    let listed: [ListedFile]
    if let all = try list(remote, under: ["people"]) {
      listed = all
    } else {
      listed = try listKnown(remote, order)
      problems.append(.crowdedPeople)
    }
    var files: [VaultPath: [UInt8]] = [:]
    var unread: [ListedFile] = []
    let unverified = UnverifiedBytes()
    for file in order.inTurn(listed) {
      let path = file.path
      let isRead = try unverified.take { () throws(SyncError) in
        do throws(BlobStoreError) {
          return try remote.read(BlobPath(path.string), limit: Limits.signedFileBytes)
        } catch {
          guard error.concernsOneFile else { throw .remote(error) }
          problems.append(SyncProblem(VaultError(error), there: path.string))
          return nil
        }
      } then: {
        files[path] = $0
      }
      if !isRead { unread.append(file) }
    }
    if !unread.isEmpty { problems.append(.tooMuchNew(unread.count, of: listed.count)) }
    return ClonedPeople(
      files: files, problems: problems, listedCount: listed.count, unread: unread)
  }

  /// The files of those who are known, each of whom is looked for by name.
  private static func listKnown(
    _ remote: any BlobStore, _ order: CloneOrder
  ) throws(SyncError) -> [ListedFile] {
    let folders = order.known.sorted().map { BlobPath(CargoOwner.person($0).path) }
    guard let files = try list(remote, under: folders), !files.isEmpty else {
      throw .crowdedPeople
    }
    return files
  }

  /// - Returns: Nil where a list does not end.
  private static func list(
    _ remote: any BlobStore, under folders: [BlobPath]
  ) throws(SyncError) -> [ListedFile]? {
    var files: [ListedFile] = []
    do throws(BlobStoreError) {
      for folder in folders {
        let depth = 7 - folder.partCount
        try remote.walk(under: folder, depth: depth, limit: RemoteLook.nameLimit) { path, entry in
          if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string) {
            files.append(ListedFile(path: known, size: entry.size))
          }
          return .goOn
        }
      }
    } catch {
      guard case .endlessListing = error else { throw .remote(error) }
      return nil
    }
    return files
  }

  private init(
    files: [VaultPath: [UInt8]], problems: [SyncProblem], listedCount: Int, unread: [ListedFile]
  ) {
    (self.files, self.problems) = (files, problems)
    (self.listedCount, self.unread) = (listedCount, unread)
  }

  /// Leaves the files of those out for whom there is no room, or of whom not everything was read.
  ///
  /// - Parameter here: What an interrupted clone has brought: it takes room as well.
  mutating func leave(_ order: CloneOrder, besides here: Set<VaultPath>) {
    var room = order.strangersLimit
    var weights: [CargoOwner: CargoWeight] = [:]
    for (path, bytes) in files {
      guard let owner = CargoOwner(path) else { continue }
      if order.isKnown(owner) { continue }
      if here.contains(path) {
        room = room.less(CargoWeight(fileCount: 1, byteCount: UInt64(bytes.count)))
      } else {
        weights[owner, default: CargoWeight()].add(byteCount: UInt64(bytes.count))
      }
    }
    var cut: Set<CargoOwner> = []
    for file in unread {
      guard let owner = CargoOwner(file.path), !order.isKnown(owner) else { continue }
      weights[owner, default: CargoWeight()].add(byteCount: file.size)
      cut.insert(owner)
    }
    for (owner, weight) in CargoQuota.smallestFirst(weights)
    where weight.fits(room) && !cut.contains(owner) {
      weights[owner] = nil
      room = room.less(weight)
    }
    let left = weights
    if left.isEmpty { return }
    problems.append(.strangers(leftByClone: left))
    files = files.filter { path, _ in CargoOwner(path).map { left[$0] == nil } ?? true }
  }

  /// Those that hold, in the order in which they are written.
  mutating func judge(
    in tree: SignedTree
  ) throws(SyncError) -> [(path: VaultPath, bytes: [UInt8])] {
    var sound: [(path: VaultPath, bytes: [UInt8])] = []
    for (path, bytes) in files.sorted(by: { $0.key.cloneTurn < $1.key.cloneTurn }) {
      switch try keeping(tree.verdict(onNew: path, bytes)) {
      case .counts: sound.append((path, bytes))
      // Of no use to anyone, and of no harm.
      case .retired, .former, .broken(.signedByRemovedDevice): continue
      case .broken(let error):
        let problem = SyncProblem(error, there: path.string)
        if !problems.contains(problem) { problems.append(problem) }
      }
    }
    return sound
  }
}

extension VaultPath {
  /// Closings first, then certificates: the rest is verified against them. A request to be let in comes last: nobody else needs
  /// it.
  fileprivate var cloneTurn: Int {
    switch self {
    case .closing: 0
    case .certificate: 1
    case .wrap: 2
    case .device: 3
    case .deviceRequest: 5
    default: 4
    }
  }
}
