import CFuse
import Glibc
import VaultFiles

/// Opening and closing files.
extension OperationTable {
  static func addHandles(to table: inout fuse_lowlevel_ops) {
    addOpening(to: &table)
    addClosing(to: &table)
  }

  private static func addOpening(to table: inout fuse_lowlevel_ops) {
    table.create = { request, parent, name, mode, info in
      answer(request) { (request, service) throws(FileError) in
        guard let info else { throw .invalidArgument }
        let (attributes, handle) = try service.tree.create(
          parent, Self.fileName(name), mode: mode, flags: Self.openFlags(info.pointee.flags),
          caller: Self.caller(request))
        Self.prepare(info, for: handle, service)
        var entry = fuse_entry_param(attributes, timeout: service.timeout)
        if fuse_reply_create(request, &entry, info) != 0 {
          Self.releaseFile(info, service)
          service.tree.forget(attributes.inode, 1)
        }
      }
    }
    table.open = { request, inode, info in
      answer(request) { (request, service) throws(FileError) in
        guard let info else { throw .invalidArgument }
        let handle = try service.tree.open(
          inode, Self.openFlags(info.pointee.flags), by: Self.caller(request))
        Self.prepare(info, for: handle, service)
        if fuse_reply_open(request, info) != 0 { Self.releaseFile(info, service) }
      }
    }
  }

  /// A descriptor is closed, what was written is to be on disk, and the last descriptor of a handle is gone.
  private static func addClosing(to table: inout fuse_lowlevel_ops) {
    table.flush = { request, _, info in
      answer(request) { (request, service) throws(FileError) in
        let handle = try fileHandle(info)
        try service.answer(request) { () throws(FileError) in
          try handle.flushIfHere()
        } orFromAfar: { () throws(FileError) in
          try handle.flush()
        }
      }
    }
    table.fsync = { request, _, _, info in
      answer(request) { (request, service) throws(FileError) in
        let handle = try fileHandle(info)
        try service.answer(request) { () throws(FileError) in
          try handle.syncIfHere()
        } orFromAfar: { () throws(FileError) in
          try handle.sync()
        }
      }
    }
    table.release = { request, _, info in
      answer(request) { (request, service) throws(FileError) in
        guard let info,
          let handle = HandleNumber.releasing(info.pointee.fh, as: FileHandle.self)
        else {
          fuse_reply_err(request, 0)
          return
        }
        if handle.releaseIfHere() {
          service.activity.noteReleased()
          fuse_reply_err(request, 0)
          return
        }
        service.answerFromAfar(request) { (request) throws(FileError) in
          handle.release()
          service.activity.noteReleased()
          fuse_reply_err(request, 0)
        }
      }
    }
  }

  /// Puts the handle into the reply, and what the kernel may spare itself.
  private static func prepare(
    _ info: UnsafeMutablePointer<fuse_file_info>, for handle: FileHandle, _ service: Service
  ) {
    service.activity.noteOpened()
    info.pointee.fh = HandleNumber.retaining(handle)
    // The tree tells when a file's content changed from elsewhere, so what is cached stays right.
    info.pointee.keep_cache = 1
    info.pointee.noflush = handle.flags.contains(.write) ? 0 : 1
    if handle.flags.isDisjoint(with: .read), DirectWrites.areCoherent { info.pointee.direct_io = 1 }
  }

  private static func releaseFile(
    _ info: UnsafeMutablePointer<fuse_file_info>, _ service: Service
  ) {
    guard let handle = HandleNumber.releasing(info.pointee.fh, as: FileHandle.self) else { return }
    handle.release()
    service.activity.noteReleased()
  }

  /// What the tree needs to know of the flags of open(2).
  ///
  /// `O_APPEND` is not among it: each write says for itself whether it goes to the end (`kind(of:)`).
  static func openFlags(_ flags: Int32) -> OpenFlags {
    var result: OpenFlags = []
    switch flags & O_ACCMODE {
    case O_RDONLY: result = [.read]
    case O_WRONLY: result = [.write]
    default: result = [.read, .write]
    }
    if flags & O_TRUNC != 0 { result.insert(.truncate) }
    if flags & O_EXCL != 0 { result.insert(.exclusive) }
    return result
  }
}
