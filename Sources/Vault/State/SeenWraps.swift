import BlobStore
import MachineState
import VaultErrors
import VaultModel

/// What the wraps of master keys for other devices were when this machine and a remote had the same.
///
/// Only the device that a wrap is for can tell whether it is right; any other one can see that it is not what it was.
/// Docs/Format.md, "This machine's state".
package struct SeenWraps: Hashable, Sendable {
  package var hashes: [VaultPath: FileHash] = [:]

  package init() {}

  private static let title = "kinvault wraps 1"

  package func encoded() -> [UInt8] {
    ChecksummedLines.encode(
      title: Self.title, hashes.map { "wrap \($0.value.hex) \($0.key.string)" }.sorted())
  }

  /// Nil for what is torn, or was written by another version.
  package init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    for words in lines.words(upTo: 3) where words.count == 3 && words[0] == "wrap" {
      guard let hash = FileHash(hex: words[1]), let path = VaultPath(parsing: String(words[2]))
      else { continue }
      hashes[path] = hash
    }
  }
}

extension StateFolder {
  private static let wrapsPath: BlobPath = "wraps"
  private static let wrapsByteLimit = 16 << 20

  /// Nothing where nothing was remembered, or it is torn.
  package func loadSeenWraps() throws(VaultError) -> SeenWraps {
    let bytes = try readIfUsable(Self.wrapsPath, limit: Self.wrapsByteLimit)
    return bytes.flatMap { SeenWraps(decoding: $0) } ?? SeenWraps()
  }

  /// Remembers what these wraps are, in the place of what they were. Does not wait for the disk.
  package func remember(wraps: [VaultPath: FileHash]) throws(VaultError) {
    if wraps.isEmpty { return }
    try withLock("people-lock") { () throws(VaultError) in
      let before = try loadSeenWraps()
      var seen = before
      seen.hashes.merge(wraps) { _, new in new }
      if seen == before { return }
      try storing(store.replace(Self.wrapsPath, seen.encoded(), durably: false))
    }
  }
}

extension VaultError {
  /// The wrap for another device is not what this machine has seen it to be.
  package static func changedWrap(_ path: VaultPath) -> VaultError {
    .damaged(path: path.string, reason: "it is not what this machine and a remote had")
  }
}
