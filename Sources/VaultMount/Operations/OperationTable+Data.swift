import CFuse
import Glibc
import VaultFiles

/// The content of files: the two requests that everything else waits for.
extension OperationTable {
  static func addData(to table: inout fuse_lowlevel_ops) {
    table.read = { request, _, byteCount, offset, info in
      answer(request) { (request, _) throws(FileError) in
        let handle = try fileHandle(info)
        // Decrypted straight into the thread's memory; one copy into the kernel, which splice would not save.
        try ReplyScratch.with(byteCount: byteCount) { (memory) throws(FileError) in
          let count = try handle.read(at: UInt64(clamping: offset), into: memory)
          fuse_reply_buf(request, memory.baseAddress?.assumingMemoryBound(to: CChar.self), count)
        }
      }
    }
    table.write = { request, _, content, byteCount, offset, info in
      answer(request) { (request, _) throws(FileError) in
        // Straight from the buffer that the request was read into; it is valid until the reply.
        try fileHandle(info).write(
          at: UInt64(clamping: offset), UnsafeRawBufferPointer(start: content, count: byteCount),
          by: Self.caller(request))
        fuse_reply_write(request, byteCount)
      }
    }
  }
}
