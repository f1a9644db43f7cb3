import VaultErrors
import VaultModel

/// What this process knows of one member's records, as one value: whoever asks sees one moment of it.
///
/// Only who holds `Member.heads` brings it further. It is held for memory accesses alone: a snapshot that outlives them
/// would make the next change copy every record.
struct MemberState: Sendable {
  var manifest = Manifest()
  /// Live records that show in the root instead of where their parent link says; seldom any.
  private(set) var displaced: Set<RecordID> = []
  /// What changed since somebody took it; nil until somebody wants to know.
  private(set) var changes: Set<RecordID>?
  /// Records whose entries changed since somebody began to look through everything; nil before.
  var touched: Set<RecordID>?
  /// Whether some head that counts is of another epoch than the current one.
  var hasLateHeads = false
  /// Whether the file of this device's head, when it was first read, was of another line than this machine has written.
  var isApartFromFile = false
  /// What keeps this member from being written; set while opening.
  var damage: VaultError?
  var replaced = ReplacedObjects()
  var lastLookForOldObjects: Member.OldObjectLook?

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
  mutating func take(_ entries: [RecordEntry]) {
    let changed = manifest.take(entries)
    touched?.formUnion(changed)
  }

  /// Everything was read anew.
  ///
  /// - Parameter changed: The records whose entries are others now.
  mutating func take(_ anew: Manifest, changed: Set<RecordID>) {
    manifest = anew
    touched?.formUnion(changed)
    note(changed.union(findDisplaced()))
  }

  /// Notes what others have changed, for whoever takes the changes.
  mutating func note(_ records: Set<RecordID>) { changes?.formUnion(records) }

  /// From now on gathers what others change.
  mutating func trackChanges() { changes = changes ?? [] }

  /// What others changed since the last call.
  mutating func takeChanges() -> Set<RecordID> {
    guard let taken = changes else { return [] }
    changes = []
    return taken
  }

  /// Looks anew for records that cannot show where their parent link says: devices that moved and deleted at once
  /// leave such. They show directly in the member. O(records).
  ///
  /// - Returns: Those that are displaced now and were not, or the other way round.
  @discardableResult
  mutating func findDisplaced() -> Set<RecordID> {
    let found = Set(manifest.displaced)
    defer { displaced = found }
    return displaced.symmetricDifference(found)
  }

  /// `findDisplaced` after a commit of this device wrote these records, if one of them can have displaced something: its
  /// author need not have known what others had put there.
  mutating func findDisplaced(afterWriting written: [RecordEntry]) -> Set<RecordID> {
    let mayDiffer = !displaced.isEmpty || written.contains { manifest.mayDisplace($0) }
    return mayDiffer ? findDisplaced() : []
  }
}

extension Manifest {
  /// Joins entries into it.
  ///
  /// - Parameters:
  ///   - late: The epoch of the head that has them, where it is not the current one.
  ///   - note: Called with each that changed what is known.
  /// - Returns: The records whose entries changed, as often as they did.
  mutating func take(
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
  func withRecords<Value>(
    _ heads: inout HeadsState, _ body: (inout Manifest) -> Value
  ) -> Value {
    guard var records = heads.recordsReadAnew.take() else {
      return state.withLock { body(&$0.manifest) }
    }
    defer { heads.recordsReadAnew = records }
    return body(&records)
  }

  /// Notes records whose entries changed, for whoever looks through everything; of those that are read anew it is noted
  /// when they are seen.
  func note(touched records: [RecordID], _ heads: HeadsState) {
    guard heads.recordsReadAnew == nil, !records.isEmpty else { return }
    state.withLock { $0.touched?.formUnion(records) }
  }
}
