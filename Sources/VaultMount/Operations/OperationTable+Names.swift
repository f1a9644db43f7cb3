import CFuse
import Glibc
import VaultFiles
import VaultModel

/// Finding, making, moving and removing names.
extension OperationTable {
  static func addNames(to table: inout fuse_lowlevel_ops) {
    table.lookup = { request, parent, name in
      answer(request) { (request, service) throws(FileError) in
        let name = try Self.fileName(name)
        do throws(FileError) {
          replyEntry(request, service, try service.tree.lookup(parent, name))
        } catch {
          guard error == .notFound else { throw error }
          replyAbsent(request, service)
        }
      }
    }
    table.forget = { request, inode, count in
      guard let request else { return }
      Self.service(of: request)?.tree.forget(inode, count)
      fuse_reply_none(request)
    }
    table.forget_multi = { request, count, forgets in
      guard let request else { return }
      let tree = Self.service(of: request)?.tree
      for forget in UnsafeBufferPointer(start: forgets, count: forgets == nil ? 0 : count) {
        tree?.forget(forget.ino, forget.nlookup)
      }
      fuse_reply_none(request)
    }
    addMaking(to: &table)
    addMoving(to: &table)
  }

  private static func addMaking(to table: inout fuse_lowlevel_ops) {
    table.mkdir = { request, parent, name, mode in
      answer(request) { (request, service) throws(FileError) in
        let made = try service.tree.makeDirectory(
          parent, Self.fileName(name), mode: mode, caller: Self.caller(request))
        replyEntry(request, service, made)
      }
    }
    table.mknod = { request, parent, name, mode, _ in
      answer(request) { (request, service) throws(FileError) in
        let made = try service.tree.makeNode(
          parent, Self.fileName(name), mode: mode, caller: Self.caller(request))
        replyEntry(request, service, made)
      }
    }
    table.symlink = { request, target, parent, name in
      answer(request) { (request, service) throws(FileError) in
        let made = try service.tree.symlink(
          parent, Self.fileName(name), target: Array(Self.bytes(target)),
          caller: Self.caller(request))
        replyEntry(request, service, made)
      }
    }
    table.link = { request, inode, parent, name in
      answer(request) { (request, service) throws(FileError) in
        replyEntry(request, service, try service.tree.link(inode, to: parent, Self.fileName(name)))
      }
    }
  }

  private static func addMoving(to table: inout fuse_lowlevel_ops) {
    table.unlink = { request, parent, name in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.unlink(parent, Self.fileName(name))
        fuse_reply_err(request, 0)
      }
    }
    table.rmdir = { request, parent, name in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.removeDirectory(parent, Self.fileName(name))
        fuse_reply_err(request, 0)
      }
    }
    table.rename = { request, parent, name, newParent, newName, flags in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.rename(
          parent, Self.fileName(name), to: newParent, Self.fileName(newName),
          mode: Self.renameMode(flags))
        fuse_reply_err(request, 0)
      }
    }
    table.readlink = { request, inode in
      answer(request) { (request, service) throws(FileError) in
        let target = try service.tree.readLink(inode)
        ReplyScratch.with(byteCount: target.count + 1) { memory in
          memory.copyBytes(from: target)
          memory[target.count] = 0
          fuse_reply_readlink(request, memory.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
      }
    }
  }

  /// The flags of renameat2(2), which the header hides without `_GNU_SOURCE`.
  static func renameMode(_ flags: UInt32) throws(FileError) -> RenameMode {
    switch flags {
    case 0: .replace
    case 1: .noReplace
    case 2: .exchange
    default: throw .invalidArgument
    }
  }

  /// A name of the kernel as raw bytes; it need not be UTF-8.
  static func fileName(_ name: UnsafePointer<CChar>?) throws(FileError) -> FileName {
    try FileTree.name(Self.bytes(name))
  }

  static func bytes(_ text: UnsafePointer<CChar>?) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text, count: text.map { strlen($0) } ?? 0)
  }

  static func caller(_ request: fuse_req_t) -> Caller? {
    fuse_req_ctx(request).map { Caller(uid: $0.pointee.uid, gid: $0.pointee.gid) }
  }

  private static func service(of request: fuse_req_t) -> Service? {
    fuse_req_userdata(request).map { Unmanaged<Service>.fromOpaque($0).takeUnretainedValue() }
  }
}
