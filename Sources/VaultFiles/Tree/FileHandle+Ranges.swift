import Threads

/// What is done to a range of an open file without reading or writing it: allocated, cleared, looked through, copied.
extension FileHandle {
  /// - Throws: `badHandle`, `fileTooLarge`, `invalidArgument` for an empty range; `noSpace` when the disk has no room for
  ///   what is to be allocated.
  package func allocate(
    _ mode: AllocationMode, at offset: UInt64, length: UInt64, by caller: Caller? = nil
  ) throws(FileError) {
    try allocate(mode, in: rangeToAllocate(at: offset, length: length), by: caller, waits: true)
  }

  /// The same without waiting for a remote; false where that has a part which this needs, and then it is to be asked for once
  /// more.
  package func allocateIfHere(
    _ mode: AllocationMode, at offset: UInt64, length: UInt64, by caller: Caller?
  ) throws(FileError) -> Bool {
    let range = try rangeToAllocate(at: offset, length: length)
    do { try allocate(mode, in: range, by: caller, waits: false) } catch {
      if error == .away { return false }
      throw error
    }
    return true
  }

  private func rangeToAllocate(
    at offset: UInt64, length: UInt64
  ) throws(FileError) -> Range<UInt64> {
    guard flags.contains(.write) else { throw .badHandle }
    guard length > 0 else { throw .invalidArgument }
    guard offset <= Self.sizeLimit, length <= Self.sizeLimit - offset else { throw .fileTooLarge }
    return offset..<offset + length
  }

  private func allocate(
    _ mode: AllocationMode, in range: Range<UInt64>, by caller: Caller?, waits: Bool
  ) throws(FileError) {
    let end = range.upperBound
    try checkIsSaved()
    try change(by: caller, waits: waits) { (content) throws(FileError) in
      let keepsSize: Bool
      switch mode {
      case .allocate(let keeps):
        // Nothing can be kept free, but what is not there now need not be promised.
        let room = try tree.statistics()
        guard try content.missingByteCount(in: range) <= room.availableByteCount else {
          throw .noSpace
        }
        keepsSize = keeps
      case .punchHole:
        try content.clear(range)
        keepsSize = true
      case .zeroRange(let keeps):
        try content.clear(range)
        keepsSize = keeps
      }
      if !keepsSize, end > content.size { try content.truncate(to: end) }
      return 0
    }
  }

  /// The next data or hole at or after `offset`. A file that may have been changed in a mapping, in the midst of a hole and
  /// unknown to us yet, is all data: whoever copies it passes over holes.
  ///
  /// - Throws: `noSuchRegion` if there is none.
  package func seek(_ target: SeekTarget, from offset: UInt64) throws(FileError) -> UInt64 {
    let isAllData = mayBeCached && tree.withTree { $0[file].mayBeMapped }
    if !isAllData { try draft.loadLists() }
    let found: UInt64? = try draft.content.withLock { (content) throws(FileError) in
      guard isAllData else { return try content.seek(target, from: offset) }
      guard offset < content.size else { return nil }
      return target == .data ? offset : content.size
    }
    guard let found else { throw .noSuchRegion }
    return found
  }

  /// So many bytes are copied at once: a kernel before Linux 6.18 is told in 32 bits how many were.
  private static let copyLimit: UInt64 = 1 << 30

  /// Copies a range to another file without copying data, where both begin at chunk boundaries in files of one member. Waits for
  /// no remote.
  ///
  /// - Returns: How many bytes were copied, which may be fewer than asked for; nil if this range is not to be had so:
  ///   copy it by reading and writing.
  package func copyRange(
    at offset: UInt64, to target: FileHandle, at targetOffset: UInt64, length: UInt64,
    by caller: Caller? = nil
  ) throws(FileError) -> UInt64? {
    guard flags.contains(.read), target.flags.contains(.write) else { throw .badHandle }
    let layout = tree.resources.layout
    guard member.view == target.member.view, draft !== target.draft, layout.isBoundary(offset),
      layout.isBoundary(targetOffset), targetOffset <= Self.sizeLimit,
      length <= Self.sizeLimit - targetOffset
    else { return nil }
    try target.checkIsSaved()
    do { try tree.publish(file, draft, waits: false) } catch {
      // What was written to it needs a part that a remote has: whoever reads that waits for it.
      if error == .away { return nil }
      throw error
    }
    let part = min(length, Self.copyLimit)
    guard let source = try objectsToShare(at: offset, length: part) else { return nil }
    var byteCount: UInt64 = 0
    try target.change(by: caller) { (content) throws(FileError) in
      var objects = source.objects
      byteCount = source.byteCount
      let isPartial = !layout.isBoundary(byteCount)
      if isPartial, targetOffset + byteCount < content.size {
        // The last chunk would replace more than was asked for.
        objects.removeLast()
        byteCount -= byteCount % UInt64(layout.chunkSize)
      }
      guard !objects.isEmpty else { return 0 }
      try content.share(
        objects, from: layout.chunk(at: targetOffset), end: targetOffset + byteCount)
      return byteCount
    }
    return byteCount == 0 ? nil : byteCount
  }

  private func objectsToShare(
    at offset: UInt64, length: UInt64
  ) throws(FileError) -> (objects: [StoredObject?], byteCount: UInt64)? {
    let layout = tree.resources.layout
    try draft.loadLists()
    return try draft.content.withLock { (content) throws(FileError) in
      guard offset < content.size else { return nil }
      var byteCount = min(length, content.size - offset)
      if offset + byteCount < content.size { byteCount -= byteCount % UInt64(layout.chunkSize) }
      guard byteCount > 0 else { return nil }
      let first = layout.chunk(at: offset)
      let chunks = first..<first + layout.chunkCount(size: byteCount)
      guard let objects = try content.objectsToShare(chunks) else { return nil }
      return (objects, byteCount)
    }
  }
}
