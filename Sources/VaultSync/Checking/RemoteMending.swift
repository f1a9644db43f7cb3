import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// What was mended from a remote.
package struct MendingReport: Sendable {
  /// Files that were missing or damaged here and are whole now.
  package var mended: [VaultPath] = []
  /// What is still missing or damaged here.
  package var problems: [Problem] = []

  package init() {}
}

/// Takes good copies of what is damaged or missing here from a remote.
///
/// An object is taken when it authenticates under its name, a signed file when it verifies and is no older than this
/// machine has seen it, a wrap for another device when it is what this machine has seen it to be. Nothing that is whole is
/// replaced. Heads and statements that were mended count when the vault is opened again.
package struct RemoteMending: Sendable {
  private let vault: Vault
  private let remote: any BlobStore

  package init(vault: Vault, remote: any BlobStore) {
    self.vault = vault
    self.remote = remote
  }

  /// - Parameter readsData: Looks for damage in every byte here, not only for what is missing or cannot be opened.
  package func run(
    readsData: Bool, progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> MendingReport {
    guard !vault.isReadOnly else { throw .vault(.readOnly) }
    var report = MendingReport()
    var given: Set<String> = []
    for member in vault.members where member.mayWrite && member.standstill() != nil {
      report.mended += try bringOwn(of: member)
    }
    given.formUnion(report.mended.map(\.string))
    // What was missing may name more that is missing.
    for round in 0..<Self.roundLimit {
      report.problems = try keeping(
        vault.check(readsData: readsData && round == 0, progress: progress).problems)
      var broken = Set(
        report.problems.filter { $0.kind == .missing || $0.kind == .damaged }.map(\.path))
      broken.formUnion(try lostSegments(by: broken))
      var isMended = false
      for text in broken.subtracting(given).sorted() {
        given.insert(text)
        guard let path = VaultPath(parsing: text) else { continue }
        if try mend(path) {
          report.mended.append(path)
          isMended = true
        }
      }
      if !isMended { break }
    }
    let mended = Set(report.mended.map(\.string))
    report.problems.removeAll { mended.contains($0.path) }
    return report
  }

  /// More levels than a record has: head, segment, record, pages, list of chunks, chunk.
  private static let roundLimit = 32

  /// What the remote has at the path; nil where that is nothing that can be read.
  private func read(_ path: VaultPath) throws(SyncError) -> [UInt8]? {
    do {
      return try remote.read(
        BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: .announcement))
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return nil
    }
  }

  private func mend(_ path: VaultPath) throws(SyncError) -> Bool {
    guard let bytes = try read(path) else { return false }
    do {
      switch path {
      case .object(let member, let name):
        // A member whose head lacks something is not among those that are open.
        let tree = try SignedTree.load(
          vault: vault.id, store: vault.store, state: vault.state)
        let member = try vault.receivingMember(member, in: tree)
        let object = try member.sealedObjects.authenticate(name, kind: nil, file: bytes)
        try member.sealedObjects.place(name, file: object.file)
      case .vault: return false
      default:
        let tree = try SignedTree.load(
          vault: vault.id, store: vault.store, state: vault.state, opener: vault.wrapOpener
        ).adding([path: bytes])
        let facts = try tree.verify(path, bytes)
        if try isWholeSegment(path, tree) { return false }
        let wrap = try vault.state.loadSeenWraps().hashes[path]
        if let wrap, wrap != facts.hash { return false }
        let mark = try vault.state.loadWatermarks().marks.first { $0.path == path }
        if let mark, facts.counter < mark.counter { return false }
        if let mark, facts.counter == mark.counter, facts.hash != mark.hash { return false }
        try vault.place([(path, bytes, facts)])
      }
      return true
    } catch {
      // What does not hold there either, or not any more, is no good copy of this one file.
      if error.isOfBrokenFile { return false }
      switch error {
      case .noAccess, .accessEnded: return false
      default: throw .vault(error)
      }
    }
  }
}

extension RemoteMending {
  /// The segments of logs that the remote has and that are not here, where a check has named these files: of what is missing
  /// of a log it names what should follow, or the folder. What others here stand in the place of is not missing.
  private func lostSegments(by named: Set<String>) throws(SyncError) -> [String] {
    let parts = named.map { $0.split(separator: "/") }.filter { $0.first == "audit" }
    if parts.isEmpty { return [] }
    let replaced = try keeping(vault.claimedSegments())
    var lost: [String] = []
    for folder in Set(parts.map { $0.prefix(2).joined(separator: "/") }).sorted() {
      for path in try segments(in: BlobPath(folder)) where replaced[path] == nil {
        let size = try keeping { () throws(VaultError) in
          try storing(vault.store.size(of: BlobPath(path.string)))
        }
        if size == nil { lost.append(path.string) }
      }
    }
    return lost
  }

  private func segments(in folder: BlobPath) throws(SyncError) -> [VaultPath] {
    let entries: [BlobEntry]
    do { entries = try remote.list(folder) } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return []
    }
    return entries.compactMap { entry in
      guard entry.kind == .blob,
        let path = VaultPath(parsing: "\(folder.string)/\(entry.name)"),
        case .auditSegment = path
      else { return nil }
      return path
    }
  }

  /// Whether it is a segment of a log that holds as it is here. A check names those too that do not follow the segment before
  /// them, which is the one that is missing or damaged.
  private func isWholeSegment(_ path: VaultPath, _ tree: SignedTree) throws(VaultError) -> Bool {
    guard case .auditSegment = path else { return false }
    let facts: SignedFacts?? = try ifWhole(tree.verifyStored(path))
    return facts.flatMap { $0 } != nil
  }
}

/// What the remote's copy of this device's head names, where the one here cannot be read.
extension RemoteMending {
  /// Brings here what of that is not: then a repair finds it, and no record goes back to an older version that is newer there.
  /// The head itself is not put in place: it may be older than what this machine has written, and the repair writes one that
  /// has both.
  ///
  /// - Returns: What was brought.
  private func bringOwn(of member: Member) throws(SyncError) -> [VaultPath] {
    guard let head = try ownHead(of: member) else { return [] }
    var brought: [VaultPath] = []
    for segment in head.segments {
      if try content(of: segment, in: member) == nil {
        brought += try bring([segment], of: head, member)
      }
      // One that does not decode is damaged on the remote as well: the check that follows tells it.
      guard let bytes = try content(of: segment, in: member),
        let entries = (try? Segment(decoding: bytes))?.entries
      else { continue }
      for entry in entries where !member.hasReplaced(entry) {
        for _ in 0..<Self.roundLimit {
          let new = try bring(try keeping(member.lacking(of: entry)), of: head, member)
          if new.isEmpty { break }
          brought += new
        }
      }
    }
    return brought
  }

  /// This device's head as the remote has it; nil where there is none that holds.
  private func ownHead(of member: Member) throws(SyncError) -> OpenedHead? {
    let path = VaultPath.head(member.id, vault.device)
    guard let bytes = try read(path) else { return nil }
    do {
      let tree = try SignedTree.load(vault: vault.id, store: vault.store, state: vault.state)
      return try member.openHead(vault.device, bytes: bytes, in: tree)
    } catch {
      switch error {
      case .damaged, .missing, .branched, .noAccess, .accessEnded: return nil
      default: throw .vault(error)
      }
    }
  }

  private func content(
    of segment: ContentDigest, in member: Member
  ) throws(SyncError) -> [UInt8]? {
    try keeping(ifWhole(member.sealedObjects.content(segment, kind: .segment)))
  }

  private func bring(
    _ digests: Set<ContentDigest>, of head: OpenedHead, _ member: Member
  ) throws(SyncError) -> [VaultPath] {
    let objects = member.sealedObjects
    var brought: [VaultPath] = []
    for digest in digests.sorted() {
      let path = objects.vaultPath(of: objects.name(of: digest, in: head.epoch))
      if try mend(path) { brought.append(path) }
    }
    return brought
  }
}
