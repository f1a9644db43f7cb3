import Threads
import VaultErrors
import VaultModel
import VaultObjects

/// Writes anew what one device wrote of a member above a counter as written by another one, which its machine has
/// become: the revisions with all that were replaced since then. Docs/Format.md, "Lines".
///
/// The same objects come of it whoever does it. Who may not write only reads the records so.
final class Renaming: Sendable {
  private let member: Member
  private let device: DeviceID
  private let above: UInt64
  private let other: DeviceID
  private let digests = Guarded<[ContentDigest: ContentDigest]>([:])

  init(member: Member, device: DeviceID, above: UInt64, to other: DeviceID) {
    self.member = member
    self.device = device
    self.above = above
    self.other = other
  }

  func concerns(_ entry: RecordEntry) -> Bool { concerns(entry.version) }

  /// Whether it counts what the device wrote in its line. One that names as many devices as can be stays as it is.
  private func concerns(_ version: VersionVector) -> Bool {
    version[device] > above && version.renaming(device, above: above, to: other).isReadable
  }

  /// - Throws: `noSpace`, `io`.
  func entry(_ entry: RecordEntry) throws(VaultError) -> RecordEntry {
    guard concerns(entry) else { return entry }
    var entry = entry
    if !member.context.isReadOnly { entry.revision = try revision(entry.revision) }
    entry.version = entry.version.renaming(device, above: above, to: other)
    if entry.device == device { entry.device = other }
    return entry
  }

  /// A revision, those that it replaced before it. Iterative: a record may have been edited any number of times.
  private func revision(_ first: ContentDigest) throws(VaultError) -> ContentDigest {
    var waiting = [first]
    var opened: Set<ContentDigest> = []
    while let digest = waiting.last {
      if self[digest] != nil {
        waiting.removeLast()
        continue
      }
      let isFirstLook = opened.insert(digest).inserted
      guard let revision = try ifWhole(member.revision(digest)) else {
        // What cannot be read here stays as it is.
        note(digest, as: digest)
        waiting.removeLast()
        continue
      }
      guard concerns(revision.version) else {
        note(digest, as: digest)
        waiting.removeLast()
        continue
      }
      let before = revision.previous.filter { self[$0] == nil }
      if isFirstLook, !before.isEmpty {
        waiting += before
        continue
      }
      do { note(digest, as: try store(revision)) } catch {
        // As large as can be, and others have written it.
        guard case .limit = error else { throw error }
        note(digest, as: digest)
      }
      waiting.removeLast()
    }
    return self[first] ?? first
  }

  private func store(_ old: RecordRevision) throws(VaultError) -> ContentDigest {
    var revision = old
    revision.previous = old.previous.map { self[$0] ?? $0 }.sorted()
    revision.version = old.version.renaming(device, above: above, to: other)
    if revision.device == device { revision.device = other }
    // Of what its device signed it is not any more, and whoever renames it writes the same.
    revision.signature = nil
    let keys = member.register.keys.current
    let bytes = try pages(member.loadPage) { _ in
      try revision.encode(storingPages: { page in
        try self.member.objects.write(.page, page, under: keys)
      })
    }
    return try member.objects.write(.record, bytes, under: keys)
  }

  private subscript(digest: ContentDigest) -> ContentDigest? { digests.withLock { $0[digest] } }

  private func note(_ old: ContentDigest, as new: ContentDigest) {
    digests.withLock { $0[old] = new }
  }
}
