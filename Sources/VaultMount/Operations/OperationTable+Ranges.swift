import CFuse
import Glibc
import VaultFiles

/// Ranges of files: reserving, punching, finding and copying them.
extension OperationTable {
  static func addRanges(to table: inout fuse_lowlevel_ops) {
    table.fallocate = { request, _, mode, offset, length, info in
      answer(request) { (request, service) throws(FileError) in
        guard offset >= 0, length > 0, !offset.addingReportingOverflow(length).overflow else {
          throw .invalidArgument
        }
        let (handle, wanted) = (try fileHandle(info), try Self.allocationMode(mode))
        let (start, count) = (UInt64(offset), UInt64(length))
        let caller = Self.caller(request)
        if try handle.allocateIfHere(wanted, at: start, length: count, by: caller) {
          fuse_reply_err(request, 0)
          return
        }
        service.answerFromAfar(request) { (request) throws(FileError) in
          try handle.allocate(wanted, at: start, length: count, by: caller)
          fuse_reply_err(request, 0)
        }
      }
    }
    table.lseek = { request, _, offset, whence, info in
      answer(request) { (request, _) throws(FileError) in
        guard offset >= 0 else { throw .noSuchRegion }
        let found = try fileHandle(info).seek(Self.seekTarget(whence), from: UInt64(offset))
        fuse_reply_lseek(request, off_t(clamping: found))
      }
    }
    table.copy_file_range = {
      request, _, offset, info, _, targetOffset, targetInfo, length, flags in
      answer(request) { (request, _) throws(FileError) in
        guard flags == 0, offset >= 0, targetOffset >= 0 else { throw .invalidArgument }
        let copied = try fileHandle(info).copyRange(
          at: UInt64(offset), to: fileHandle(targetInfo), at: UInt64(targetOffset),
          length: UInt64(length), by: Self.caller(request))
        // After EOPNOTSUPP the kernel copies by reading and writing.
        guard let copied else { throw .notSupported }
        fuse_reply_write(request, Int(clamping: copied))
      }
    }
  }

  /// The flags of fallocate(2), which the header hides without `_GNU_SOURCE`.
  static func allocationMode(_ flags: Int32) throws(FileError) -> AllocationMode {
    switch flags {
    case 0: .allocate(keepsSize: false)
    case 0x01: .allocate(keepsSize: true)
    case 0x02 | 0x01: .punchHole
    case 0x10: .zeroRange(keepsSize: false)
    case 0x10 | 0x01: .zeroRange(keepsSize: true)
    default: throw .notSupported
    }
  }

  /// `SEEK_DATA` and `SEEK_HOLE`; the others the kernel does itself.
  private static func seekTarget(_ whence: Int32) throws(FileError) -> SeekTarget {
    switch whence {
    case 3: .data
    case 4: .hole
    default: throw .invalidArgument
    }
  }
}
