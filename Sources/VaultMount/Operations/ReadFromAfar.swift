import CFuse
import VaultFiles

/// A read of what a lazy vault keeps elsewhere, answered on a thread of its own. A remote may say nothing for half a minute,
/// and the threads that take requests are few: everything else would wait with it, an fsync of another file too.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
struct ReadFromAfar: @unchecked Sendable {
  let request: fuse_req_t
  let handle: FileHandle
  let offset: UInt64
  let byteCount: Int

  func answer() {
    do throws(FileError) {
      try ReplyScratch.with(byteCount: byteCount) { (memory) throws(FileError) in
        let count = try handle.readFromAfar(at: offset, into: memory)
        fuse_reply_buf(request, memory.baseAddress?.assumingMemoryBound(to: CChar.self), count)
      }
    } catch {
      fuse_reply_err(request, error.errno)
    }
  }
}
