import CFuse
import Threads
import VaultFiles

/// A close or a sync that needs what a lazy vault keeps elsewhere, answered on a thread of its own, as such a read is.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
struct SyncFromAfar: @unchecked Sendable {
  private let request: fuse_req_t
  private let sync: @Sendable (_ waits: Bool) throws(FileError) -> Void
  /// It is there for as long as somebody has to answer.
  private let session: FuseSession?

  /// Runs `sync` without waiting for a remote, and again with that on another thread where it is `away`; replies in the end.
  static func answer(
    _ request: fuse_req_t, _ service: Service,
    _ sync: @escaping @Sendable (_ waits: Bool) throws(FileError) -> Void
  ) throws(FileError) {
    do { try sync(false) } catch {
      guard error == .away else { throw error }
      let afar = SyncFromAfar(request: request, sync: sync, session: service.pageCache.session)
      if !SystemThread.detach({ afar.run() }) { afar.run() }
      return
    }
    fuse_reply_err(request, 0)
  }

  private func run() {
    var status: Int32 = 0
    do throws(FileError) { try sync(true) } catch { status = error.errno }
    fuse_reply_err(request, status)
    withExtendedLifetime(session) {}
  }
}
