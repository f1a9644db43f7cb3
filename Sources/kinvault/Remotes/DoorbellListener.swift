import BlobStore
import Glibc
import Log
import RemoteStores
import Threads
import Vault

/// Listens to the doorbell of a remote, on a thread of its own, and says when it rings. Docs/Sync.md, "Doorbell".
///
/// A doorbell that is dead or lies costs nothing but what it was there for: the remote is looked at now and then all the
/// same.
final class DoorbellListener: Sendable {
  private struct State {
    var current: (topics: [String], listening: HTTPListening)?
    var isStopping = false
  }

  private let vault: Vault
  private let number: Int
  private let state = Guarded(State())
  private let wakeUp = WakeUp()

  private static let firstRetry = Duration.seconds(2)
  private static let longestRetry = Duration.seconds(300)

  /// - Parameter number: Which of the remotes it belongs to, for the log.
  init(vault: Vault, remote number: Int) {
    (self.vault, self.number) = (vault, number)
  }

  /// - Parameter onRing: Called on any thread when it rings, or may have rung unheard.
  func start(_ remote: KnownRemote, onRing: @escaping @Sendable () -> Void) {
    do {
      guard let doorbell = try remote.doorbell() else {
        return vault.log.failed(.doorbell, kind: "address", of: identity)
      }
      let isStarted = SystemThread.detach { [self] in loop(doorbell, onRing) }
      if !isStarted { vault.log.failed(.doorbell, kind: "thread", of: identity) }
    } catch {
      vault.log.failed(.doorbell, error, of: identity)
    }
  }

  /// Keys or members may have changed: then it is listened to under other topics.
  func update() {
    guard let current = state.withLock({ $0.current }) else { return wakeUp.signal() }
    if current.topics != vault.doorbellTopics { current.listening.cancel() }
  }

  /// The network is there again: what was listened to over the former one is heard no more.
  func retryNow() {
    state.withLock { $0.current }?.listening.cancel()
    wakeUp.signal()
  }

  func stop() {
    let current = state.withLock { state in
      state.isStopping = true
      return state.current
    }
    current?.listening.cancel()
    wakeUp.signal()
  }

  private var identity: LogIdentity { LogIdentity(remote: number) }

  private func loop(_ doorbell: Doorbell, _ onRing: @escaping @Sendable () -> Void) {
    var wait = Self.firstRetry
    while !state.withLock({ $0.isStopping }) {
      let topics = vault.doorbellTopics
      guard !topics.isEmpty else {
        wakeUp.wait(atMost: Self.longestRetry)
        continue
      }
      let begin = ContinuousClock.now
      let listening = doorbell.listen(to: topics) { [self] sound in
        if case .begins = sound { vault.log.succeeded(.doorbell, of: identity) }
        onRing()
      }
      let isStopping = state.withLock { state in
        state.current = (topics, listening)
        return state.isStopping
      }
      if isStopping { listening.cancel() }
      do { try listening.wait() } catch {
        vault.log.failed(.doorbell, error, of: identity)
      }
      state.withLock { $0.current = nil }
      // One that held for a while begins anew at once; a server that hangs up again and again does not.
      wait = ContinuousClock.now - begin > .seconds(30) ? Self.firstRetry : wait
      if topics == vault.doorbellTopics, !state.withLock({ $0.isStopping }) {
        wakeUp.wait(atMost: wait)
        wait = min(wait * 2, Self.longestRetry)
      }
    }
  }
}
