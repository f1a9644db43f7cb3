import CFuse
import Glibc
import VaultFiles

/// Extended attributes. A size of 0 asks how large the answer is.
extension OperationTable {
  static func addXattrs(to table: inout fuse_lowlevel_ops) {
    table.getxattr = { request, inode, name, room in
      answer(request) { (request, service) throws(FileError) in
        try Self.reply(request, service.tree.xattr(inode, Array(Self.bytes(name))), room: room)
      }
    }
    table.listxattr = { request, inode, room in
      answer(request) { (request, service) throws(FileError) in
        let names = try service.tree.xattrNames(inode)
        try Self.reply(request, names.flatMap { $0 + [0] }, room: room)
      }
    }
    table.setxattr = { request, inode, name, value, byteCount, flags in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.setXattr(
          inode, Array(Self.bytes(name)),
          Array(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : byteCount)),
          mode: Self.xattrMode(flags))
        fuse_reply_err(request, 0)
      }
    }
    table.removexattr = { request, inode, name in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.removeXattr(inode, Array(Self.bytes(name)))
        fuse_reply_err(request, 0)
      }
    }
  }

  private static func reply(
    _ request: fuse_req_t, _ value: [UInt8], room: Int
  ) throws(FileError) {
    if room == 0 {
      fuse_reply_xattr(request, value.count)
      return
    }
    guard value.count <= room else { throw .rangeExceeded }
    _ = value.withUnsafeBytes {
      fuse_reply_buf(request, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
  }

  /// The flags of setxattr(2).
  static func xattrMode(_ flags: Int32) throws(FileError) -> XattrMode {
    switch flags {
    case 0: .createOrReplace
    case 1: .create
    case 2: .replace
    default: throw .invalidArgument
    }
  }
}
