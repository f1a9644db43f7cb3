import BlobStore
import VaultErrors
import VaultModel

/// Which chunks of a vault may be absent on this machine, because a remote has them. Docs/Format.md, "This machine's
/// state".
package struct LazySettings: Hashable, Sendable {
  /// What is always here with all that is below it.
  package struct Pin: Hashable, Sendable {
    package var member: MemberID
    /// The root record for the whole member.
    package var record: RecordID

    package init(member: MemberID, record: RecordID) {
      self.member = member
      self.record = record
    }
  }

  /// Chunks that are not pinned take about this many bytes at most; nil leaves that open.
  package var cacheByteLimit: UInt64?
  package var pins: Set<Pin>

  package init(cacheByteLimit: UInt64? = nil, pins: Set<Pin> = []) {
    self.cacheByteLimit = cacheByteLimit
    self.pins = pins
  }
}

extension LazySettings {
  private static let title = "kinvault lazy 1"

  package func encoded() -> [UInt8] {
    var lines: [String] = []
    if let cacheByteLimit { lines.append("cache \(cacheByteLimit)") }
    lines += pins.map { "pin \($0.member.hex) \($0.record.hex)" }.sorted()
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  /// Nil for what is torn or of another version.
  package init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    self.init()
    for words in lines.words(upTo: 4) {
      switch (words.first, words.count) {
      case ("cache", 2):
        guard let limit = UInt64(words[1]) else { return nil }
        cacheByteLimit = limit
      case ("pin", 3):
        guard let member = MemberID(hex: words[1]), let record = RecordID(hex: words[2])
        else { return nil }
        pins.insert(Pin(member: member, record: record))
      default: return nil
      }
    }
  }
}

extension StateFolder {
  private static let lazyPath = "lazy"

  /// What may be absent here; nil for a vault that is wholly here.
  ///
  /// - Throws: `damaged`: then it is not known what may be absent.
  package func loadLazySettings() throws(VaultError) -> LazySettings? {
    guard let bytes = try readIfThere(.init(Self.lazyPath), limit: 16 << 20) else { return nil }
    guard let settings = LazySettings(decoding: bytes) else {
      throw .damaged(path: describe(.init(Self.lazyPath)), reason: "its checksum is wrong")
    }
    return settings
  }

  /// On disk when it returns. Nil makes the vault one that is wholly here: whoever says so has fetched everything.
  package func storeLazySettings(_ settings: LazySettings?) throws(VaultError) {
    let store = self.store
    try storing { () throws(BlobStoreError) in
      if let settings {
        try store.replace(.init(Self.lazyPath), settings.encoded(), durably: true)
      } else {
        try store.remove(.init(Self.lazyPath))
      }
    }
  }
}
