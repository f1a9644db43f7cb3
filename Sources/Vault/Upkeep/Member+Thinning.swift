import BlobStore
import MachineState
import Synchronization
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What this process has replaced and nobody else has seen. Docs/Format.md, "Thinning".
struct ReplacedObjects: Sendable {
  /// What versions that were thinned out named.
  var thinned: Set<ContentDigest> = []
  /// The segments of this device's heads that this process wrote, with the counter of the head.
  var segments: [ContentDigest: UInt64] = [:]
  /// Those of them that no head names any more.
  var replacedSegments: [ContentDigest: UInt64] = [:]

  mutating func forget(_ names: Set<ContentDigest>) {
    thinned.subtract(names)
    for name in names { replacedSegments[name] = nil }
  }

  /// What may go once nothing names it. What somebody has seen is theirs to need, and goes by `collect`.
  mutating func candidates(above seen: UInt64, withSegments: Bool) -> Set<ContentDigest> {
    replacedSegments = replacedSegments.filter { $0.value > seen }
    return withSegments ? thinned.union(replacedSegments.keys) : thinned
  }

  /// A head that names these segments takes the place of one that names others.
  mutating func replace(_ old: [ContentDigest], by new: [ContentDigest], counter: UInt64) {
    for name in new where !old.contains(name) { segments[name] = counter }
    for name in old where !new.contains(name) {
      replacedSegments[name] = segments.removeValue(forKey: name)
    }
  }
}

/// How versions go that nobody but this device has seen. Docs/Format.md, "Thinning".
extension Member {
  /// Takes versions out of the past of these records that the policy does not keep: a commit, in which the versions
  /// that stay follow one another. Their objects stay until `removeReplaced`.
  ///
  /// - Parameter seenElsewhere: Up to which of this device's heads a remote may have seen.
  /// - Returns: The records of which more goes when some time has passed.
  package func thin(
    _ records: Set<RecordID>, to policy: KeepPolicy, seenElsewhere: UInt64
  ) throws(VaultError) -> Set<RecordID> {
    guard !policy.tiers.isEmpty, try !isBetweenEpochs else { return [] }
    // They are as old as the clock says. It waits until the clock is set right, or somebody says that it is.
    if try context.clockLeap(from: [self]) != nil { return records }
    let (thinned, aging) = try withWriter { (writer, _) throws(VaultError) in
      let seen = max(seenElsewhere, writer.heads.counterSeenByOthers(of: context.device.id))
      var result = (thinned: [OwnPast.Version](), aging: Set<RecordID>())
      for record in records.sorted() {
        let past = try writer.thin(record, to: policy, seen: seen)
        result.thinned += past.gone
        if past.isAging { result.aging.insert(record) }
      }
      _ = try writer.finish()
      return result
    }
    var names: Set<ContentDigest> = []
    for version in thinned { try addObjects(of: version, to: &names) }
    state.withLock { $0.replaced.thinned.formUnion(names) }
    return aging
  }

  /// Objects that nothing named when everything was looked through, and what changed since then.
  package struct Unneeded: Sendable {
    package let digests: Set<ContentDigest>
    fileprivate let changes: Changes
  }

  /// Forgets the replaced objects where others may have them from this folder: what a program has carried off before, it has
  /// carried off, whatever the remotes show later. They go by `collect`, which announces them.
  ///
  /// For a caller who knows that no sync runs: what it brings it remembers at its end.
  package func forgetReplaced(besides seenElsewhere: SeenElsewhere) {
    guard let isAlone = isOnlyDevice, !isAlone else { return }
    if heads.withLock({ comeByRemotes(seenElsewhere, $0) }) { return }
    state.withLock { $0.replaced.thinned = [] }
  }

  /// Looks which of the replaced objects that nobody else can have nothing names; nil where there are none, or while that
  /// cannot be told. Looks through everything that the member has.
  package func unneededReplaced(seenElsewhere: SeenElsewhere) -> Unneeded? {
    guard damageReason == nil, let isAlone = isOnlyDevice else { return nil }
    let changes = Changes(of: self, by: .anybody)
    let own = context.device.id
    let (counter, isOnlyHere) = heads.withLock { heads in
      (heads.counterSeenByOthers(of: own), isAlone || comeByRemotes(seenElsewhere, heads))
    }
    let seen = max(seenElsewhere.counter, counter)
    // Another device's head may name a segment whose head a program has copied.
    let candidates = state.withLock { $0.replaced.candidates(above: seen, withSegments: isAlone) }
    guard isOnlyHere, !candidates.isEmpty, let unneeded = unneeded(candidates) else { return nil }
    // What something else names stays with that.
    state.withLock { $0.replaced.forget(candidates.subtracting(unneeded)) }
    return Unneeded(digests: unneeded, changes: changes)
  }

  /// Whether no other device is known that may name what the member is made of; nil while that cannot be told.
  private var isOnlyDevice: Bool? {
    do {
      try context.reloadPeople()
      // Another process may have given somebody access a moment ago. Nothing else of the links is taken in.
      let links = try context.opening(of: id).loadLinks()
      return !hasKnowingDevices(besides: [context.device.id], by: links)
    } catch {
      // Nothing is removed then; the next look at the vault meets the same failure, and says so.
      return nil
    }
  }

  /// Removes those that `unneededReplaced` gave, but for what this process uses and what was named again since; none where
  /// others may have them from this folder by now.
  package func removeReplaced(
    _ unneeded: Unneeded, except inUse: Set<ContentDigest>, seenElsewhere: SeenElsewhere
  ) throws(VaultError) {
    guard let isAlone = isOnlyDevice else { return }
    try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        _ = try catchUp(&heads)
        guard isAlone || comeByRemotes(seenElsewhere, heads),
          try !isBetweenEpochs, try !hasHeadsToCome(heads),
          // A head of which something is still on its way here may need them.
          try register.files().allSatisfy({ heads.seen[$0.device] != nil })
        else { return }
        let changed = unneeded.changes.waiting
        guard let left = unnamed(unneeded.digests, by: { changed.contains($0.record) }) else {
          return
        }
        let gone = left.subtracting(heads.namedObjects).subtracting(inUse)
        try removeObjects(gone.map(objects.name).sorted())
        state.withLock { $0.replaced.forget(gone) }
      }
    }
  }

  /// The records that this device wrote lately, of which more versions may go.
  package func recordsWrittenHere(
    forThinningTo policy: KeepPolicy, seenElsewhere: UInt64
  ) -> Set<RecordID> {
    let now = context.clock.milliseconds()
    let own = context.device.id
    return Set(
      allEntries().filter { entry in
        entry.version[own] > seenElsewhere
          && now < entry.time.milliseconds + (policy.finalAge ?? 0)
      }.map(\.record))
  }

  /// How many objects `removeReplaced` may remove.
  package var replacedObjectCount: Int {
    state.withLock { $0.replaced.thinned.count + $0.replaced.replacedSegments.count }
  }

  /// Adds the objects that a version names, itself included. Pages that are in the set are not looked into again.
  private func addObjects(
    of version: OwnPast.Version, to names: inout Set<ContentDigest>
  ) throws(VaultError) {
    names.insert(version.digest)
    var items = version.revision.document.map { [$0] } ?? []
    do {
      try pages(loadPage) { load in
        try version.revision.items.visit(
          load: load, page: { names.insert($0).inserted }, item: { items.append($0) })
      }
      for item in items {
        switch item.content {
        case .none, .inline, .symlink: continue
        case .chunks(let chunks): names.formUnion(chunks.lazy.compactMap(\.self))
        case .indexes(let indexes):
          for index in indexes where names.insert(index).inserted {
            names.formUnion(try chunks(of: .indexes([index])).lazy.compactMap(\.self))
          }
        }
      }
    } catch {
      guard error.isDamage else { throw error }
      // What cannot be found so `collect` finds.
      return
    }
  }
}

extension HeadsState {
  /// The greatest counter of this device's heads that another device says to have seen.
  func counterSeenByOthers(of own: DeviceID) -> UInt64 {
    loaded.values.filter { $0.device != own }.flatMap(\.head.cover)
      .filter { $0.device == own }.map(\.counter).max() ?? 0
  }
}

extension CommitWriter {
  /// Takes versions out of a record's past.
  ///
  /// - Returns: The versions that nothing names any more, and whether more goes when some time has passed.
  fileprivate mutating func thin(
    _ record: RecordID, to policy: KeepPolicy, seen: UInt64
  ) throws(VaultError) -> (gone: [OwnPast.Version], isAging: Bool) {
    let rivals = member.rivals(of: record)
    guard let entry = rivals.first, rivals.count == 1, written[record] == nil else {
      return ([], false)
    }
    let own = context.device.id
    let past = try OwnPast.load(of: entry.revision, device: own, seen: seen) {
      (name) throws(VaultError) in
      do throws(VaultError) {
        // What is written anew is signed, and another one's version may say that it is this device's.
        return try member.isSigned(name, by: own) ? try member.revision(name) : nil
      } catch {
        guard error.isDamage else { throw error }
        return nil
      }
    }
    let now = context.clock.milliseconds()
    let versions = past.versions
    let leaving = try pages(member.loadPage) { try past.leaving(policy, now: now, load: $0) }
    let isAging = versions.dropFirst().contains { version in
      now < version.revision.time.milliseconds + (policy.finalAge ?? 0)
    }
    guard let oldest = leaving.last else { return ([], isAging) }
    var previous = versions[oldest].revision.previous
    for position in (1..<oldest).reversed() where !leaving.contains(position) {
      var revision = versions[position].revision
      revision.previous = previous
      previous = [try store(&revision)]
    }
    var current = versions[0].revision
    current.previous = previous
    // Another process of this device takes it for newer, though it holds the same.
    current.version[context.device.id] = counter
    try write(&current, base: versions[0].revision, entry: entry)
    return (Array(versions[...oldest]), isAging)
  }
}
