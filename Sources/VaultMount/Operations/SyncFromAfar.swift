import CFuse
import VaultFiles

/// A close or a sync that needs what a lazy vault keeps elsewhere, answered on a thread of its own, as such a read is.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
struct SyncFromAfar: @unchecked Sendable {
  let request: fuse_req_t
  let sync: @Sendable () throws(FileError) -> Void

  func answer() {
    var status: Int32 = 0
    do throws(FileError) { try sync() } catch { status = error.errno }
    fuse_reply_err(request, status)
  }
}
