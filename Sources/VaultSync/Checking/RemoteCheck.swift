import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// What a check of a remote went through and found.
package struct RemoteCheckReport: Sendable {
  package var problems: [SyncProblem] = []
  package var memberCount = 0
  /// Objects that heads on the remote name.
  package var objectCount = 0
  package var objectByteCount: UInt64 = 0
  /// Objects that are listed there and that nothing known here names.
  package var unusedCount = 0
  /// Records whose newest revision was not put there yet; they were left out.
  package var unsyncedRecordCount = 0
  /// Members, and statements, that are here and not there: a copy that is made from there has not all that is here, or
  /// cannot even be opened.
  package var missingCount = 0
  /// Objects that were missing or damaged there, and were put there again, and `vault.json` if it was.
  package var mendedCount = 0
  /// Bytes that were fetched and authenticated.
  package var readByteCount: UInt64 = 0
  package var traffic = SyncTraffic()

  package init() {}

  /// A copy that is made from there is whole, but for what changed here since the last sync.
  package var isWhole: Bool {
    missingCount == 0 && !problems.contains { $0.severity == .damage }
  }
}

/// Sees whether a remote holds what its heads name, and puts good copies there if it is asked to.
///
/// Changes nothing here.
package struct RemoteCheck: Sendable {
  private let vault: Vault
  private let remote: any BlobStore
  private let name: RemoteName?
  private let threadCount: Int
  private let repairs: Bool

  /// - Parameters:
  ///   - name: What this machine calls the remote, for what is told.
  ///   - repairs: Puts what is missing or damaged there again, where it is whole here.
  package init(
    vault: Vault, remote: any BlobStore, name: RemoteName? = nil, threadCount: Int = 4,
    repairs: Bool = false
  ) {
    self.vault = vault
    self.remote = remote
    self.name = name
    self.threadCount = threadCount
    self.repairs = repairs
  }

  /// - Parameters:
  ///   - readsData: Fetches every object and authenticates it to the last byte, instead of comparing sizes.
  ///   - progress: Called now and then, from several threads.
  package func run(
    readsData: Bool, progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> RemoteCheckReport {
    var options = SyncOptions()
    options.looksEverywhere = true
    options.threadCount = threadCount
    // Without a memory, so that every signed file is read and verified.
    let session = SyncSession(
      home: SyncHome(vault, vouching: nil), side: RemoteSide(store: remote, name: name),
      memory: RemoteMemory(), order: SyncOrder(options: options, progress: progress))
    var report = RemoteCheckReport()
    if repairs, try RemoteDescription(session).mend() { report.mendedCount += 1 }
    var looking = SyncLooking(session: session)
    let exchange = try looking.look()
    guard exchange.look.hasDescription else { throw .noVault }
    for member in vault.members where exchange.look.members.contains(member.id) {
      let check = RemoteMemberCheck(
        session: session, exchange: exchange, member: member,
        mode: .init(readsData: readsData, repairs: repairs))
      try check.run(into: &report)
    }
    findMissing(session, exchange, &report)
    session.tendLeftOver(removing: repairs)
    if repairs, report.mendedCount > 0 { try session.flush() }
    report.problems = session.report.problems
    report.traffic = session.report.traffic
    return report
  }

  /// Members that are not there at all, or without a head, and what of people and members a sync would put there.
  private func findMissing(
    _ session: SyncSession, _ exchange: SignedExchange, _ report: inout RemoteCheckReport
  ) {
    let look = exchange.look
    var missing: Set<MemberID> = []
    for member in vault.members {
      // Of those that could not be listed it is not said that they are missing.
      let isThere = look.members.contains(member.id) || look.givenUp.contains(member.id)
      if !isThere { report.unsyncedRecordCount += member.allEntries().count }
      let hasHeads = look.givenUp.contains(member.id) || !look.heads(of: member.id).isEmpty
      if isThere, hasHeads || member.openedHeads.isEmpty { continue }
      session.note(.notThere("members/\(member.id.hex)"))
      missing.insert(member.id)
    }
    report.missingCount += missing.count
    for path in StatementSync(session: session, exchange: exchange).lacking {
      if case .member(let member) = path.owner, missing.contains(member) { continue }
      report.missingCount += 1
      // Of what does not hold there that is told already.
      if !exchange.broken.contains(path) { session.note(.notThere(path.string)) }
    }
  }
}

/// Checks what a remote holds of one member.
private struct RemoteMemberCheck: Sendable {
  let session: SyncSession
  let exchange: SignedExchange
  let member: Member
  let mode: Mode

  struct Mode: Sendable {
    let readsData: Bool
    let repairs: Bool
  }

  /// An object that is needed, and where and how large it is listed there.
  private struct Work: Sendable {
    let object: NeededObject
    let name: ObjectName
    let byteCount: UInt64?
    /// History ends there before it comes to this: another device may have collected it.
    let mayBeCollected: Bool

    var severity: Problem.Severity {
      mayBeCollected ? .note : object.isOnlyInHistory ? .warning : .damage
    }
  }

  func run(into report: inout RemoteCheckReport) throws(SyncError) {
    // What late heads name may be gone where others have taken it over.
    let heads = try headsThere().filter { !$0.isLate }
    let coverage = RemoteHoldings(heads).coverage
    // Whose device writes no more, or has no head in this epoch yet, is in others' heads.
    let named = member.sealedObjects.revisions(namedBy: heads, unread: noteUnread)
    let isThere = { (entry: RecordEntry) in
      coverage.holds(entry) != false || named.contains(entry.revision)
    }
    let unsynced = member.allEntries().count { !isThere($0) }
    let listed = try ObjectListing.load(member.id, session: session)
    let needed = needed(by: heads, isThere)
    let kept = Set(
      member.neededObjects(
        where: isThere,
        keeping: { older in
          member.sealedObjects.names(of: older).contains { listed[$0] != nil }
        }, unread: noteUnread
      ).map(\.digest))
    let places = member.sealedObjects.places(of: needed.keys, among: listed)
    let there = try ObjectListing.measured(
      listed, for: places.values, of: member.id, session: session)
    let work = needed.map { digest, object in
      let name = places[digest] ?? member.sealedObjects.name(of: digest)
      return Work(
        object: object, name: name, byteCount: there[name],
        mayBeCollected: object.isOnlyInHistory && object.kind != .authored
          && !kept.contains(digest))
    }.sorted { $0.name < $1.name }
    report.memberCount += 1
    report.unsyncedRecordCount += unsynced
    report.objectCount += work.count
    report.objectByteCount += work.reduce(0) { $0 + ($1.byteCount ?? 0) }
    report.unusedCount += there.count - places.count
    let (readByteCount, mendedCount) = try examine(work)
    report.readByteCount += readByteCount
    report.mendedCount += mendedCount
  }

  /// Something could not be read here just now, so nobody knows whether what it needs is there.
  private func noteUnread(_ error: VaultError) {
    session.note(.notLookedFor(error, of: member.id))
  }

  /// The heads there that count and open.
  private func headsThere() throws(SyncError) -> [OpenedHead] {
    var opened: [OpenedHead] = []
    for device in exchange.look.heads(of: member.id) {
      let path = VaultPath.head(member.id, device)
      if exchange.former.contains(path) { continue }
      exchange.note(exchange.plan(path), path)
      guard exchange.there[path] != nil, let file = try exchange.fetched(path) else { continue }
      do {
        opened.append(try member.openHead(device, bytes: file.bytes, in: exchange.tree))
      } catch {
        session.note(SyncProblem(error, there: path.string))
      }
    }
    return opened
  }

  private func needed(
    by heads: [OpenedHead], _ isThere: (RecordEntry) -> Bool
  ) -> [ContentDigest: NeededObject] {
    var needed: [ContentDigest: NeededObject] = [:]
    for segment in heads.flatMap(\.segments) {
      needed[segment] = NeededObject(digest: segment, kind: .segment)
    }
    for list in heads.flatMap(\.head.authored) {
      needed[list] = NeededObject(digest: list, kind: .authored, isOnlyInHistory: true)
    }
    for object in member.neededObjects(where: isThere, unread: noteUnread) {
      needed[object.digest] = object
    }
    return needed
  }

  private func examine(
    _ work: [Work]
  ) throws(SyncError) -> (readByteCount: UInt64, mendedCount: Int) {
    let total = work.reduce(0) { $0 + ($1.byteCount ?? 0) }
    let (read, mended) = (Gathered<UInt64>(), Gathered<ObjectName>())
    let done = ProgressCount(label: member.name.string, total: total, session.progress)
    try session.forEach(work) { [self] (one) throws(SyncError) in
      if let problem = try problem(with: one) {
        if mode.repairs, try putAgain(one) {
          mended.add(one.name)
        } else {
          session.note(problem)
        }
      } else if mode.readsData, let byteCount = one.byteCount {
        read.add(byteCount)
      }
      done.add(one.byteCount ?? 0)
    }
    return (read.all.reduce(0, +), mended.all.count)
  }

  /// - Returns: False when it is not whole here either.
  private func putAgain(_ one: Work) throws(SyncError) -> Bool {
    let whole: SealedObject
    do {
      whole = try member.sealedObjects.sealedObject(one.name, kind: one.object.kind)
    } catch {
      guard error.isDamage else { throw .vault(error) }
      return false
    }
    try session.put(member.sealedObjects.vaultPath(of: one.name), whole.file)
    return true
  }

  /// - Returns: What is wrong with the object there; nil when nothing is.
  private func problem(with one: Work) throws(SyncError) -> SyncProblem? {
    let path = member.sealedObjects.vaultPath(of: one.name)
    guard let byteCount = one.byteCount else {
      if one.mayBeCollected { return .mayBeCollected(path, session) }
      return SyncProblem(
        .missingThere, one.severity, path: path.string,
        "It is not on the remote, though a head there names it. To put it there again, on a machine that "
          + "has it: kinvault check --repair --remote \(session.nameToType)")
    }
    let layout = ObjectLayout(of: one.object.kind)
    let (needed, found) = (one.object.contentByteCount, Int(clamping: byteCount))
    guard layout.mayHold(contentSize: needed, fileSize: found) else {
      return SyncProblem(
        .damagedThere, one.severity, path: path.string,
        "On the remote it has \(byteCount) bytes, and at least "
          + "\(layout.fileSize(contentSize: needed)) are needed.")
    }
    guard mode.readsData, let error = try damage(of: one, at: path) else { return nil }
    var problem = SyncProblem(error, there: path.string)
    problem.severity = one.severity
    return problem
  }

  /// What its bytes show, all of which are fetched.
  private func damage(of one: Work, at path: VaultPath) throws(SyncError) -> VaultError? {
    let file: [UInt8]
    do {
      file = try session.remote.read(
        BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: one.object.kind))
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return VaultError(error)
    }
    do {
      _ = try member.sealedObjects.authenticate(one.name, kind: one.object.kind, file: file)
      return nil
    } catch {
      return error
    }
  }
}

extension SyncProblem {
  fileprivate static func notThere(_ path: String) -> SyncProblem {
    SyncProblem(
      .missingThere, .warning, path: path,
      "It is here and not on the remote: a copy that is made from there lacks it. To put it there: kinvault sync --full"
    )
  }

  fileprivate static func mayBeCollected(_ path: VaultPath, _ session: SyncSession) -> SyncProblem {
    SyncProblem(
      .missingThere, .note, path: path.string,
      "It belongs to an older version that this machine keeps and the remote does not: another device has collected "
        + "it, or the remote has lost it. To put it there again: kinvault check --repair --remote \(session.nameToType)"
    )
  }
}
