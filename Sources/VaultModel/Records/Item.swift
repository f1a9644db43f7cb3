/// One file of a record: its name, attributes, and where its content is.
package struct Item: Hashable, Sendable {
  /// Where a file's content is. `Docs/Format.md` section 7.
  package enum Content: Hashable, Sendable {
    /// Nothing: an empty file, a fifo or socket, or a tombstone.
    case none
    /// 1 to 4,096 bytes, in the item itself.
    case inline([UInt8])
    /// The names of 1 to 16 chunks; nil is a hole.
    case chunks([ContentDigest?])
    /// The names of `ChunkIndex` objects, for more than 16 chunks.
    case indexes([ContentDigest])
    /// What a symbolic link points at: 1 to 4,095 bytes, no NUL.
    case symlink([UInt8])
  }

  package var name: FileName
  /// Two names with one file id are hard links.
  package var file: FileID
  package var size: UInt64
  /// File type and permission bits, as `st_mode`.
  package var mode: UInt32
  /// A tombstone: the file was deleted at `time`.
  package var isDeleted: Bool
  package var modified: FileTimestamp
  package var owner: Owner
  package var mediaType: String
  package var content: Content
  /// When the item last changed: the file, or which file has the name.
  package var time: HybridTime
  /// When the file itself last changed, its content or its attributes; nil for `time`.
  package var fileTime: HybridTime?
  /// Sorted by name.
  package var xattrs: [Xattr]
  /// Records that may have other names of this file; of a tombstone, those to which it has moved.
  package var linkRecords: [RecordID]
  package var unknown: UnknownFields

  package init(
    name: FileName, file: FileID, size: UInt64 = 0, mode: UInt32 = 0o100600,
    modified: FileTimestamp = .zero, mediaType: String = "", content: Content = .none,
    time: HybridTime, isDeleted: Bool = false, xattrs: [Xattr] = [],
    linkRecords: [RecordID] = [], owner: Owner = .mounter, unknown: UnknownFields = .none,
    fileTime: HybridTime? = nil
  ) {
    self.name = name
    self.file = file
    self.size = size
    self.mode = mode
    self.isDeleted = isDeleted
    self.modified = modified
    self.owner = owner
    self.mediaType = mediaType
    self.content = content
    self.time = time
    self.fileTime = fileTime
    self.xattrs = xattrs
    self.linkRecords = linkRecords
    self.unknown = unknown
  }

  /// The mark that the file of this item was deleted at `time`: it holds no content, and wins over
  /// what others wrote before.
  ///
  /// - Parameter records: Those that have names of the file from now on.
  package func tombstone(at time: HybridTime, movedTo records: [RecordID] = []) -> Item {
    Item(
      name: name, file: file, mode: mode, time: time, isDeleted: true, linkRecords: records,
      unknown: unknown)
  }

  /// The number of chunks of a file of this size.
  package static func chunkCount(size: UInt64) -> UInt64 {
    let chunk = UInt64(Limits.chunkBytes)
    return size / chunk + (size % chunk == 0 ? 0 : 1)
  }

  /// The number of `ChunkIndex` objects of a file of this size; zero when the names of its chunks
  /// stand in the item.
  package static func indexCount(size: UInt64) -> UInt64 {
    let chunks = chunkCount(size: size)
    if chunks <= Limits.inlineChunks { return 0 }
    let capacity = UInt64(ChunkIndex.capacity)
    return chunks / capacity + (chunks % capacity == 0 ? 0 : 1)
  }
}
