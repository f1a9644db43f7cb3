import CFuse
import Glibc
import VaultFiles

extension stat {
  /// The tree's attributes as the kernel takes them.
  init(_ attributes: Attributes) {
    self.init()
    st_ino = UInt(attributes.inode)
    st_mode = attributes.mode
    st_nlink = UInt(attributes.linkCount)
    st_uid = attributes.uid
    st_gid = attributes.gid
    st_size = off_t(clamping: attributes.size)
    st_blocks = blkcnt_t(clamping: attributes.blockCount)
    st_blksize = 1 << 20
    st_atim = timespec(attributes.accessed)
    st_mtim = timespec(attributes.modified)
    st_ctim = timespec(attributes.changed)
  }
}

extension Attributes {
  /// How long the kernel may remember these, in seconds.
  ///
  /// Writing drops set-user-id and set-group-id bits in the tree, which the kernel neither does nor asks about; so it
  /// has to ask before it believes that a file still has them.
  func timeout(atMost limit: Double) -> Double {
    let isProgram = type == FileMode.regular
    return isProgram && mode & (FileMode.setUserID | FileMode.setGroupID) != 0 ? 0 : limit
  }
}

extension fuse_entry_param {
  init(_ attributes: Attributes, timeout: Double) {
    self.init()
    ino = attributes.inode
    generation = 1
    attr = stat(attributes)
    attr_timeout = attributes.timeout(atMost: timeout)
    entry_timeout = timeout
  }
}

/// Replies with an entry that the tree has counted a reference for, and gives the reference back when the kernel
/// no longer wants the reply (the request was interrupted).
func replyEntry(_ request: fuse_req_t, _ service: Service, _ attributes: Attributes) {
  var entry = fuse_entry_param(attributes, timeout: service.timeout)
  if fuse_reply_entry(request, &entry) != 0 { service.tree.forget(attributes.inode, 1) }
}

/// Replies that there is no such name, which the kernel may remember like any other answer.
func replyAbsent(_ request: fuse_req_t, _ service: Service) {
  var entry = fuse_entry_param()
  entry.entry_timeout = service.timeout
  fuse_reply_entry(request, &entry)
}
