import Threads
import VaultErrors
import VaultModel

/// What this process knows of one member's records. It is one value behind one lock (`Member.state`), so that two answers which
/// are asked for together are of the same moment.
///
/// Only whoever holds the lock `Member.heads` changes the records. The lock of this value is held for reading and writing
/// memory, never for I/O; and no copy of the value outlives it, since the next change would then have to copy every record.
struct MemberState: Sendable {
  private(set) var manifest = Manifest()
  /// Records that are not deleted and show in the root instead of in their parent; see `findDisplaced`. Mostly there are none.
  private(set) var displaced: Set<RecordID> = []
  /// Which records have changed, for each `Changes` of the member.
  var changes = FollowedChanges()
  /// Whether some head that counts is of another epoch than the current one.
  var hasLateHeads = false
  /// Whether the file of this device's head, when it was read first, was of another line than the one that this machine has
  /// written: another machine goes on as the same device, such as a copy of this one. Then this machine becomes a device of its
  /// own.
  var isApartFromFile = false
  /// Why this member cannot be written: something of it was missing or damaged when it was opened. Nil when it is whole.
  var damage: VaultError?
  var replaced = ReplacedObjects()
  var lastLookForOldObjects: Member.OldObjectLook?
  /// When the objects may be removed that this look left, in milliseconds since 1970: a head that names them may be on its way.
  /// Nil where it left none.
  var oldObjectsWaitUntil: UInt64?

  // MARK: What shows

  /// The entry of a record, deleted ones included; nil if there is none.
  func entry(_ record: RecordID) -> RecordEntry? { manifest[record].map(shown) }

  /// The records that stand in `parent` and are not deleted, in no particular order.
  func children(of parent: RecordID) -> [RecordEntry] {
    let children = manifest.children(of: parent)
    if displaced.isEmpty { return children }
    let moved = parent == .root ? displaced.compactMap { entry($0) } : []
    return children.filter { !displaced.contains($0.record) } + moved
  }

  func visitChildren(of parent: RecordID, _ body: (RecordEntry) -> Void) {
    if displaced.isEmpty {
      manifest.visitChildren(of: parent, body)
    } else {
      children(of: parent).forEach(body)
    }
  }

  func childCount(of parent: RecordID) -> Int {
    displaced.isEmpty ? manifest.childCount(of: parent) : children(of: parent).count
  }

  /// Every record, deleted ones included, in no particular order.
  var entries: [RecordEntry] {
    displaced.isEmpty ? manifest.entries : manifest.entries.map(shown)
  }

  /// The entry as it shows: a displaced record's parent is the root.
  func shown(_ entry: RecordEntry) -> RecordEntry {
    guard displaced.contains(entry.record) else { return entry }
    var entry = entry
    entry.parent = .root
    return entry
  }

  // MARK: News

  /// Takes in entries that this device has written.
  mutating func take(own entries: [RecordEntry]) {
    _ = manifest.take(entries)
    // Also records whose entry is the one that it was: their versions are others.
    changes.note(own: entries.lazy.map(\.record))
    // An entry may move a record below another one that others have moved or deleted meanwhile.
    if !displaced.isEmpty || entries.contains(where: { manifest.mayDisplace($0) }) {
      findDisplaced()
    }
  }

  /// Takes in entries that others have written. `findDisplaced` is the caller's to call, once everything has come.
  ///
  /// - Parameters:
  ///   - late: The epoch of the head that has the entries, where that is not the epoch in use; else nil.
  ///   - note: Called with each entry that changed what is known.
  /// - Returns: The records whose entries changed; a record stands there once for each of its changes.
  mutating func take(
    _ entries: [RecordEntry], from late: StatementID? = nil,
    noting note: (RecordEntry) -> Void = { _ in }
  ) -> [RecordID] {
    let changed = manifest.take(entries, from: late, noting: note)
    changes.note(changed)
    return changed
  }

  /// Replaces everything that is known by what was read anew.
  ///
  /// - Parameter changed: The records of which the new manifest has other entries than the one before.
  mutating func take(_ anew: Manifest, changed: Set<RecordID>) {
    manifest = anew
    changes.note(changed)
    findDisplaced()
  }

  /// Replaces the versions of records by the same versions under another device's name: this machine has become a device of
  /// its own, and what it wrote as the former one is the new one's now.
  mutating func rename(_ rivals: [RecordEntry]) {
    manifest.replaceRivals(rivals)
    changes.note(rivals.lazy.map(\.record))
  }

  /// Forgets these records altogether.
  mutating func drop(_ records: Set<RecordID>) {
    manifest.remove(records)
    changes.note(records)
  }

  mutating func reserveCapacity(_ count: Int) { manifest.reserveCapacity(count) }

  /// Finds the records that cannot show in their parent, since that is deleted or unknown, or since records stand in each other in
  /// a ring: devices that moved and deleted records at the same time leave such. They show directly in the member. O(records).
  ///
  /// - Returns: The records that are displaced now and were not before, and those that were and are not any more.
  @discardableResult
  mutating func findDisplaced() -> Set<RecordID> {
    let found = Set(manifest.displaced)
    let moved = displaced.symmetricDifference(found)
    displaced = found
    changes.note(moved)
    return moved
  }
}

extension Manifest {
  /// Takes in entries, as `MemberState.take` does.
  fileprivate mutating func take(
    _ entries: [RecordEntry], from late: StatementID? = nil,
    noting note: (RecordEntry) -> Void = { _ in }
  ) -> [RecordID] {
    var changed: [RecordID] = []
    changed.reserveCapacity(entries.count)
    for entry in entries where apply(entry, from: late) != .unchanged {
      changed.append(entry.record)
      note(entry)
    }
    return changed
  }
}

extension Member {
  /// Runs `body` with the records that whoever holds `heads` works on: while everything is read anew those that have been read so
  /// far, which nobody else sees before they are complete; otherwise those that everybody sees.
  func withRecords<Value>(_ heads: HeadsState, _ body: (borrowing Manifest) -> Value) -> Value {
    if let records = heads.recordsReadAnew { return body(records) }
    return state.withLock { body($0.manifest) }
  }

  /// Takes in entries that others have written, into the records that `withRecords` gives. While everything is read anew
  /// nobody's `Changes` are told of it: they are told when the whole is there.
  ///
  /// - Returns: The records whose entries changed; a record stands there once for each of its changes.
  func take(
    _ entries: [RecordEntry], from late: StatementID?, _ heads: inout HeadsState,
    noting note: (RecordEntry) -> Void = { _ in }
  ) -> [RecordID] {
    guard var records = heads.recordsReadAnew.take() else {
      return state.withLock { $0.take(entries, from: late, noting: note) }
    }
    defer { heads.recordsReadAnew = records }
    return records.take(entries, from: late, noting: note)
  }
}
