import BlobStore
import Glibc
import RemoteStores
import SystemPackage
import Threads
import Vault
import VaultModel
import VaultSync

/// Keeps an open vault in sync with its remotes while a program runs: at once, after edits, when a remote that is a
/// folder changes, when the network returns, and now and then; oftener while somebody uses the mount.
///
/// A thread for each remote, and one that watches. What a sync brings shows in the mount by itself.
final class SyncService: Sendable {
  /// How long the last sync before an unmount may take.
  static let partingTime = Duration.seconds(10)

  private let vault: Vault
  private let workers: [Worker]
  private let watcher: ChangeWatcher

  /// - Parameter report: Told of every sync that moved something or found something; on any thread.
  init(
    vault: Vault, remotes: [KnownRemote], options: SyncOptions = SyncOptions(),
    report: @escaping @Sendable (SyncOutcome) -> Void = { _ in }
  ) {
    self.vault = vault
    workers = remotes.enumerated().map { position, remote in
      Worker(
        remote, number: position + 1, others: remotes, vault: vault, options: options
      ) { outcome in
        vault.log.note(outcome, remote: position + 1, kind: remote.logKind)
        if outcome.isWorthTelling { report(outcome) }
      }
    }
    watcher = ChangeWatcher(log: vault.log)
  }

  /// Starts the threads.
  ///
  /// - Parameter useCount: A number that changes whenever somebody uses what is synced.
  func start(useCount: @escaping @Sendable () -> UInt64 = { 0 }) {
    let workers = workers
    if let folder = vault.folder {
      watcher.watchHeads(in: folder) { workers.forEach { $0.change { $0.localChanged(at: .now) } } }
    }
    for worker in workers {
      guard case .directory(let folder) = worker.remote.address else { continue }
      watcher.watchHeads(in: folder) { worker.change { $0.remoteChanged(at: .now) } }
    }
    watcher.watchNetwork { workers.forEach { $0.networkIsBack() } }
    watcher.start()
    workers.forEach { $0.start(useCount: useCount) }
  }

  /// Sends what is still here, for as long as `partingTime` allows, and stops the threads.
  func stop() {
    watcher.stop()
    let deadline = ContinuousClock.now + Self.partingTime
    workers.forEach { $0.part() }
    workers.forEach { $0.wait(until: deadline) }
  }
}

/// Syncs one remote on a thread of its own, as its schedule says.
private final class Worker: Sendable {
  private struct State {
    var schedule: SyncSchedule
    var isParting = false
    var isDone = false
  }

  let remote: KnownRemote
  private let others: [KnownRemote]
  private let vault: Vault
  private let options: SyncOptions
  private let report: @Sendable (SyncOutcome) -> Void
  private let state: Guarded<State>
  private let doorbell: DoorbellListener?
  private let wakeUp = WakeUp()
  // A second one: a signal wakes one waiter only.
  private let ended = WakeUp()

  init(
    _ remote: KnownRemote, number: Int, others: [KnownRemote], vault: Vault, options: SyncOptions,
    report: @escaping @Sendable (SyncOutcome) -> Void
  ) {
    self.remote = remote
    self.others = others
    self.vault = vault
    self.options = options
    self.report = report
    let quiet =
      remote.hasDoorbell ? SyncSchedule.localQuietWithDoorbell : SyncSchedule.localQuiet
    state = Guarded(
      State(
        schedule: SyncSchedule(now: .now, interval: remote.pollInterval, localQuiet: quiet)))
    doorbell = remote.hasDoorbell ? DoorbellListener(vault: vault, remote: number) : nil
  }

  func change(_ body: (inout SyncSchedule) -> Void) {
    state.withLock { body(&$0.schedule) }
    wakeUp.signal()
  }

  func networkIsBack() {
    change { $0.retryNow(at: .now) }
    doorbell?.retryNow()
  }

  func start(useCount: @escaping @Sendable () -> UInt64) {
    doorbell?.start(remote) { [self] in change { $0.rang(at: .now) } }
    let isStarted = SystemThread.detach { [self] in
      var glance: RemoteGlance?
      // Also what was used while a sync ran.
      var lastCount: UInt64 = 0
      while let isLast = waitForNext(useCount, &lastCount, &glance) {
        state.withLock { $0.schedule.begin() }
        let outcome = SyncOutcome.syncing(
          remote, vault, SyncOutcome.Order(options: options, showsProgress: false), others: others)
        state.withLock { $0.schedule.end(at: .now, isFailure: outcome.failure != nil) }
        report(outcome)
        doorbell?.update()
        if isLast { break }
      }
      state.withLock { $0.isDone = true }
      ended.signal()
    }
    precondition(isStarted, "no thread can be started")
  }

  /// Waits for the next sync, and glances at the remote meanwhile.
  ///
  /// - Returns: Whether it is the last one.
  private func waitForNext(
    _ useCount: @Sendable () -> UInt64, _ lastCount: inout UInt64, _ glance: inout RemoteGlance?
  ) -> Bool? {
    while true {
      let count = useCount()
      if count != lastCount { state.withLock { $0.schedule.used(at: .now) } }
      lastCount = count
      let now = ContinuousClock.now
      let (task, next, isParting) = state.withLock {
        ($0.schedule.task(at: now), $0.schedule.next, $0.isParting)
      }
      if isParting { return true }
      switch task {
      case .sync: return false
      case .glance, .wideGlance:
        let isWide = task == .wideGlance
        let hasNews = look(&glance, isWide: isWide)
        state.withLock { $0.schedule.glanced(at: .now, hasNews: hasNews, isWide: isWide) }
      case nil: wakeUp.wait(atMost: min(next - now, Self.useStep))
      }
    }
  }

  /// How often it is seen whether somebody uses the mount.
  private static let useStep = Duration.seconds(5)

  /// Whether a sync is worth its cost; it also says what is wrong with a remote that does not answer.
  private func look(_ glance: inout RemoteGlance?, isWide: Bool) -> Bool {
    do {
      var current: RemoteGlance
      if let glance {
        current = glance
      } else {
        current = RemoteGlance(state: vault.state, remote: try remote.open(), name: remote.name)
      }
      defer { glance = current }
      return try current.hasNews(isWide: isWide)
    } catch {
      // The sync that follows says what is wrong.
      return true
    }
  }

  /// Has the thread sync once more and end.
  func part() {
    doorbell?.stop()
    state.withLock { $0.isParting = true }
    wakeUp.signal()
  }

  func wait(until deadline: ContinuousClock.Instant) {
    while !state.withLock({ $0.isDone }) {
      let now = ContinuousClock.now
      guard now < deadline else { return }
      ended.wait(atMost: deadline - now)
    }
  }
}

extension KnownRemote {
  /// How often a remote that cannot tell is looked at: one small request for each member.
  var pollInterval: Duration {
    if case .directory = address { .seconds(60) } else { .seconds(300) }
  }
}

extension SyncOutcome {
  /// Something moved, or a person should know something.
  var isWorthTelling: Bool { pulledFiles + pushedFiles > 0 || failure != nil || needsAttention }
}
