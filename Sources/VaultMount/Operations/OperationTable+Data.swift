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
        let read = ReadFromAfar(
          request: request, handle: handle, offset: start, byteCount: byteCount)
        service.onAnotherThread { read.answer() }
      }
    }
    table.write = { request, inode, content, byteCount, offset, info in
      answer(request) { (request, service) throws(FileError) in
        let handle = try fileHandle(info)
        let isDirect =
          info.map { $0.pointee.writepage == 0 && DirectWrites.passCache(flags: $0.pointee.flags) }
          ?? false
        if !isDirect { handle.noteCached() }
        let write = WriteRequest(
          request: request, service: service, inode: inode, handle: handle, offset: offset,
          byteCount: byteCount, kind: info.map { Self.kind(of: $0.pointee) } ?? .atOffset,
          directFlags: isDirect ? info?.pointee.flags : nil)
        // Straight from the buffer that the request was read into; it is valid until this returns.
        try write.run(UnsafeRawBufferPointer(start: content, count: byteCount))
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
}
