import VaultModel

/// How much a device says of what another one has said, whose register says it no more: whoever has filled one register is not
/// to fill the next one as well. Docs/Format.md, "The personal profile".
struct PassedOnRoom {
  private var byteCount: Int

  /// - Parameter profile: What the device says already.
  init(beside profile: PersonalProfile) {
    byteCount = min(Limits.passedOnBytes, Limits.profileBytes - profile.encoded().count)
  }

  /// Takes the room that an entry of so many bytes needs; false where there is less, or no entry may be so large.
  mutating func take(_ entryByteCount: Int) -> Bool {
    // With the bytes before it.
    let needed = entryByteCount + 8
    guard entryByteCount <= Limits.acquaintanceBytes, needed <= byteCount else { return false }
    byteCount -= needed
    return true
  }

  /// Takes the room of as many entries as there is room for, and returns them: the smallest first, since somebody may have
  /// filled the register.
  mutating func take<Entry: WireMessage>(_ entries: [Entry]) -> [Entry] {
    let sized = entries.map { (entry: $0, byteCount: $0.encoded().count) }
    var taken: [Entry] = []
    for (entry, byteCount) in sized.sorted(by: { $0.byteCount < $1.byteCount })
    where take(byteCount) {
      taken.append(entry)
    }
    return taken
  }
}
