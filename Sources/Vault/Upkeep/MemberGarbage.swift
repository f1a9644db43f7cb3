import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What of a member nothing needs any more, and which of it may go by now.
struct MemberGarbage {
  let member: Member
  let retention: Retention

  /// The object files that nothing names, nor a device whose head is not followed here, with their sizes; nil when
  /// something cannot be read, so that it is not known.
  ///
  /// - Parameter forgotten: What only these records name counts as named by nothing.
  func unused(
    without forgotten: Set<RecordID>
  ) throws(VaultError) -> [(ObjectName, UInt64)]? {
    guard let needed = try neededObjects(without: forgotten) else { return nil }
    let listed = try unlisted(by: needed)
    let going = Set(try withoutWhatMayBeNamed(listed.map(\.0)))
    return listed.filter { going.contains($0.0) }
  }

  private var otherHeads: [LoadedHead] {
    let own = member.context.device.id
    return member.heads.withLock { $0.loaded.values.filter { $0.device != own } }
  }

  /// The newest heads of the devices that must see first what is to be removed: all others that count, and those that were taken
  /// over of devices that may still write. Such a device is away like any other, and has all that it had seen.
  var awaitedHeads: [LoadedHead] {
    let others = otherHeads
    let known = Set(others.map(\.device) + [member.context.device.id])
    return others + member.takenOverOfWriters.filter { !known.contains($0.device) }
  }

  /// Deleted records of which not even a tombstone is needed: there is no other device. One that has never written has
  /// no head, and may yet know the record as it was before.
  func forgottenRecords() -> Set<RecordID> {
    guard otherHeads.isEmpty, !member.hasKnowingDevicesWithoutHead else { return [] }
    return Set(
      member.allEntries().filter { entry in
        entry.isDeleted && entry.record != .root && !isKept(entry)
      }.map(\.record))
  }

  /// Without what a device may name whose head is not followed here: what came a short while ago, of which the head may be on
  /// its way; and, while there is a device that has no head, the segments that hold something newer than what is to go by now.
  ///
  /// That device announces nothing and waits for no announcement, but its first head may name the segments that it
  /// knows, in a folder where what is removed here is soon removed too.
  private func withoutWhatMayBeNamed(
    _ unused: [ObjectName]
  ) throws(VaultError) -> [ObjectName] {
    try member.context.reloadPeople()
    let awaitsHeads = member.hasWritersWithoutHead
    let keepsSegments = member.hasKnowingDevicesWithoutHead
    var left: [ObjectName] = []
    for name in unused {
      if awaitsHeads, try member.hasJustCome(name) { continue }
      if keepsSegments, try member.objects.isSegment(name, where: isKept) { continue }
      left.append(name)
    }
    return left
  }

  private func isKept(_ entry: RecordEntry) -> Bool {
    isKept(Retention.Write(revision: entry.revision, time: entry.time))
  }

  private func isKept(_ write: Retention.Write) -> Bool {
    retention.keeps(whatWasReplacedBy: write, arrival: member.objects.arrival)
  }

  /// The object files under whose names none of these contents stands, with their sizes.
  private func unlisted(
    by needed: Set<ContentDigest>
  ) throws(VaultError) -> [(ObjectName, UInt64)] {
    let listed = try member.objects.listed().map { ($0.name, $0.byteCount) }
    let sizes = Dictionary(listed) { first, _ in first }
    let named = Set(member.objects.places(of: needed, among: sizes).values)
    return listed.filter { !named.contains($0.0) }
  }

  /// Everything that is named; nil when something cannot be read, so that it is not known.
  private func neededObjects(
    without forgotten: Set<RecordID>
  ) throws(VaultError) -> Set<ContentDigest>? {
    guard try member.knowsWhatIsNeeded else { return nil }
    var needed: Set<ContentDigest> = []
    needed.formUnion(
      member.heads.withLock { $0.namedObjects.union(member.objectsOfTakenOver($0)) })
    var isWhole = true
    MemberWalk(member: member).walkAll(
      keeps: { _, newer in
        retention.keepsParts(of: newer.revision)
          || isKept(Retention.Write(revision: newer.digest, time: newer.revision.time))
      },
      visit: { if !forgotten.contains($0.record) { needed.insert($0.digest) } },
      fail: { _, _ in isWhole = false },
      progress: { _ in })
    return isWhole ? needed : nil
  }

  /// What this device has announced, and in which head.
  var announcement: (digest: ContentDigest, counter: UInt64)? {
    let own = member.context.device.id
    guard let head = member.heads.withLock({ $0.loaded[own]?.head }), let digest = head.announcement
    else { return nil }
    return (digest, head.announcedAt)
  }

  /// Those of the unused objects that may go now; nil when other devices must see first what is to go.
  func removable(_ unused: [ObjectName]) throws(VaultError) -> [ObjectName]? {
    let awaited = awaitedHeads
    if awaited.isEmpty { return unused }
    let own = member.context.device.id
    guard let announcement,
      awaited.allSatisfy({ $0.head.covers(own, upTo: announcement.counter) })
    else { return nil }
    let announced = try member.objects.announcedNames(announcement.digest)
    let going = try withoutWhatCame(
      after: announcement.digest, unused.filter(announced.contains))
    return withoutWhatStays(going)
  }

  /// Leaves out what came after it was announced: whoever needs it again has written its file anew, and their head may be on
  /// its way.
  private func withoutWhatCame(
    after announcement: ContentDigest, _ names: [ObjectName]
  ) throws(VaultError) -> [ObjectName] {
    guard let announced = try member.objects.arrival(of: announcement) else { return names }
    var left: [ObjectName] = []
    for name in names {
      if let arrival = try member.objects.arrival(of: name), arrival > announced { continue }
      left.append(name)
    }
    return left
  }

  /// Leaves out what revisions name that stay, though they are not kept: the line of a device that was away may have come
  /// after the announcement.
  private func withoutWhatStays(_ names: [ObjectName]) -> [ObjectName] {
    let going = Set(names)
    var left = going
    let objects = member.objects
    MemberWalk(member: member).walkAll(
      keeps: { older, _ in going.isDisjoint(with: objects.names(of: older)) },
      visit: { left.subtract(objects.names(of: $0.digest)) },
      // What is kept was read before; what an older revision names that cannot be read, nobody knows.
      fail: { _, _ in }, progress: { _ in })
    return left.sorted()
  }
}

extension ObjectStore {
  /// Whether the object is a segment with such an entry; false when it cannot be read.
  fileprivate func isSegment(
    _ name: ObjectName, where isSuch: (RecordEntry) -> Bool
  ) throws(VaultError) -> Bool {
    do {
      guard try kind(of: name) == .segment else { return false }
      let bytes = try opened(name, kind: .segment).content
      do {
        return try Segment(decoding: bytes).entries.contains(where: isSuch)
      } catch {
        return false
      }
    } catch {
      guard error.isDamage else { throw error }
      return false
    }
  }
}
