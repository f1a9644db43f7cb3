import BlobStore
import Vault
import VaultModel

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
  /// Objects that were missing or damaged there, and were put there again, and `vault.json` if it was.
  package var mendedCount = 0
  /// Bytes that were fetched and authenticated.
  package var readByteCount: UInt64 = 0
  package var traffic = SyncTraffic()

  package init() {}

  package var hasDamage: Bool { problems.contains { $0.severity == .damage } }
}

/// Sees whether a remote holds what its heads name, and puts good copies there if it is asked to.
///
/// Changes nothing here.
package struct RemoteCheck: Sendable {
  private let vault: Vault
  private let remote: any BlobStore
  private let threadCount: Int
  private let repairs: Bool

  /// - Parameter repairs: Puts what is missing or damaged there again, where it is whole here.
  package init(
    vault: Vault, remote: any BlobStore, threadCount: Int = 4, repairs: Bool = false
  ) {
    self.vault = vault
    self.remote = remote
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
      home: SyncHome(vault, vouching: nil), name: nil, remote: remote, nearer: nil,
      memory: RemoteMemory(),
      options: options,
      progress: progress)
    var report = RemoteCheckReport()
    if repairs, try RemoteDescription(session).mend() { report.mendedCount += 1 }
    let (exchange, _) = try session.look()
    guard exchange.look.hasDescription else { throw .noVault }
    for member in vault.members where exchange.look.members.contains(member.id) {
      try check(member, exchange, session, readsData: readsData, into: &report)
    }
    if repairs, report.mendedCount > 0 { try session.flush() }
    report.problems = session.report.problems
    report.traffic = session.report.traffic
    return report
  }

  private func check(
    _ member: Member, _ exchange: SignedExchange, _ session: SyncSession, readsData: Bool,
    into report: inout RemoteCheckReport
  ) throws(SyncError) {
    report.memberCount += 1
    var counters: [DeviceID: UInt64] = [:]
    var needed: [ContentDigest: NeededObject] = [:]
    var opened: [OpenedHead] = []
    for device in exchange.look.heads(of: member.id) {
      let path = VaultPath.head(member.id, device)
      if exchange.former.contains(path) { continue }
      exchange.note(exchange.plan(path), path)
      guard exchange.there[path] != nil, let file = try exchange.fetched(path) else { continue }
      do throws(VaultError) {
        opened.append(try member.openHead(device, bytes: file.bytes, in: exchange.tree))
      } catch {
        session.note(SyncProblem(error, there: path.string))
      }
    }
    // What late heads name may be gone where others have taken it over.
    for head in opened where !head.isLate {
      counters[head.device] = head.counter
      for segment in head.segments {
        needed[segment] = NeededObject(digest: segment, kind: .segment)
      }
      for list in head.head.authored {
        needed[list] = NeededObject(digest: list, kind: .authored, isOnlyInHistory: true)
      }
    }
    let coverage = Coverage(counters)
    let unsynced = member.allEntries().count { coverage.holds($0) == false }
    report.unsyncedRecordCount += unsynced
    for object in member.neededObjects(where: { coverage.holds($0) != false }) {
      needed[object.digest] = object
    }
    let there = try ObjectListing.load(member.id, session: session)
    let places = member.objects.places(of: needed.keys, among: there)
    let work = needed.map { digest, object in
      let name = places[digest] ?? member.objects.name(of: digest)
      return (object: object, name: name, byteCount: there[name])
    }.sorted { $0.name < $1.name }
    let total = work.reduce(0) { $0 + ($1.byteCount ?? 0) }
    report.objectCount += work.count
    report.objectByteCount += total
    report.unusedCount += there.count - places.count
    let (read, mended) = (Gathered<UInt64>(), Gathered<ObjectName>())
    let done = ProgressCount(label: member.name.string, total: total, session.progress)
    try session.forEach(work) { (object, name, byteCount) throws(SyncError) in
      if let problem = try examine(object, name, byteCount, member, session, readsData: readsData) {
        if repairs, try putAgain(object, name, of: member, session) {
          mended.add(name)
        } else {
          session.note(problem)
        }
      } else if readsData, let byteCount {
        read.add(byteCount)
      }
      done.add(byteCount ?? 0)
    }
    report.readByteCount += read.all.reduce(0, +)
    report.mendedCount += mended.all.count
  }

  /// - Returns: False when it is not whole here either.
  private func putAgain(
    _ object: NeededObject, _ name: ObjectName, of member: Member, _ session: SyncSession
  ) throws(SyncError) -> Bool {
    let whole: SealedObject
    do throws(VaultError) {
      whole = try member.objects.sealedObject(name, kind: object.kind)
    } catch {
      switch error {
      case .missing, .damaged: return false
      default: throw .vault(error)
      }
    }
    try session.put(member.objects.vaultPath(of: name), whole.file)
    return true
  }

  /// - Returns: What is wrong with the object there; nil when nothing is.
  private func examine(
    _ object: NeededObject, _ name: ObjectName, _ byteCount: UInt64?, _ member: Member,
    _ session: SyncSession, readsData: Bool
  ) throws(SyncError) -> SyncProblem? {
    let path = member.objects.vaultPath(of: name)
    let severity: Problem.Severity = object.isOnlyInHistory ? .warning : .damage
    guard let byteCount else {
      return SyncProblem(
        .missingThere, severity, path: path.string,
        "It is not on the remote, though a head there names it. To put it there again, on a machine that "
          + "has it: kinvault check --repair --remote NAME")
    }
    let (needed, found) = (object.contentByteCount, Int(clamping: byteCount))
    guard ObjectLayout(of: object.kind).mayHold(contentSize: needed, fileSize: found) else {
      return SyncProblem(
        .damagedThere, severity, path: path.string,
        "On the remote it has \(byteCount) bytes, and at least "
          + "\(ObjectLayout(of: object.kind).fileSize(contentSize: needed)) are needed.")
    }
    guard readsData else { return nil }
    do throws(BlobStoreError) {
      let file = try session.remote.read(
        BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: object.kind))
      do throws(VaultError) {
        _ = try member.objects.authenticate(name, kind: object.kind, file: file)
        return nil
      } catch {
        var problem = SyncProblem(error, there: path.string)
        problem.severity = severity
        return problem
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      var problem = SyncProblem(VaultError(error), there: path.string)
      problem.severity = severity
      return problem
    }
  }
}
