import CFuse
import Glibc
import VaultFiles

/// The content of files: the two requests that everything else waits for.
extension OperationTable {
  static func addData(to table: inout fuse_lowlevel_ops) {
    table.read = { request, _, byteCount, offset, info in
      answer(request) { (request, service) throws(FileError) in
        let handle = try fileHandle(info)
        handle.noteCached()
        let start = UInt64(clamping: offset)
        // Decrypted straight into the thread's memory; one copy into the kernel, which splice would not save.
        let isHere = try ReplyScratch.with(byteCount: byteCount) {
          (memory) throws(FileError) -> Bool in
          guard let count = try handle.readIfHere(at: start, into: memory) else { return false }
          fuse_reply_buf(request, memory.baseAddress?.assumingMemoryBound(to: CChar.self), count)
          return true
        }
        if isHere { return }
        ReadFromAfar(
          request: request, handle: handle, offset: start, byteCount: byteCount,
          session: service.pageCache.session
        ).begin()
      }
    }
    table.write = { request, inode, content, byteCount, offset, info in
      answer(request) { (request, service) throws(FileError) in
        let handle = try fileHandle(info)
        let isDirect =
          info.map { $0.pointee.writepage == 0 && DirectWrites.passCache(flags: $0.pointee.flags) }
          ?? false
        if !isDirect { handle.noteCached() }
        // Straight from the buffer that the request was read into; it is valid until the reply.
        try handle.write(
          at: UInt64(clamping: offset), UnsafeRawBufferPointer(start: content, count: byteCount),
          as: info.map { Self.kind(of: $0.pointee) } ?? .atOffset, by: Self.caller(request))
        guard isDirect, let info else {
          fuse_reply_write(request, byteCount)
          return
        }
        let failure = Self.syncIfAsked(handle, flags: info.pointee.flags)
        let reply = WriteReply(request: request, byteCount: byteCount, failure: failure)
        guard handle.mayBeCached else { return reply.send() }
        service.pageCache.drop(inode, offset..<offset + off_t(byteCount)) { reply.send() }
      }
    }
  }

  /// An append goes to the end of the file, whatever offset came with it. The kernel computes that of the size that it was told
  /// last, and does not ask for another one before a write: what others have added since would be written over.
  ///
  /// It may write back a shared mapping through any handle of the file, also through one that appends: that goes where it belongs.
  static func kind(of write: fuse_file_info) -> WriteKind {
    if write.writepage != 0 { return .ofMapping }
    return write.flags & O_APPEND != 0 ? .atEnd : .atOffset
  }

  /// The kernel follows a write into its cache by an fsync where the program asked for that by `O_SYNC`, `O_DSYNC` or
  /// a flag of the write; of one past its cache it only says so.
  private static func syncIfAsked(_ handle: FileHandle, flags: Int32) -> FileError? {
    guard flags & O_DSYNC != 0 else { return nil }  // O_SYNC has the bit of O_DSYNC
    do { try handle.sync() } catch { return error }
    return nil
  }
}

/// The answer to a write, to be sent from any thread.
///
/// `@unchecked Sendable`: libfuse's request is one thread's at a time, and this is its only user.
private struct WriteReply: @unchecked Sendable {
  let request: fuse_req_t
  let byteCount: Int
  let failure: FileError?

  func send() {
    if let failure {
      fuse_reply_err(request, failure.errno)
    } else {
      fuse_reply_write(request, byteCount)
    }
  }
}
