import Glibc
import Log
import Threads
import Vault
import VaultErrors

/// What takes longer than anybody waits for a page: one at a time, on a thread of its own. Safe to use from any thread.
final class Work: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// With all remotes.
    case sync
    case check
    /// Taking access away.
    case unshare
  }

  enum Outcome: Sendable {
    case done
    case checked(CheckReport)
    /// Files that could not be encrypted anew, which stay as they were.
    case leftBehind([Problem])
    /// What a person should look at: a sync that did not go through, or not as usual.
    case attention([RemoteProblem])
    case failed(any Error)

    /// What the log says of it; nil where there is nothing to say. What is wrong with a remote is kept with the remote.
    var failure: ErrorKind? {
      switch self {
      case .failed(let error): ErrorKind(error)
      case .leftBehind(let problems): problems.isEmpty ? nil : "leftBehind"
      case .checked(let report): report.hasDamage ? "damaged" : nil
      case .done, .attention: nil
      }
    }
  }

  struct Report: Sendable {
    let kind: Kind
    /// The first is 1: what is told of an earlier one is not taken for it.
    let number: Int
    var progress: WorkProgress?
    /// Nil while it is under way.
    var outcome: Outcome?

    /// As pages are told: the number, and while it is under way how much is done of how much.
    var news: String {
      guard outcome == nil else { return "\(number)" }
      return "\(number) \(progress?.done ?? 0) \(progress?.total ?? 0)"
    }
  }

  typealias Progress = @Sendable (WorkProgress) -> Void

  private struct State {
    var report: Report?
    var lastTold = ContinuousClock.now
  }

  /// How often pages are told how far it is.
  private static let step = Duration.milliseconds(300)

  private let desk: Desk
  private let tabs: Tabs
  private let log: BackgroundLog
  private let state = Guarded(State())

  init(desk: Desk, tabs: Tabs, log: BackgroundLog) {
    (self.desk, self.tabs, self.log) = (desk, tabs, log)
  }

  /// What is under way, or was last; nil before there was any.
  var report: Report? { state.withLock { $0.report } }

  /// Begins something, unless something else is under way.
  ///
  /// - Returns: Whether it was begun.
  func begin(
    _ kind: Kind, _ body: @escaping @Sendable (OpenVault, @escaping Progress) throws -> Outcome
  ) -> Bool {
    let isFree = state.withLock { state in
      if let report = state.report, report.outcome == nil { return false }
      state.report = Report(kind: kind, number: (state.report?.number ?? 0) + 1)
      return true
    }
    guard isFree else { return false }
    let isStarted = SystemThread.detach { [self] in
      do {
        try desk.use { open in
          let outcome = try body(open) { [self] in note($0) }
          open.noteChange()
          end(kind, with: outcome)
        }
      } catch { end(kind, with: .failed(error)) }
    }
    if !isStarted { end(kind, with: .failed(VaultError.io(path: "kinvault", errno: EAGAIN))) }
    return true
  }

  private func note(_ progress: WorkProgress) {
    let news: String? = state.withLock { state in
      state.report?.progress = progress
      guard state.lastTold + Self.step <= .now else { return nil }
      state.lastTold = .now
      return state.report?.news
    }
    if let news { tabs.tell(.work(news)) }
  }

  private func end(_ kind: Kind, with outcome: Outcome) {
    // Who began it may have locked the page meanwhile, and then it says nothing more.
    if let failure = outcome.failure {
      log.failed(.page, kind: failure, ["work": LogValue(LogWord(kind))])
    } else {
      log.succeeded(.page)
    }
    let news = state.withLock { state in
      state.report?.outcome = outcome
      return state.report?.news
    }
    if let news { tabs.tell(.work(news)) }
  }
}
