import Threads
import VaultErrors
import VaultModel

/// What this process knows of one member's records, as one value: whoever asks sees one moment of it.
///
/// Only who holds `Member.heads` brings it further. It is held for memory accesses alone: a snapshot that outlives them
/// would make the next change copy every record.
struct MemberState: Sendable {
  private(set) var manifest = Manifest()
  /// Live records that show in the root instead of where their parent link says; seldom any.
  private(set) var displaced: Set<RecordID> = []
  /// What changed, for everyone who follows that.
  var changes = FollowedChanges()
  /// Whether some head that counts is of another epoch than the current one.
  var hasLateHeads = false
  /// Whether the file of this device's head, when it was first read, was of another line than this machine has written.
  var isApartFromFile = false
  /// What keeps this member from being written; set while opening.
  var damage: VaultError?
  var replaced = ReplacedObjects()
  var lastLookForOldObjects: Member.OldObjectLook?
  /// When those that it left may go, in milliseconds since 1970: they may have come ahead of a head. Nil where it left none.
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

  /// Joins what this device has written into what is known.
  mutating func take(own entries: [RecordEntry]) {
    _ = manifest.take(entries)
    // Also what has the entry that it had: its versions are others.
    changes.note(own: entries.lazy.map(\.record))
    // One of them can have displaced something: its author need not have known what others had put there.
    if !displaced.isEmpty || entries.contains(where: { manifest.mayDisplace($0) }) {
      findDisplaced()
    }
  }

  /// Joins what others have written into what is known.
  ///
  /// - Parameters:
  ///   - late: The epoch of the head that has them, where it is not the current one.
  ///   - note: Called with each that changed what is known.
  /// - Returns: The records whose entries changed, as often as they did.
  mutating func take(
    _ entries: [RecordEntry], from late: StatementID? = nil,
    noting note: (RecordEntry) -> Void = { _ in }
  ) -> [RecordID] {
    let changed = manifest.take(entries, from: late, noting: note)
    changes.note(changed)
    return changed
  }

  /// Everything was read anew.
  ///
  /// - Parameter changed: The records whose entries are others now.
  mutating func take(_ anew: Manifest, changed: Set<RecordID>) {
    manifest = anew
    changes.note(changed)
    findDisplaced()
  }

  /// What was written as the device that this machine was stands here as written by the one that it is.
  mutating func rename(_ rivals: [RecordEntry]) {
    manifest.replaceRivals(rivals)
    changes.note(rivals.lazy.map(\.record))
  }

  /// Takes this entry whatever is known of its record.
  mutating func replace(by entry: RecordEntry) {
    manifest.replace(entry)
    changes.note(CollectionOfOne(entry.record))
  }

  /// Forgets records of which nothing is to be had any more.
  mutating func drop(_ records: Set<RecordID>) {
    manifest.remove(records)
    changes.note(records)
  }

  mutating func reserveCapacity(_ count: Int) { manifest.reserveCapacity(count) }

  /// Looks anew for records that cannot show where their parent link says: devices that moved and deleted at once
  /// leave such. They show directly in the member. O(records).
  ///
  /// - Returns: Those that are displaced now and were not, or the other way round.
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
  /// Joins entries into it, as `MemberState.take`.
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
  /// Runs `body` with the records as whoever holds `heads` knows them: those that are being read anew, which nobody sees
  /// before they are whole, or else those that everyone sees.
  func withRecords<Value>(_ heads: HeadsState, _ body: (borrowing Manifest) -> Value) -> Value {
    if let records = heads.recordsReadAnew { return body(records) }
    return state.withLock { body($0.manifest) }
  }

  /// Joins what others have written into what whoever holds `heads` knows. Who follows the changes hears of what is read anew
  /// when it is seen.
  ///
  /// - Returns: The records whose entries changed, as often as they did.
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
