import BlobStore
import VaultModel

/// What is left of this device's newest head where an older folder was put back. Docs/Format.md, "This machine's state".
extension Member {
  /// Learns what the head that this machine has kept says of records that are still whole here, so that the next head has
  /// them; in part here are only taken where nothing else is known of the record.
  func learnRest(of kept: LoadedHead, _ heads: inout HeadsState) throws(VaultError) {
    // What the device that this machine was has written is to be written anew as this one's, not to be joined with it.
    guard kept.device == context.device.id, damageReason == nil,
      heads.last(of: kept.device)?.counter ?? 0 < kept.counter
    else { return }
    for name in kept.head.segments {
      guard let segment = try ifWhole({ () throws(VaultError) in try entries(in: name) }) else {
        continue
      }
      for entry in segment {
        let isWhole = try ifWhole { () throws(VaultError) in try hasWholly(entry) }
        guard let isWhole, isWhole || self.entry(entry.record) == nil else { continue }
        heads.learned.formUnion(apply([entry], &heads))
      }
    }
  }

  /// Whether everything is here that the revision of an entry needs; its beginning must be.
  private func hasWholly(_ entry: RecordEntry) throws(VaultError) -> Bool {
    for item in try items(of: revision(entry.revision)) {
      let names = try ifWhole { () throws(VaultError) in try chunks(of: item.content) }
      guard let names else { return false }
      for name in names {
        guard let name, context.lazy == nil else { continue }
        if try !objects.isPresent(name) { return false }
      }
    }
    return true
  }
}

extension Vault {
  /// Writes down what was learned so when its person went back to an older folder.
  func keepRest() throws(VaultError) {
    for member in members where member.isWritten {
      guard member.heads.withLock({ !$0.learned.isEmpty }) else { continue }
      _ = try member.commitNothingIfPossible()
    }
  }
}
