import BlobStore
import Synchronization
import Vault
import VaultModel

/// One sync of one remote while it runs: what every part of it shares.
final class SyncSession: Sendable {
  private struct State {
    var report = SyncReport()
    var memory: RemoteMemory
    var firstError: SyncError?
  }

  let vault: Vault
  let remote: CountingStore
  /// Ciphertext that a sync while locked has fetched already: looked into before the remote is asked.
  let nearer: (any BlobStore)?
  let options: SyncOptions
  let progress: @Sendable (WorkProgress) -> Void
  private let state: Mutex<State>

  init(
    vault: Vault, remote: any BlobStore, nearer: (any BlobStore)?, memory: RemoteMemory,
    options: SyncOptions, progress: @escaping @Sendable (WorkProgress) -> Void
  ) {
    self.vault = vault
    self.remote = CountingStore(remote)
    self.nearer = nearer
    self.options = options
    self.progress = progress
    var report = SyncReport()
    report.isDryRun = options.isDryRun
    state = Mutex(State(report: report, memory: memory))
  }

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
      guard !state.report.problems.contains(problem) else { return }
      let alike = state.report.problems.count { $0.kind == problem.kind }
      // A hostile store can have any number of them.
      if alike < Self.problemLimit { state.report.problems.append(problem) }
    }
  }

  /// So many problems of one kind are named.
  private static let problemLimit = 50

  func change(_ body: (inout SyncReport) -> Void) { state.withLock { body(&$0.report) } }

  func remember(_ body: (inout RemoteMemory) -> Void) { state.withLock { body(&$0.memory) } }

  /// One file was moved, or would be.
  func tally(_ direction: SyncMove.Direction, _ path: VaultPath, byteCount: UInt64) {
    state.withLock { state in
      switch direction {
      case .pull: state.report.pulled.count(path, byteCount: byteCount)
      case .push: state.report.pushed.count(path, byteCount: byteCount)
      }
      if options.isDryRun {
        state.report.moves.append(SyncMove(direction, path, byteCount: byteCount))
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

  /// What ends the sync.
  func fail(_ error: SyncError) {
    state.withLock { $0.firstError = $0.firstError ?? error }
  }

  func throwFailure() throws(SyncError) {
    if let error = state.withLock({ $0.firstError }) { throw error }
  }

  // MARK: Files of the remote

  /// Writes a file to the remote, or in a dry run says so.
  func put(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) {
    if !options.isDryRun {
      try asking { () throws(BlobStoreError) in
        try remote.put(BlobPath(path.string), bytes, .always)
      }
    }
    tally(.push, path, byteCount: UInt64(bytes.count))
  }

  /// Writes a signed file to the remote and remembers it as what the remote shows.
  func put(_ path: VaultPath, _ bytes: [UInt8], _ facts: SignedFacts) throws(SyncError) {
    try put(path, bytes)
    guard !options.isDryRun else { return }
    remember { memory in
      memory.seen[path] = RemoteMemory.Seen(
        fingerprint: nil, state: RegisterState(counter: facts.counter, hash: facts.hash))
    }
  }

  func flush() throws(SyncError) {
    if options.isDryRun { return }
    try asking { () throws(BlobStoreError) in try remote.flush() }
  }

  /// A signed file of the remote; nil when it cannot be had, which is then noted.
  func readSigned(_ path: VaultPath) throws(SyncError) -> [UInt8]? {
    do throws(BlobStoreError) {
      return try remote.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      note(SyncProblem(VaultError(error), there: path.string))
      return nil
    }
  }
}
