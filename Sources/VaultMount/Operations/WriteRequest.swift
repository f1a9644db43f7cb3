import CFuse
import Glibc
import VaultFiles

/// A write. Where it needs what a lazy vault keeps elsewhere it is done on a thread of its own, as such a read is.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
struct WriteRequest: @unchecked Sendable {
  let request: fuse_req_t
  let service: Service
  let inode: Inode
  let handle: FileHandle
  let offset: off_t
  let byteCount: Int
  let kind: WriteKind
  /// Of the open file, where the write goes past the kernel's cache; else nil.
  let directFlags: Int32?

  private var start: UInt64 { UInt64(clamping: offset) }
  private var caller: Caller? { OperationTable.caller(request) }

  /// Writes and replies, now or later.
  ///
  /// - Parameter bytes: Valid until this returns.
  /// - Throws: What keeps it from being written; then nobody has replied.
  func run(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    if try handle.writeIfHere(at: start, bytes, as: kind, by: caller) { return syncAndReply() }
    let copy = Array(bytes)
    service.changeOnAnotherThread {
      do throws(FileError) { try write(copy) } catch { return send(error) }
      syncAndReply()
    }
  }

  private func write(_ copy: [UInt8]) throws(FileError) {
    let result: Result<Void, FileError> = copy.withUnsafeBytes { bytes in
      do throws(FileError) {
        return .success(try handle.write(at: start, bytes, as: kind, by: caller))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// The kernel follows a write into its cache by an fsync where the program asked for that by `O_SYNC`, `O_DSYNC` or
  /// a flag of the write; of one past its cache it only says so.
  private func syncAndReply() {
    // O_SYNC has the bit of O_DSYNC.
    guard let directFlags, directFlags & O_DSYNC != 0 else { return reply(nil) }
    do throws(FileError) {
      if try handle.syncIfHere() { return reply(nil) }
    } catch {
      return reply(error)
    }
    service.changeOnAnotherThread {
      do throws(FileError) {
        try handle.sync()
        reply(nil)
      } catch {
        reply(error)
      }
    }
  }

  /// The answer to what was written, whether or not it could be synced.
  private func reply(_ failure: FileError?) {
    guard directFlags != nil, handle.mayBeCached else { return send(failure) }
    service.pageCache.drop(inode, offset..<offset + off_t(byteCount)) { send(failure) }
  }

  private func send(_ failure: FileError?) {
    if let failure {
      fuse_reply_err(request, failure.errno)
    } else {
      fuse_reply_write(request, byteCount)
    }
  }
}
