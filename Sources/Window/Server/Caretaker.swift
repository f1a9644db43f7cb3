import Glibc
import Log
import Threads
import Vault

/// Looks every second whether the page may go on, and what is news. On a thread of its own.
struct Caretaker: Sendable {
  /// When a page is over.
  struct Limits: Sendable {
    /// Nobody has wanted anything for so long.
    var idle = Duration.seconds(300)
    /// So long before that it is said.
    var warning = Duration.seconds(60)
    /// The last page was closed, or is being loaded anew.
    var tabless = Duration.seconds(60)
  }

  var limits = Limits()
  let desk: Desk
  let tabs: Tabs
  let log: BackgroundLog
  /// Called once, when the page has locked itself.
  let whenOver: @Sendable () -> Void

  func run() {
    var known = desk.version
    var second = 0
    var wasSoon = false
    while !desk.isLocked {
      sleep(1)
      second += 1
      if shouldEnd {
        desk.refuse()
        tabs.tell(.locked)
        do { try desk.end() } catch { log.failed(.ending, error) }
        break
      }
      if !tabs.isEmpty, second % 2 == 0 { look() }
      let isSoon = desk.lastUse + limits.idle - limits.warning <= .now
      if isSoon, !wasSoon { tabs.tell(.soon) }
      wasSoon = isSoon
      let version = desk.version
      if let version, version != known { tabs.tell(.changed(version)) }
      known = version
      if second % 5 == 0 { tabs.tell(.still) }
    }
    tabs.tell(.locked)
    whenOver()
  }

  private var shouldEnd: Bool {
    let now = ContinuousClock.now
    if desk.lastUse + limits.idle <= now { return true }
    if let since = tabs.emptySince, since + limits.tabless <= now { return true }
    return desk.isOpen && !desk.gate.isUnlocked()
  }

  private func look() {
    do {
      try desk.use { open in
        if let failure = open.lookAround() {
          log.failed(.refresh, failure)
        } else {
          log.succeeded(.refresh)
        }
        try open.vault.audit.flushIfDue()
      }
    } catch { if !(error is Desk.Locked) { log.failed(.audit, error) } }
  }
}
