import CFuse
import Dispatch
import Glibc
import Threads
import VaultFiles

/// What the kernel keeps of files' content, where we have to tell it to forget.
///
/// Before a write goes past its cache the kernel drops the range. A read that comes in between puts the old bytes back,
/// and after a write that did not wait for its end nothing drops them again: so that is done here, before the program
/// hears that its write is done.
final class PageCache: Sendable {
  private struct Mounted: Sendable {
    weak var session: FuseSession?
  }

  private let mounted = Guarded(Mounted())
  // Its own, and not the threads that serve requests: dropping a page waits for the read that fills it, which they answer.
  private let queue = DispatchQueue(label: "kinvault.page-cache")

  /// To be called once, before the first request.
  func attach(_ session: FuseSession) { mounted.withLock { $0.session = session } }

  /// Nil once it is gone.
  var session: FuseSession? { mounted.withLock { $0.session } }

  /// Drops a range of a file, then calls `done`, on another thread.
  func drop(_ inode: Inode, _ range: Range<off_t>, then done: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      // Gone with the mount, and with it what was cached.
      if let session {
        // The kernel answers with an error when it knows nothing of the inode, which is as good.
        fuse_lowlevel_notify_inval_inode(
          session.session, inode, range.lowerBound, off_t(range.count))
      }
      done()
    }
  }
}
