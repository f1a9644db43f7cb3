import BlobStore
import VaultCrypto
import VaultModel

/// What a process knows of the heads of one member.
struct HeadsState: Sendable {
  var loaded: [DeviceID: LoadedHead] = [:]
  /// The fingerprints of the head files as they were when they were read.
  var seen: [DeviceID: UInt64] = [:]
  var appliedSegments: Set<ObjectName> = []
  /// The deltas of this device's head, with what they hold.
  var ownDeltas: [DeltaPlan.Delta] = []
  var checkpointByteCount = 0
  /// Records learned from other devices that this device's head does not have yet.
  var learned: Set<RecordID> = []
  var lastTime = HybridTime.zero
  /// No counter up to this one may be used by this device.
  var counterFloor: UInt64 = 0
}

extension Member {
  /// Catches up with what other processes and devices have committed.
  ///
  /// Costs one listing of the member's heads when nothing changed.
  ///
  /// - Returns: The records whose entries changed.
  /// - Throws: `rolledBack` when this device's head is older than it was; what reading throws.
  package func refresh() throws(VaultError) -> Set<RecordID> {
    try heads.withLock { (heads) throws(VaultError) in try catchUp(&heads) }
  }

  func catchUp(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    var changed: Set<RecordID> = []
    let folder = register.folder
    let entries = try storing { () throws(BlobStoreError) in try context.store.list(folder) }
    for entry in entries {
      guard let device = DeviceID(hex: entry.name), heads.seen[device] != entry.fingerprint
      else { continue }
      do throws(VaultError) {
        changed.formUnion(try adopt(try loadHead(of: device), &heads))
      } catch {
        // Another device's broken head hides only what that device alone has written.
        if device == context.device.id { throw error }
      }
      heads.seen[device] = entry.fingerprint
    }
    return changed
  }

  /// The head of a device that may be newer than what is known of people.
  private func loadHead(of device: DeviceID) throws(VaultError) -> LoadedHead {
    do throws(VaultError) { return try register.load(device) } catch {
      guard device != context.device.id else { throw error }
      try context.reloadPeople()
      return try register.load(device)
    }
  }

  /// Takes over what a head names, if it is news.
  private func adopt(
    _ head: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) -> Set<RecordID> {
    let isOwn = head.device == context.device.id
    let path = register.path(of: head.device).string
    if let known = heads.loaded[head.device] {
      if known.counter == head.counter {
        guard known.hash == head.hash else { throw .forked(path: path, counter: head.counter) }
        return []
      }
      guard head.counter > known.counter else {
        throw .rolledBack(path: path, found: head.counter, seen: known.counter)
      }
    }
    var deltas: [DeltaPlan.Delta] = []
    var changed: Set<RecordID> = []
    for (name, isDelta) in head.head.checkpoint.map({ ($0, false) })
      + head.head.deltas.map({ ($0, true) })
    {
      if heads.appliedSegments.contains(name), !(isOwn && isDelta) { continue }
      let bytes = try objects.content(name, kind: .segment)
      let entries: [RecordEntry]
      do { entries = try Segment(decoding: bytes).entries } catch {
        throw VaultError(error, path: objects.path(of: name).string)
      }
      changed.formUnion(apply(entries, &heads))
      heads.appliedSegments.insert(name)
      if isDelta {
        deltas.append(
          DeltaPlan.Delta(
            name: name, byteCount: bytes.count, records: Set(entries.map(\.record))))
      } else if isOwn {
        heads.checkpointByteCount = max(heads.checkpointByteCount, bytes.count)
      }
    }
    if isOwn {
      heads.ownDeltas = deltas
      heads.checkpointByteCount = try checkpointByteCount(of: head.head)
    } else {
      heads.learned.formUnion(changed)
    }
    heads.loaded[head.device] = head
    heads.lastTime = max(heads.lastTime, head.head.time)
    return changed
  }

  private func checkpointByteCount(of head: Head) throws(VaultError) -> Int {
    var total = 0
    for name in head.checkpoint {
      let path = objects.path(of: name)
      total += Int(
        clamping: try storing { () throws(BlobStoreError) in try context.store.size(of: path) } ?? 0
      )
    }
    return total
  }

  func apply(_ entries: [RecordEntry], _ heads: inout HeadsState) -> Set<RecordID> {
    var changed: Set<RecordID> = []
    manifest.withLock { manifest in
      for entry in entries {
        heads.lastTime = max(heads.lastTime, entry.time)
        if manifest.apply(entry) != .unchanged { changed.insert(entry.record) }
      }
    }
    return changed
  }

  // MARK: Opening

  /// Reads all heads for the first time, and compares them with what this machine has seen before.
  ///
  /// - Parameter marks: The watermarks, loaded before this call.
  /// - Returns: What was found wrong and can be lived with.
  /// - Throws: `rolledBack` when this device's own head is older than it was, unless
  ///   `acceptsRollback`; then counters go on above everything that was ever used.
  func load(
    marks: Watermarks, acceptsRollback: Bool
  ) throws(VaultError) -> [Problem] {
    var problems: [Problem] = []
    try heads.withLock { (heads) throws(VaultError) in
      let entries = try storing { () throws(BlobStoreError) in
        try context.store.list(register.folder)
      }
      for entry in entries {
        guard let device = DeviceID(hex: entry.name) else {
          problems.append(.foreign(register.folder.appending(entry.name).string))
          continue
        }
        let path = register.path(of: device).string
        do throws(VaultError) {
          let head = try register.load(device)
          _ = try adopt(head, &heads)
        } catch {
          problems.append(Problem(error, path: path))
          if device == context.device.id || heads.loaded[device] == nil {
            damage.withLock { $0 = $0 ?? error }
          }
        }
      }
      try compareWithWatermarks(marks, acceptsRollback, &heads, &problems)
    }
    return problems
  }

  private func compareWithWatermarks(
    _ marks: Watermarks, _ acceptsRollback: Bool, _ heads: inout HeadsState,
    _ problems: inout [Problem]
  ) throws(VaultError) {
    for mark in marks.marks {
      guard case .head(id, let device) = mark.path else { continue }
      let path = mark.path.string
      let isOwn = device == context.device.id
      if isOwn { heads.counterFloor = max(mark.floor, mark.counter) }
      guard let head = heads.loaded[device] else {
        if damage.withLock({ $0 }) == nil, isOwn {
          let error = VaultError.missing(path: path)
          problems.append(Problem(error, path: path))
          damage.withLock { $0 = error }
        }
        continue
      }
      if head.counter < mark.counter {
        let error = VaultError.rolledBack(path: path, found: head.counter, seen: mark.counter)
        guard acceptsRollback else {
          if isOwn, !context.isReadOnly { throw error }
          problems.append(Problem(error, path: path))
          continue
        }
        try context.state.withCommitLock { () throws(VaultError) in
          try context.state.updateWatermarks(durably: true) {
            $0.accept(mark.path, counter: head.counter, hash: head.hash)
          }
        }
      } else if head.counter == mark.counter, head.hash != mark.hash {
        let error = VaultError.forked(path: path, counter: head.counter)
        problems.append(Problem(error, path: path))
        damage.withLock { $0 = $0 ?? error }
      }
    }
  }
}
