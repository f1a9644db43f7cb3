import CFuse
import VaultFiles

/// A change of a file that needs what a lazy vault keeps elsewhere, made and answered on a thread of its own, as such a write is.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
struct ChangeFromAfar: @unchecked Sendable {
  let request: fuse_req_t
  /// Makes it and replies; where it throws it has not replied.
  let change: @Sendable (fuse_req_t) throws(FileError) -> Void

  func answer() {
    do throws(FileError) { try change(request) } catch { fuse_reply_err(request, error.errno) }
  }
}
