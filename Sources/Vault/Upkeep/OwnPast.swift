import VaultErrors
import VaultModel

/// The newest versions of one record, the current one first, as far as this device wrote them one after the other and
/// nobody else has seen them.
struct OwnPast {
  struct Version {
    let digest: ContentDigest
    let revision: RecordRevision
  }

  private(set) var versions: [Version] = []

  /// - Parameters:
  ///   - seen: Up to which of this device's heads somebody else may have seen.
  ///   - load: The revision of a name; nil when it is not kept, or the device has not signed it.
  static func load(
    of current: ContentDigest, device: DeviceID, seen: UInt64,
    load: (ContentDigest) throws(VaultError) -> RecordRevision?
  ) throws(VaultError) -> OwnPast {
    var past = OwnPast()
    var next: ContentDigest? = current
    while let digest = next, let revision = try load(digest) {
      guard revision.device == device, revision.version[device] > seen,
        revision.previous.count < 2
      else { break }
      past.versions.append(Version(digest: digest, revision: revision))
      next = revision.previous.first
    }
    return past
  }

  /// Which versions go, by their positions, in order.
  ///
  /// Nothing of a deleted record goes, nor a version from which a file was deleted that had stood for a while: so that it
  /// can be restored.
  func leaving(_ policy: KeepPolicy, now: UInt64, load: ItemTree.Load) throws -> [Int] {
    guard let current = versions.first, !current.revision.place.isDeleted else { return [] }
    return try versions.indices.dropFirst().filter { position in
      let (next, version) = (versions[position - 1].revision, versions[position].revision)
      guard !policy.keeps(version.time, replacedAt: next.time, now: now) else { return false }
      let losses = try Losses.find(from: version, to: next, load: load)
      // A clock that is behind what it replaces counts on from it, which says nothing of how long that stood.
      return next.time.milliseconds > version.time.milliseconds
        ? !losses.removeFile(at: next.time) : !losses.isKept(by: policy, now: now)
    }
  }
}

/// What the next version of a record has no more of the one before.
private struct Losses {
  /// A file that was there for less than this is a program's own business, as a journal is.
  private static let passingTime: UInt64 = 10_000

  private var files: [(before: Item, after: Item?)] = []
  /// When the newest of the files that the next version has otherwise was written, by what the file says; nil where it
  /// only removes some.
  private var latest: UInt64?

  static func find(
    from old: RecordRevision, to new: RecordRevision, load: ItemTree.Load
  ) throws -> Losses {
    var losses = Losses()
    if old.document != new.document { losses.add(old.document, new.document) }
    var (olds, news) = (old.items, new.items)
    try olds.forEachDifference(to: &news, load: load) { losses.add($0, $1) }
    return losses
  }

  private mutating func add(_ before: Item?, _ after: Item?) {
    let after = after.flatMap { $0.isDeleted ? nil : $0 }
    if let after { latest = max(latest ?? 0, after.modified.milliseconds) }
    if let before, !before.isDeleted { files.append((before, after)) }
  }

  /// Whether a file is removed that had stood for a while.
  func removeFile(at time: HybridTime) -> Bool {
    files.contains { before, after in
      after == nil && time.milliseconds >= before.time.milliseconds + Self.passingTime
    }
  }

  /// Whether the version before stays by what its files say of when they were written.
  func isKept(by policy: KeepPolicy, now: UInt64) -> Bool {
    files.contains { before, after in
      let written = before.modified.milliseconds
      guard let after else {
        return !(latest.map { (written..<written + Self.passingTime).contains($0) } ?? false)
      }
      return policy.keeps(
        HybridTime(milliseconds: written),
        replacedAt: HybridTime(milliseconds: after.modified.milliseconds), now: now)
    }
  }
}
