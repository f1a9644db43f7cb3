import VaultModel

extension Watermarks {
  /// What was seen of the register; nil if it was never seen.
  subscript(path: VaultPath) -> Watermark? { marks.first { $0.path == path } }

  /// Remembers that this state of a register was seen; an older one than is known changes nothing.
  ///
  /// After a rollback that its person confirmed, the newer state seen before stays as the `floor` below
  /// which no counter is used again.
  mutating func raise(_ path: VaultPath, counter: UInt64, hash: FileHash) {
    guard let position = marks.firstIndex(where: { $0.path == path }) else {
      marks.append(Watermark(path: path, counter: counter, hash: hash, floor: counter))
      return
    }
    guard counter >= marks[position].counter else { return }
    marks[position].counter = counter
    marks[position].hash = hash
    marks[position].floor = max(marks[position].floor, counter)
  }
}
