import Glibc
import VaultModel

extension DraftState {
  /// What sealing one chunk needs next.
  enum SealingStep {
    /// Seal these bytes, then `markSealed`.
    case seal(ChunkBuffer)
    case obstacle(Obstacle)
    case none
  }

  /// What has to be done so that this chunk is sealed and as long as the file needs it.
  mutating func stepToSeal(_ index: Int) -> SealingStep {
    let extent = layout.extent(of: index, size: size)
    switch chunks[index] {
    case .hole:
      settle(index)
      return .none
    case .dirty(let buffer):
      if buffer.count == 0 {
        replace(index, by: .hole)
        settle(index)
        return .none
      }
      buffer.extend(to: extent)
      return .seal(buffer)
    case .sealing(_, let ticket): return .obstacle(.wait(chunk: index, ticket))
    case .sealed(let object, let byteCount):
      if byteCount < extent {
        return .obstacle(.load(chunk: index, object, byteCount: byteCount))
      }
      settle(index)
      return .none
    }
  }

  /// A dirty chunk goes to a worker.
  mutating func markSealing(_ index: Int, _ ticket: SealTicket) {
    guard case .dirty(let buffer) = chunks[index] else {
      preconditionFailure("only a dirty chunk is sealed")
    }
    replace(index, by: .sealing(buffer, ticket))
  }

  /// A chunk's bytes are now in this object.
  mutating func markSealed(_ index: Int, _ object: StoredObject) {
    let byteCount: Int
    switch chunks[index] {
    case .dirty(let buffer), .sealing(let buffer, _): byteCount = buffer.count
    case .hole, .sealed: preconditionFailure("a chunk is sealed that was not dirty")
    }
    replace(index, by: .sealed(object, byteCount: byteCount))
    if byteCount >= layout.extent(of: index, size: size) { settle(index) }
  }

  /// A worker failed: the chunk is dirty again, so that a later attempt can seal it.
  mutating func markUnsealed(_ index: Int) {
    guard case .sealing(let buffer, _) = chunks[index] else {
      preconditionFailure("only a chunk being sealed can fail to be")
    }
    replace(index, by: .dirty(buffer))
  }

  /// The dirty chunk that was not changed for the longest time.
  var oldestDirtyChunk: Int? {
    var oldest: (index: Int, lastUse: UInt64)?
    for index in unsettled {
      guard case .dirty(let buffer) = chunks[index] else { continue }
      if oldest.map({ buffer.lastUse < $0.lastUse }) ?? true { oldest = (index, buffer.lastUse) }
    }
    return oldest?.index
  }

  /// Copies what is in memory and zeros into `target`, and tells which parts are in sealed objects. The range has to
  /// lie inside the file and to be as long as `target`.
  func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) -> [SealedPart] {
    var parts: [SealedPart] = []
    guard let base = target.baseAddress else { return parts }
    for slice in layout.slices(offset..<offset + UInt64(target.count)) {
      let destination = base + slice.offset
      switch chunks[slice.chunk] {
      case .hole: memset(destination, 0, slice.range.count)
      case .dirty(let buffer), .sealing(let buffer, _): buffer.copy(slice.range, to: destination)
      case .sealed(let object, let byteCount):
        let present = max(0, min(slice.range.upperBound, byteCount) - slice.range.lowerBound)
        if present > 0 {
          let lower = slice.range.lowerBound
          parts.append(
            SealedPart(object: object, range: lower..<lower + present, target: slice.offset))
        }
        if present < slice.range.count {
          memset(destination + present, 0, slice.range.count - present)
        }
      }
    }
    return parts
  }

  /// The first offset at or after `offset` of data, or of a hole (the end of the file is one); nil if there is none.
  func seek(_ target: SeekTarget, from offset: UInt64) -> UInt64? {
    guard offset < size else { return nil }
    for index in layout.chunk(at: offset)..<chunks.count {
      let isHole = if case .hole = chunks[index] { true } else { false }
      if isHole == (target == .hole) { return max(offset, layout.start(of: index)) }
    }
    return target == .hole ? size : nil
  }
}
