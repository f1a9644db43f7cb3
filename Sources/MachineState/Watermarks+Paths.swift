import VaultModel

extension Watermarks {
  /// What was seen of the register; nil if it was never seen.
  package subscript(path: VaultPath) -> Watermark? { marks.first { $0.path == path } }

  /// Remembers that this state of a register was seen; an older one than is known changes nothing.
  ///
  /// After a rollback that its person confirmed, the newer state seen before stays as the `floor` below
  /// which no counter is used again.
  package mutating func raise(_ path: VaultPath, counter: UInt64, hash: FileHash) {
    guard let position = marks.firstIndex(where: { $0.path == path }) else {
      marks.append(
        Watermark(path: path, counter: counter, hash: hash, floor: counter))
      return
    }
    guard counter >= marks[position].counter else { return }
    marks[position].counter = counter
    marks[position].hash = hash
    marks[position].floor = max(marks[position].floor, counter)
  }

  /// Forgets what was seen of some registers.
  package mutating func forget(where isForgotten: (Watermark) -> Bool) {
    marks.removeAll(where: isForgotten)
  }

  /// Goes back to an older state of a register, which its person confirmed to be meant.
  ///
  /// What was seen before stays as the floor, so that no counter is used twice.
  package mutating func accept(_ path: VaultPath, counter: UInt64, hash: FileHash) {
    guard let position = marks.firstIndex(where: { $0.path == path }) else { return }
    marks[position].floor = max(marks[position].floor, marks[position].counter)
    marks[position].counter = counter
    marks[position].hash = hash
  }
}
