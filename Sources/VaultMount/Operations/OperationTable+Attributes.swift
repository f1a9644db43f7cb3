import CFuse
import Glibc
import VaultFiles
import VaultModel

/// What stat(2), chmod(2), truncate(2), utimensat(2), statfs(2) and access(2) come to.
extension OperationTable {
  static func addAttributes(to table: inout fuse_lowlevel_ops) {
    table.getattr = { request, inode, _ in
      answer(request) { (request, service) throws(FileError) in
        Self.replyAttributes(request, service, try service.tree.attributes(inode))
      }
    }
    table.setattr = { request, inode, wanted, mask, info in
      answer(request) { (request, service) throws(FileError) in
        guard let wanted else { throw .invalidArgument }
        let change = Self.attributeChange(wanted.pointee, mask: mask)
        let handle = info == nil ? nil : try fileHandle(info)
        let caller = Self.caller(request)
        if let attributes = try service.tree.setAttributesIfHere(
          inode, change, through: handle, by: caller)
        {
          return Self.replyAttributes(request, service, attributes)
        }
        service.answerFromAfar(request) { (request) throws(FileError) in
          Self.replyAttributes(
            request, service,
            try service.tree.setAttributes(inode, change, through: handle, by: caller))
        }
      }
    }
    table.statfs = { request, _ in
      answer(request) { (request, service) throws(FileError) in
        var reply = statvfs(try service.tree.statistics())
        fuse_reply_statfs(request, &reply)
      }
    }
  }

  static func addAccess(to table: inout fuse_lowlevel_ops) {
    table.access = { request, inode, mask in
      answer(request) { (request, service) throws(FileError) in
        try service.tree.checkAccess(inode, mask: UInt32(bitPattern: mask))
        fuse_reply_err(request, 0)
      }
    }
  }

  private static func replyAttributes(
    _ request: fuse_req_t, _ service: Service, _ attributes: Attributes
  ) {
    var reply = stat(attributes)
    fuse_reply_attr(request, &reply, attributes.timeout(atMost: service.timeout))
  }

  /// What a request for setattr asks for: only the parts that `mask` names count.
  static func attributeChange(_ wanted: stat, mask: Int32) -> AttributeChange {
    func asks(_ bit: Int32) -> Bool { mask & bit != 0 }
    var change = AttributeChange()
    if asks(FUSE_SET_ATTR_MODE) { change.mode = wanted.st_mode }
    if asks(FUSE_SET_ATTR_UID) { change.uid = wanted.st_uid }
    if asks(FUSE_SET_ATTR_GID) { change.gid = wanted.st_gid }
    if asks(FUSE_SET_ATTR_SIZE) { change.size = UInt64(clamping: wanted.st_size) }
    if asks(FUSE_SET_ATTR_ATIME) { change.accessed = .to(FileTimestamp(wanted.st_atim)) }
    if asks(FUSE_SET_ATTR_MTIME) { change.modified = .to(FileTimestamp(wanted.st_mtim)) }
    if asks(FUSE_SET_ATTR_ATIME_NOW) { change.accessed = .now }
    if asks(FUSE_SET_ATTR_MTIME_NOW) { change.modified = .now }
    return change
  }
}

extension timespec {
  init(_ time: FileTimestamp) {
    self.init(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
  }
}

extension FileTimestamp {
  /// Nanoseconds out of range, which the kernel does not send, count as none.
  init(_ time: timespec) {
    let isValid = (0..<1_000_000_000).contains(time.tv_nsec)
    self.init(seconds: Int64(time.tv_sec), nanoseconds: isValid ? UInt32(time.tv_nsec) : 0)
  }
}

extension statvfs {
  init(_ statistics: FileSystemStatistics) {
    self.init()
    f_bsize = UInt(statistics.blockSize)
    f_frsize = UInt(statistics.blockSize)
    f_blocks = UInt(statistics.blocks)
    f_bfree = UInt(statistics.freeBlocks)
    f_bavail = UInt(statistics.availableBlocks)
    f_files = UInt(statistics.files)
    f_ffree = UInt(statistics.freeFiles)
    f_favail = UInt(statistics.freeFiles)
    f_namemax = UInt(statistics.nameLimit)
  }
}
