import VaultModel

package final class FileTree: Sendable {
  package static let root: Inode = 1
  package init() {}
  package func setInvalidationHandler(_ handler: @escaping @Sendable (Invalidation) -> Void) {}
  /// Starts the background thread. / Stops it after committing everything.
  package func start() {}
  package func stop() throws(FileError) {}
  package func commitNow() throws(FileError) {}
  /// `name` may also be too long or impossible: use `FileTree.name(_:)` to make a FileName from bytes or throw.
  package static func name(_ bytes: some Collection<UInt8>) throws(FileError) -> FileName {
    throw .notFound
  }

  /// Counts one kernel reference on success; so do makeDirectory, makeNode, symlink, link, create.
  package func lookup(_ parent: Inode, _ name: FileName) throws(FileError) -> Attributes {
    throw .notSupported
  }
  package func forget(_ inode: Inode, _ count: UInt64) {}
  package func attributes(_ inode: Inode) throws(FileError) -> Attributes { throw .notSupported }
  package func setAttributes(_ inode: Inode, _ change: AttributeChange, through handle: FileHandle?)
    throws(FileError) -> Attributes
  { throw .notSupported }
  /// `mask`: 4 read, 2 write, 1 execute, as access(2).
  package func checkAccess(_ inode: Inode, mask: UInt32) throws(FileError) {}
  package func makeDirectory(_ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil)
    throws(FileError) -> Attributes
  { throw .notSupported }
  /// A regular file, fifo or socket, as `mode`'s type bits say.
  package func makeNode(_ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil)
    throws(FileError) -> Attributes
  { throw .notSupported }
  package func symlink(_ parent: Inode, _ name: FileName, target: [UInt8], caller: Caller? = nil)
    throws(FileError) -> Attributes
  { throw .notSupported }
  package func readLink(_ inode: Inode) throws(FileError) -> [UInt8] { throw .notSupported }
  package func link(_ inode: Inode, to parent: Inode, _ name: FileName) throws(FileError)
    -> Attributes
  { throw .notSupported }
  package func unlink(_ parent: Inode, _ name: FileName) throws(FileError) { throw .notSupported }
  package func removeDirectory(_ parent: Inode, _ name: FileName) throws(FileError) {
    throw .notSupported
  }
  package func rename(
    _ parent: Inode, _ name: FileName, to newParent: Inode, _ newName: FileName, mode: RenameMode
  ) throws(FileError) { throw .notSupported }
  package func create(
    _ parent: Inode, _ name: FileName, mode: UInt32, flags: OpenFlags, caller: Caller? = nil
  ) throws(FileError) -> (attributes: Attributes, handle: FileHandle) { throw .notSupported }
  package func open(_ inode: Inode, _ flags: OpenFlags) throws(FileError) -> FileHandle {
    throw .notSupported
  }
  package func openDirectory(_ inode: Inode) throws(FileError) -> DirectoryHandle {
    throw .notSupported
  }
  package func syncDirectory(_ inode: Inode) throws(FileError) {}
  package func xattr(_ inode: Inode, _ name: [UInt8]) throws(FileError) -> [UInt8] {
    throw .notSupported
  }
  package func setXattr(_ inode: Inode, _ name: [UInt8], _ value: [UInt8], mode: XattrMode)
    throws(FileError)
  { throw .notSupported }
  /// The names, in order.
  package func xattrNames(_ inode: Inode) throws(FileError) -> [[UInt8]] { throw .notSupported }
  package func removeXattr(_ inode: Inode, _ name: [UInt8]) throws(FileError) {
    throw .notSupported
  }
  package func statistics() throws(FileError) -> FileSystemStatistics { throw .notSupported }
}

package final class FileHandle: Sendable {
  package let inode: Inode
  package let flags: OpenFlags
  init(inode: Inode, flags: OpenFlags) { self.inode = inode; self.flags = flags }
  /// The bytes read; fewer than asked for only at the end of the file.
  package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileError)
    -> Int
  { 0 }
  /// All of it or an error.
  package func write(at offset: UInt64, _ bytes: UnsafeRawBufferPointer) throws(FileError) {}
  package func attributes() throws(FileError) -> Attributes { throw .notSupported }
  /// At each close(2) of a descriptor.
  package func flush() throws(FileError) {}
  /// fsync and fdatasync.
  package func sync() throws(FileError) {}
  /// Once, after the last close.
  package func release() {}
  package func allocate(_ mode: AllocationMode, at offset: UInt64, length: UInt64) throws(FileError)
  {}
  package func seek(_ target: SeekTarget, from offset: UInt64) throws(FileError) -> UInt64 { 0 }
  /// nil: this range is not to be had without copying; copy it by reading and writing.
  package func copyRange(
    at offset: UInt64, to target: FileHandle, at targetOffset: UInt64, length: UInt64
  ) throws(FileError) -> UInt64? { nil }
}

package final class DirectoryHandle: Sendable {
  package let inode: Inode
  init(inode: Inode) { self.inode = inode }
  /// Entries from `cookie` (0: the first) on, `.` and `..` included, until `body` answers false.
  package func read(from cookie: UInt64, _ body: (DirectoryEntry) -> Bool) throws(FileError) {}
  /// The same with attributes; counts one kernel reference for each entry that `body` took, except `.` and `..`.
  package func readWithAttributes(from cookie: UInt64, _ body: (DirectoryEntry, Attributes) -> Bool)
    throws(FileError)
  {}
  package func release() {}
}

package struct DirectoryEntry: Sendable {
  package let name: [UInt8]
  package let inode: Inode
  /// The type bits of `st_mode`.
  package let type: UInt32
  /// Where a later read goes on after this entry.
  package let nextCookie: UInt64
}
