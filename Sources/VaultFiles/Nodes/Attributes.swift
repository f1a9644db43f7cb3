import VaultModel

/// An inode number: stable while the file exists, in this mount and the next.
package typealias Inode = UInt64

/// What `stat` tells of a file or directory.
package struct Attributes: Hashable, Sendable {
  package var inode: Inode
  /// `st_mode`: type and permission bits.
  package var mode: UInt32
  /// 0 for a file that was removed while it is open.
  package var linkCount: UInt32
  package var uid: UInt32
  package var gid: UInt32
  /// In bytes.
  package var size: UInt64
  /// In units of 512 bytes, holes not counted.
  package var blockCount: UInt64
  package var accessed: FileTimestamp
  package var modified: FileTimestamp
  package var changed: FileTimestamp

  /// The type bits alone: `S_IFREG`, `S_IFDIR`, …
  package var type: UInt32 { mode & FileMode.typeMask }
}

/// The parts of `st_mode`, as Linux numbers them; the format stores them.
package enum FileMode {
  package static let typeMask: UInt32 = 0o170000
  package static let socket: UInt32 = 0o140000
  package static let symlink: UInt32 = 0o120000
  package static let regular: UInt32 = 0o100000
  package static let directory: UInt32 = 0o040000
  package static let fifo: UInt32 = 0o010000
  package static let permissionMask: UInt32 = 0o7777
  package static let setUserID: UInt32 = 0o4000
  package static let setGroupID: UInt32 = 0o2000
}

/// What `setattr` is to change; nil leaves a part as it is.
package struct AttributeChange: Hashable, Sendable {
  package enum Time: Hashable, Sendable {
    case now
    case to(FileTimestamp)
  }

  /// Permission bits; type bits are ignored.
  package var mode: UInt32?
  package var uid: UInt32?
  package var gid: UInt32?
  package var size: UInt64?
  package var accessed: Time?
  package var modified: Time?

  package init(
    mode: UInt32? = nil, uid: UInt32? = nil, gid: UInt32? = nil, size: UInt64? = nil,
    accessed: Time? = nil, modified: Time? = nil
  ) {
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.size = size
    self.accessed = accessed
    self.modified = modified
  }

  /// Whether it changes something that a commit keeps. The time of access is no such thing: who sets it back after reading, as
  /// a backup does, has changed nothing, and overrules nobody.
  var isKept: Bool { self != AttributeChange(accessed: accessed) }
}

/// What `statvfs` tells of the mount: the numbers of the store's file system, but for what is kept free there.
package struct FileSystemStatistics: Hashable, Sendable {
  package var blockSize: UInt64
  package var blocks: UInt64
  package var freeBlocks: UInt64
  package var availableBlocks: UInt64
  package var files: UInt64
  package var freeFiles: UInt64
  /// The longest name in bytes.
  package var nameLimit: UInt64

  var availableByteCount: UInt64 {
    let (count, overflow) = availableBlocks.multipliedReportingOverflow(by: blockSize)
    return overflow ? .max : count
  }
}

/// Whoever asks; new files belong to them.
package struct Caller: Hashable, Sendable {
  package var uid: UInt32
  package var gid: UInt32

  package init(uid: UInt32, gid: UInt32) {
    self.uid = uid
    self.gid = gid
  }
}
