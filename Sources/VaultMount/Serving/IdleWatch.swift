import Threads

/// Ends a mount that nobody uses. What cannot be saved shows nowhere else, so a mount that has such stays, as where somebody
/// unmounts it.
enum IdleWatch {
  /// Looks every second or oftener, on a thread of its own, until the mount has ended.
  static func start(for mount: Mount, timeout: Duration) {
    let isStarted = SystemThread.detach { run(mount, timeout: timeout) }
    precondition(isStarted, "no thread can be started")
  }

  private static func run(_ mount: Mount, timeout: Duration) {
    let clock = ContinuousClock()
    let activity = mount.service.activity
    var lastCount = activity.requestCount
    var lastUse = clock.now
    while !mount.session.hasExited {
      SystemThread.pause(for: .milliseconds(250))
      let count = activity.requestCount
      if count != lastCount || activity.hasOpenHandles {
        (lastCount, lastUse) = (count, clock.now)
      } else if clock.now - lastUse >= timeout {
        if !isSaved(mount) {
          lastUse = clock.now
        } else if mount.requestEndIfUnused(.idle) {
          return
        }
      }
    }
  }

  private static func isSaved(_ mount: Mount) -> Bool {
    do { try mount.service.tree.commitNow() } catch {
      // The commit has logged it, and `status` says what it is.
      return false
    }
    return true
  }
}
