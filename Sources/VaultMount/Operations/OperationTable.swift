import CFuse

/// The table of callbacks that libfuse calls, each on whichever thread of the loop took the request.
///
/// The callbacks are formed in nonisolated functions: one formed on the main actor would trap when C calls it. What
/// is missing here (locks, ioctl, poll, bmap) the kernel does itself or refuses.
enum OperationTable {
  /// The table; `checksAccess` is false where the kernel checks permissions or nobody does, and then access(2)
  /// costs no request.
  static func make(checksAccess: Bool) -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    addConnection(to: &table)
    addNames(to: &table)
    addAttributes(to: &table)
    if checksAccess { addAccess(to: &table) }
    addHandles(to: &table)
    addData(to: &table)
    addRanges(to: &table)
    addDirectories(to: &table)
    addXattrs(to: &table)
    return table
  }

  /// Agrees with the kernel on how the two talk, before the first other request.
  private static func addConnection(to table: inout fuse_lowlevel_ops) {
    table.`init` = { _, connection in
      guard let connection else { return }
      let wanted: [Int32] = [
        FUSE_CAP_ASYNC_READ, FUSE_CAP_ATOMIC_O_TRUNC, FUSE_CAP_PARALLEL_DIROPS,
        FUSE_CAP_READDIRPLUS, FUSE_CAP_READDIRPLUS_AUTO, FUSE_CAP_HANDLE_KILLPRIV,
        FUSE_CAP_CACHE_SYMLINKS,
        // The tree tells of others' changes; without this, our own changed times would drop the cache.
        FUSE_CAP_EXPLICIT_INVAL_DATA,
      ]
      let refused: [Int32] = [
        FUSE_CAP_AUTO_INVAL_DATA, FUSE_CAP_WRITEBACK_CACHE, FUSE_CAP_EXPORT_SUPPORT,
        FUSE_CAP_SPLICE_READ, FUSE_CAP_SPLICE_WRITE, FUSE_CAP_SPLICE_MOVE,
        FUSE_CAP_POSIX_LOCKS, FUSE_CAP_FLOCK_LOCKS, FUSE_CAP_POSIX_ACL,
        // The parts of a large write have to come one after the other: those of an append go to where the end is by then.
        FUSE_CAP_ASYNC_DIO,
      ]
      for capability in refused { connection.pointee.want &= ~UInt32(bitPattern: capability) }
      for capability in wanted {
        connection.pointee.want |= connection.pointee.capable & UInt32(bitPattern: capability)
      }
      connection.pointee.max_write = 1 << 20
      connection.pointee.max_read = UInt32(MountOptions.readLimit)  // libfuse wants it twice
      connection.pointee.max_readahead = 1 << 20
      connection.pointee.max_background = 64
      connection.pointee.congestion_threshold = 48
    }
  }
}
