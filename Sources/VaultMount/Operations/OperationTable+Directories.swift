import CFuse
import Glibc
import VaultFiles

/// Opening, listing and closing directories.
extension OperationTable {
  static func addDirectories(to table: inout fuse_lowlevel_ops) {
    addDirectoryHandles(to: &table)
    addListing(to: &table)
  }

  private static func addDirectoryHandles(to table: inout fuse_lowlevel_ops) {
    table.opendir = { request, inode, info in
      answer(request) { (request, service) throws(FileError) in
        guard let info else { throw .invalidArgument }
        info.pointee.fh = HandleNumber.retaining(try service.tree.openDirectory(inode))
        service.activity.noteOpened()
        if fuse_reply_open(request, info) != 0 { Self.releaseDirectory(info, service) }
      }
    }
    table.fsyncdir = { request, inode, _, _ in
      answer(request) { (request, service) throws(FileError) in
        let tree = service.tree
        try service.answer(request) { () throws(FileError) in
          try tree.syncDirectoryIfHere(inode)
        } orFromAfar: { () throws(FileError) in
          try tree.syncDirectory(inode)
        }
      }
    }
    table.releasedir = { request, _, info in
      answer(request) { (request, service) throws(FileError) in
        if let info { Self.releaseDirectory(info, service) }
        fuse_reply_err(request, 0)
      }
    }
  }

  private static func addListing(to table: inout fuse_lowlevel_ops) {
    table.readdir = { request, _, byteCount, cookie, info in
      answer(request) { (request, _) throws(FileError) in
        let directory = try HandleNumber.object(info, as: DirectoryHandle.self)
        try Self.replyListing(request, byteCount) { (listing) throws(FileError) in
          try directory.read(from: UInt64(bitPattern: Int64(cookie))) { listing.add($0) }
        }
      }
    }
    table.readdirplus = { request, _, byteCount, cookie, info in
      answer(request) { (request, service) throws(FileError) in
        let directory = try HandleNumber.object(info, as: DirectoryHandle.self)
        try Self.replyListing(request, byteCount) { (listing) throws(FileError) in
          try directory.readWithAttributes(from: UInt64(bitPattern: Int64(cookie))) {
            listing.add($0, $1, timeout: service.timeout)
          }
        }
      }
    }
  }

  private static func releaseDirectory(
    _ info: UnsafeMutablePointer<fuse_file_info>, _ service: Service
  ) {
    guard let handle = HandleNumber.releasing(info.pointee.fh, as: DirectoryHandle.self) else {
      return
    }
    handle.release()
    service.activity.noteReleased()
  }

  private static func replyListing(
    _ request: fuse_req_t, _ byteCount: Int,
    _ fill: (inout DirectoryListing) throws(FileError) -> Void
  ) throws(FileError) {
    try ReplyScratch.with(byteCount: byteCount + DirectoryListing.nameRoom) {
      (memory) throws(FileError) in
      var listing = DirectoryListing(request: request, memory: memory)
      try fill(&listing)
      fuse_reply_buf(
        request, memory.baseAddress?.assumingMemoryBound(to: CChar.self), listing.byteCount)
    }
  }
}
