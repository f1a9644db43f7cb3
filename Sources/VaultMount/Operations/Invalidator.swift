import CFuse
import Dispatch
import Glibc
import Log
import Synchronization
import VaultFiles
import VaultModel

/// Tells the kernel to drop what it cached, on queues of its own.
///
/// Never from within a request: the kernel may wait for a request's reply before it lets an entry or a page go.
final class Invalidator: Sendable {
  private let session: FuseSession
  private let log: BackgroundLog
  private let inodes = DispatchQueue(label: "kinvault.invalidator")
  // Its own: to drop a name the kernel waits for whoever looks into the folder, which may have to be fetched from afar. Who reads
  // another file meanwhile would see what was there before, and write over what others have made of it.
  private let names = DispatchQueue(label: "kinvault.invalidator.names")
  // Its own: what is to be dropped does not wait for what is written.
  private let writeBacks = DispatchQueue(label: "kinvault.write-back")
  private let isClosed = Atomic<Bool>(false)

  init(session: FuseSession, log: BackgroundLog) {
    self.session = session
    self.log = log
  }

  /// Returns at once. What comes after `close` is dropped.
  ///
  /// An inode of which the kernel knows nothing may be in an answer that is under way, as it was before: the kernel would keep
  /// the old size for a day, and show the file cut to it. So it is told once more when that answer has come. A name needs no
  /// such thing: for that the kernel waits until nobody looks into the folder.
  func add(_ invalidation: Invalidation) {
    let queue = if case .entry = invalidation { names } else { inodes }
    queue.async { [self] in
      guard !isClosed.load(ordering: .acquiring), !tell(invalidation) else { return }
      queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
        guard let self, !isClosed.load(ordering: .acquiring) else { return }
        tell(invalidation)
      }
    }
  }

  /// Calls `body`, on a queue of its own, with what has the kernel write what programs have changed in mappings of a file, and
  /// drop what it has of the content. Returns at once. After `close` nothing comes of it.
  ///
  /// Dropping does both: the kernel sends each page that was changed as a write, and waits for the answer. It also waits for
  /// the reads under way that fill a page.
  func writeBack(_ inode: Inode, _ body: @escaping @Sendable (_ write: () -> Void) -> Void) {
    writeBacks.async { [self] in
      guard !isClosed.load(ordering: .acquiring) else { return }
      body { tell(.content(inode)) }
    }
  }

  /// Drops what has not been told yet. What is under way may still wait for the kernel.
  func close() { isClosed.store(true, ordering: .releasing) }

  /// Drops what has not been told yet, and returns when nothing is under way. For that the kernel may need requests answered:
  /// to be called while they are.
  func finish() {
    close()
    writeBacks.sync {}
    names.sync {}
    inodes.sync {}
  }

  /// The kernel answers `ENOENT` when it knows nothing of the inode or name, which is as good.
  ///
  /// - Returns: False if it knew nothing of the inode.
  @discardableResult
  private func tell(_ invalidation: Invalidation) -> Bool {
    let status =
      switch invalidation {
      case .entry(let parent, let name):
        name.bytes.withUnsafeBytes {
          fuse_lowlevel_notify_inval_entry(
            session.session, parent, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
      case .content(let inode): fuse_lowlevel_notify_inval_inode(session.session, inode, 0, 0)
      case .attributes(let inode): fuse_lowlevel_notify_inval_inode(session.session, inode, -1, 0)
      }
    if status == 0 || status == -ENOENT {
      log.succeeded(.invalidation)
    } else if !session.hasExited, !isClosed.load(ordering: .acquiring) {
      // Of a mount that is gone nothing is known either.
      log.failed(.invalidation, kind: ErrorKind("kernel", number: -status))
    }
    if case .entry = invalidation { return true }
    return status != -ENOENT
  }
}
