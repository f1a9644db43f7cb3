import BlobStore
import MachineState
import Threads
import Vault
import VaultErrors
import VaultModel

/// A remote as a sync has it.
struct RemoteSide: Sendable {
  let store: any BlobStore
  /// What this machine calls the remote; nil for one of which nothing is remembered.
  var name: RemoteName?
  /// Ciphertext that a sync while locked has fetched already: looked into before the remote is asked.
  var nearer: (any BlobStore)?
  /// Where objects may be had that the remote has lost; nil for nowhere.
  var elsewhere: (any ObjectSource)?
  /// Signed files that were read a moment ago, as they were listed then.
  var read: [VaultPath: [UInt8]] = [:]
}

/// What a sync was asked to do, and who is told how far it is.
struct SyncOrder: Sendable {
  let options: SyncOptions
  let progress: @Sendable (WorkProgress) -> Void
}

/// One sync of one remote while it runs: what every part of it shares.
final class SyncSession: Sendable {
  private struct State {
    var report = SyncReport()
    var memory: RemoteMemory
    var firstError: SyncError?
    /// How many bytes were moved when progress was told last.
    var toldByteCount: UInt64 = 0
    /// Signed files that were put there.
    var put: Set<VaultPath> = []
    /// What `noteCopy` was called with.
    var copies: [VaultPath: UInt64] = [:]
    /// What `noteUnread` was called with.
    var unreadHeads: Set<FileHash> = []
    /// Packs that were put there.
    var packs: Set<BlobPath> = []
    /// Whether the next sync is to compare the lists of objects.
    var isToBeCompared = false
    var hasMetLoss = false
    /// The object of each member that was put there first.
    var firstObjects: [MemberID: VaultPath] = [:]
    /// What interrupted syncs left there and is to be removed.
    var leftOver: Set<BlobPath> = []
  }

  let home: SyncHome
  let remote: CountingStore
  private let side: RemoteSide
  private let order: SyncOrder
  /// Every folder is looked into, also where nothing seems to have changed: when asked for, and once a day.
  let looksEverywhere: Bool
  /// Logs are joined: where every folder is looked into, and once a day by a sync that can take those of others.
  let joinsLogs: Bool
  /// Objects here and there are compared: when asked for, once a week, and while the remote may be losing something.
  let comparesObjects: Bool
  private let state: Guarded<State>

  init(home: SyncHome, side: RemoteSide, memory: RemoteMemory, order: SyncOrder) {
    self.home = home
    self.side = side
    self.order = order
    let options = order.options
    remote = CountingStore(side.store)
    let now = home.clock.milliseconds()
    let looksEverywhere =
      options.looksEverywhere
      || memory.lastFullLook.map { now < $0 || now - $0 > Self.fullLookInterval } ?? true
    self.looksEverywhere = looksEverywhere
    joinsLogs =
      looksEverywhere
      || memory.lastLogs.map { now < $0 || now - $0 > Self.fullLookInterval } ?? true
    // Of a first sync there is nothing to be compared yet, but in a lazy vault.
    comparesObjects =
      options.looksEverywhere || memory.lastLoss != nil
      || memory.lastComparison.map { now < $0 || now - $0 > Self.comparisonInterval } ?? false
    var report = SyncReport()
    report.isDryRun = options.isDryRun
    state = Guarded(State(report: report, memory: memory))
  }

  var name: RemoteName? { side.name }
  /// What a person types for the remote in a command.
  var nameToType: String { name?.string ?? "NAME" }
  var nearer: (any BlobStore)? { side.nearer }
  var elsewhere: (any ObjectSource)? { side.elsewhere }
  var options: SyncOptions { order.options }
  var progress: @Sendable (WorkProgress) -> Void { order.progress }

  private static let fullLookInterval = CivilTime.dayMilliseconds
  private static let comparisonInterval = 7 * CivilTime.dayMilliseconds
  /// A remote is not put back to an earlier state at once: so long what was put there since may still be lost.
  private static let lossInterval: UInt64 = 3_600_000

  // MARK: What it gathers

  /// The report, with its problems in order.
  var report: SyncReport {
    var report = state.withLock { $0.report }
    report.traffic = remote.traffic
    report.problems.sort { ($0.severity, $1.path) > ($1.severity, $0.path) }
    return report
  }

  var memory: RemoteMemory { state.withLock { $0.memory } }

  func note(_ problem: SyncProblem) {
    state.withLock { state in
      if problem.isLoss, !state.memory.findings.contains(RemoteMemory.Finding(problem)) {
        state.hasMetLoss = true
      }
      guard !state.report.problems.contains(problem) else { return }
      let alike = state.report.problems.count {
        $0.kind == problem.kind && $0.severity == problem.severity
      }
      // Notes leave warnings their room.
      if alike < SyncReport.problemLimit { state.report.problems.append(problem) }
    }
  }

  /// A signed file of the remote does not hold. Of a member that counted here, and that no closing lists, the vault tells.
  func note(_ error: VaultError, thereIn path: VaultPath) {
    if case .damaged(_, .unlisted(countedHere: true)) = error { return }
    note(SyncProblem(error, there: path.string))
  }

  /// The remote has something that is no part of a vault, in `path`, or under a name that no path can have.
  func noteForeign(_ path: BlobPath?, named name: String) {
    let now = Int(clamping: home.clock.milliseconds() / 1000)
    guard let path, TemporaryName.isLeftOver(path.string, at: now) else {
      let isToBeRemoved = path.map { TemporaryName.ages($0.string) } ?? false
      return note(.foreign(path?.string ?? name, isToBeRemoved: isToBeRemoved))
    }
    state.withLock { state in
      if state.leftOver.count < Self.leftOverLimit { state.leftOver.insert(path) }
    }
  }

  /// Whether the remote has shown what interrupted syncs left there long ago, and it was not tended yet.
  var hasLeftOver: Bool { state.withLock { !$0.leftOver.isEmpty } }

  /// So many left-over files are removed in one sync.
  private static let leftOverLimit = 100

  /// Removes from the remote what interrupted syncs of any device left there long ago; or tells of it as of anything else that
  /// is no part of a vault.
  func tendLeftOver(removing removes: Bool) {
    let paths = state.withLock { state in
      defer { state.leftOver = [] }
      return state.leftOver
    }
    for path in paths.sorted(by: { $0.string < $1.string }) {
      do {
        if removes { try remote.remove(path) } else { note(.foreign(path.string)) }
      } catch {
        note(.foreign(path.string))
        // The rest is for the next sync.
        guard error.concernsOneFile else { return }
      }
    }
  }

  func change(_ body: (inout SyncReport) -> Void) { state.withLock { body(&$0.report) } }

  func remember(_ body: (inout RemoteMemory) -> Void) { state.withLock { body(&$0.memory) } }

  /// One file was moved, or would be.
  func tally(_ direction: SyncMove.Direction, _ path: VaultPath, byteCount: UInt64) {
    let moved = state.withLock { state -> UInt64? in
      switch direction {
      case .pull: state.report.pulled.count(path, byteCount: byteCount)
      case .push: state.report.pushed.count(path, byteCount: byteCount)
      }
      if options.isDryRun {
        state.report.moves.append(SyncMove(direction, path, byteCount: byteCount))
      }
      let moved = state.report.pulled.byteCount + state.report.pushed.byteCount
      guard moved - state.toldByteCount >= Self.progressStep else { return nil }
      state.toldByteCount = moved
      return moved
    }
    if let moved { progress(WorkProgress(label: direction.rawValue, done: moved, total: 0)) }
  }

  /// Progress is told every so many bytes.
  private static let progressStep: UInt64 = 4 << 20

  /// The next sync of this remote sees that no object is missing there, however this one ends.
  func compareNextTime() {
    state.withLock { state in
      state.isToBeCompared = true
      state.memory.lastComparison = 0
    }
  }

  var isToBeCompared: Bool { state.withLock { $0.isToBeCompared } }

  /// Remembers that now, for whoever puts a head there: once it stands there nothing else shows that anything is to be compared.
  func keepComparison() throws(SyncError) {
    guard isToBeCompared, !options.isDryRun, let name else { return }
    let file = RemoteStateFile(state: home.state, remote: name)
    var memory = try file.load()
    if memory.lastComparison == 0 { return }
    memory.lastComparison = 0
    try file.store(memory)
  }

  /// The remote has lost something, or has gone back: then what this machine has put there may be gone as well, under heads
  /// that are whole.
  func noteLoss() { state.withLock { $0.hasMetLoss = true } }

  var hasMetLoss: Bool { state.withLock { $0.hasMetLoss } }

  /// Until when objects are compared with every sync.
  ///
  /// - Parameter mayCompare: Whether this one has, where that was due.
  func rememberLoss(at now: UInt64, whereItCompares mayCompare: Bool) {
    let (hasMetLoss, isToBeCompared) = (hasMetLoss, isToBeCompared)
    remember { memory in
      if hasMetLoss {
        memory.lastLoss = now
      } else if mayCompare, comparesObjects, !isToBeCompared, let loss = memory.lastLoss,
        now < loss || now - loss > Self.lossInterval
      {
        memory.lastLoss = nil
      }
    }
  }

  // MARK: Parallel work

  /// Does the same with each item on some threads.
  ///
  /// - Throws: The first error; then no further item is begun.
  func forEach<Item: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) throws(SyncError) -> Void
  ) throws(SyncError) {
    WorkQueue.forEach(items, threadCount: options.threadCount) { item in
      guard self.state.withLock({ $0.firstError == nil }) else { return }
      do throws(SyncError) { try body(item) } catch { self.fail(error) }
    }
    try throwFailure()
  }

  /// Notes, on a thread that cannot throw, what ends the sync; the first one counts.
  func fail(_ error: SyncError) {
    state.withLock { $0.firstError = $0.firstError ?? error }
  }

  /// Throws what a thread has noted, and forgets it: whoever catches it may go on with something else.
  func throwFailure() throws(SyncError) {
    let failure = state.withLock { state in
      defer { state.firstError = nil }
      return state.firstError
    }
    if let failure { throw failure }
  }

  // MARK: Files of the remote

  /// Writes a file to the remote, or in a dry run says so.
  func put(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) {
    if !options.isDryRun {
      try asking(remote.put(BlobPath(path.string), bytes, .always))
      if case .object(let member, _) = path {
        state.withLock { $0.firstObjects[member] = $0.firstObjects[member] ?? path }
      }
    }
    tally(.push, path, byteCount: UInt64(bytes.count))
  }

  /// Whether what this sync put there first of a member's objects is there still, if it put any.
  func hasKeptObjects(of member: MemberID) throws(SyncError) -> Bool {
    guard let path = state.withLock({ $0.firstObjects[member] }) else { return true }
    return try asking(remote.size(of: BlobPath(path.string))) != nil
  }

  /// Writes a signed file to the remote and remembers it as what the remote shows.
  func put(_ path: VaultPath, _ bytes: [UInt8], _ facts: SignedFacts) throws(SyncError) {
    try put(path, bytes)
    guard !options.isDryRun else { return }
    let seen = RemoteMemory.Seen(
      fingerprint: nil, state: RegisterState(counter: facts.counter, hash: facts.hash))
    state.withLock { state in
      state.memory.seen[path] = seen
      state.put.insert(path)
    }
  }

  /// Whether this sync has put the signed file on the remote.
  func wasPut(_ path: VaultPath) -> Bool { state.withLock { $0.put.contains(path) } }

  /// Notes that this sync has put a pack there: it stays, as it holds what heads name by now.
  func notePack(_ path: BlobPath) { state.withLock { _ = $0.packs.insert(path) } }

  func hasPutPack(_ path: BlobPath) -> Bool { state.withLock { $0.packs.contains(path) } }

  /// The remote has a head of this machine's device that another machine has written; both go on from the head with
  /// the counter `above`.
  func noteCopy(_ path: VaultPath, above: UInt64) { state.withLock { $0.copies[path] = above } }

  /// What `noteCopy` was called with since the last call of this.
  func takeCopies() -> [VaultPath: UInt64] {
    state.withLock { state in
      defer { state.copies = [:] }
      return state.copies
    }
  }

  /// Notes that a head on the remote, or something that it names, could not be read just now: the next sync may be given it.
  func noteUnread(_ head: FileHash) {
    state.withLock { state in
      state.unreadHeads.insert(head)
      state.report.hasUnreadHeads = true
    }
  }

  /// Whether this sync could not read the head, or something that it names.
  func isUnread(_ head: FileHash) -> Bool { state.withLock { $0.unreadHeads.contains(head) } }

  func flush() throws(SyncError) {
    if options.isDryRun { return }
    try asking(remote.flush())
  }

  /// A signed file that the remote was seen to list; nil when it cannot be had, which is then noted.
  ///
  /// - Parameter tell: Is told why it cannot be had.
  func readListed(
    _ path: VaultPath, tellingWhy tell: (VaultError) -> Void = { _ in }
  ) throws(SyncError) -> [UInt8]? {
    if let bytes = side.read[path] { return bytes }
    return try readSigned(path, tellingWhy: tell)
  }

  /// A signed file of the remote as it is now; nil when it cannot be had, which is then noted.
  ///
  /// - Parameter tell: Is told why it cannot be had.
  func readSigned(
    _ path: VaultPath, tellingWhy tell: (VaultError) -> Void = { _ in }
  ) throws(SyncError) -> [UInt8]? {
    do {
      return try remote.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      let reason = VaultError(error)
      tell(reason)
      note(SyncProblem(reason, there: path.string))
      return nil
    }
  }
}
