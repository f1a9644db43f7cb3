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
      return try !policy.keeps(version.time, replacedAt: next.time, now: now)
        && !Self.removesFile(from: version, next, load: load)
    }
  }

  /// A file that was there for less than this is a program's own business, as a journal is.
  private static let passingTime: UInt64 = 10_000

  private static func removesFile(
    from old: RecordRevision, _ new: RecordRevision, load: ItemTree.Load
  ) throws -> Bool {
    let time = new.time.milliseconds
    func isRemoval(_ before: Item?, _ after: Item?) -> Bool {
      guard let before, !before.isDeleted, after?.isDeleted ?? true else { return false }
      return time >= before.time.milliseconds + passingTime
    }
    var (olds, news) = (old.items, new.items)
    var isFound = isRemoval(old.document, new.document)
    try olds.forEachDifference(to: &news, load: load) { isFound = isFound || isRemoval($0, $1) }
    return isFound
  }
}
