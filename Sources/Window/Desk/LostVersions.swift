import Threads
import Vault
import VaultErrors
import VaultModel

/// Which records are versions that lost, and of which record. Each is opened once, so that every page may ask.
final class LostVersions: Sendable {
  /// Of copies, by their revisions: the record that each is a version of; nil for what no join has made.
  private let known = Guarded<[ContentDigest: RecordID?]>([:])

  /// A member's versions that lost, and the record that each is a version of. One that is damaged is left out.
  ///
  /// - Throws: What reading throws.
  func originals(in member: Member) throws(VaultError) -> [RecordID: RecordID] {
    var found: [RecordID: RecordID] = [:]
    for copy in member.children(of: member.conflictFolder) {
      if let original = try original(of: copy, in: member) { found[copy.record] = original }
    }
    return found
  }

  /// The record that this one is a version of; nil if it is none that lost.
  ///
  /// - Throws: What reading throws.
  func original(of copy: RecordEntry, in member: Member) throws(VaultError) -> RecordID? {
    guard copy.parent == member.conflictFolder else { return nil }
    if let known = known.withLock({ $0[copy.revision] }) { return known }
    do {
      let original = ConflictMark(try member.revision(copy.revision).attributes.xattrs)?.record
      known.withLock { _ = $0.updateValue(original, forKey: copy.revision) }
      return original
    } catch {
      guard error.isDamage else { throw error }
      // What is missing may come; what is damaged stays so until another revision is there.
      if case .damaged = error {
        known.withLock { _ = $0.updateValue(nil, forKey: copy.revision) }
      }
      return nil
    }
  }
}
