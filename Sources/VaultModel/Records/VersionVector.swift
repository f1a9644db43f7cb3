/// For each device, the counter of the head in which it last wrote a record: what a revision knows.
///
/// `Docs/Format.md` section 9. Most records are written by one device only, and then the vector
/// stands in the value itself, without an allocation.
package struct VersionVector: Hashable, Sendable {
  package struct Entry: Hashable, Sendable, BitwiseCopyable {
    package let device: DeviceID
    package let counter: UInt64

    package init(device: DeviceID, counter: UInt64) {
      self.device = device
      self.counter = counter
    }
  }

  package enum Order: Hashable, Sendable {
    case equal
    /// The left one knows all that the right one knows, and more.
    case dominates
    /// The right one knows all that the left one knows, and more.
    case dominated
    /// Each knows something that the other does not.
    case concurrent
  }

  // Canonical, so that equality of the storage is equality of the vectors: no counter is zero, and
  // `many` is sorted by device and has two entries or more.
  private enum Storage: Hashable, Sendable {
    case none
    case one(Entry)
    case many([Entry])
  }

  private var storage: Storage

  package init() { storage = .none }

  package init(device: DeviceID, counter: UInt64) {
    self.init(canonical: counter == 0 ? [] : [Entry(device: device, counter: counter)])
  }

  /// The vector with these entries, of which none may name a device twice.
  init(_ entries: [Entry]) {
    self.init(canonical: entries.filter { $0.counter != 0 }.sorted { $0.device < $1.device })
  }

  private init(canonical entries: [Entry]) {
    switch entries.count {
    case 0: storage = .none
    case 1: storage = .one(entries[0])
    default: storage = .many(entries)
    }
  }

  /// Sorted by device; devices whose counter is zero are left out.
  package var entries: [Entry] {
    switch storage {
    case .none: []
    case .one(let entry): [entry]
    case .many(let entries): entries
    }
  }

  /// The entries of all devices but this one. Allocates nothing where there are none.
  func entries(but device: DeviceID) -> [Entry] {
    switch storage {
    case .none: []
    case .one(let entry): entry.device == device ? [] : [entry]
    case .many(let entries): entries.filter { $0.device != device }
    }
  }

  package var isEmpty: Bool { storage == .none }

  /// Whether it names no more devices than a reader takes. What joins or goes on from vectors that do may name more.
  package var isReadable: Bool {
    if case .many(let entries) = storage { entries.count <= Limits.versionDevices } else { true }
  }

  /// The counter of a device; zero for one that never wrote the record.
  package subscript(device: DeviceID) -> UInt64 {
    get {
      switch storage {
      case .none: 0
      case .one(let entry): entry.device == device ? entry.counter : 0
      case .many(let entries): entries.first { $0.device == device }?.counter ?? 0
      }
    }
    set {
      let others = entries.filter { $0.device != device }
      self = VersionVector(others + [Entry(device: device, counter: newValue)])
    }
  }

  package func compare(to other: VersionVector) -> Order {
    if case .one(let left) = storage, case .one(let right) = other.storage {
      guard left.device == right.device else { return .concurrent }
      if left.counter == right.counter { return .equal }
      return left.counter > right.counter ? .dominates : .dominated
    }
    var (isAhead, isBehind) = (false, false)
    VersionVector.walk(self, other) { _, left, right in
      if left > right { isAhead = true }
      if left < right { isBehind = true }
    }
    return switch (isAhead, isBehind) {
    case (false, false): .equal
    case (true, false): .dominates
    case (false, true): .dominated
    case (true, true): .concurrent
    }
  }

  /// The vector with what one device wrote above a counter as written by another one. Docs/Format.md, "Lines".
  package func renaming(_ device: DeviceID, above: UInt64, to other: DeviceID) -> VersionVector {
    let counter = self[device]
    guard counter > above else { return self }
    var result = self
    result[device] = above
    result[other] = max(result[other], counter)
    return result
  }

  /// The vector of what both know together: the greater counter of each device.
  package func joined(with other: VersionVector) -> VersionVector {
    var result: [Entry] = []
    VersionVector.walk(self, other) { device, left, right in
      result.append(Entry(device: device, counter: max(left, right)))
    }
    return VersionVector(canonical: result)
  }

  /// Calls `body` with both counters of every device that either names, in order of device.
  private static func walk(
    _ left: VersionVector, _ right: VersionVector, _ body: (DeviceID, UInt64, UInt64) -> Void
  ) {
    let (lefts, rights) = (left.entries, right.entries)
    var (atLeft, atRight) = (0, 0)
    while atLeft < lefts.count || atRight < rights.count {
      if atRight == rights.count
        || atLeft < lefts.count && lefts[atLeft].device < rights[atRight].device
      {
        body(lefts[atLeft].device, lefts[atLeft].counter, 0)
        atLeft += 1
      } else if atLeft == lefts.count || rights[atRight].device < lefts[atLeft].device {
        body(rights[atRight].device, 0, rights[atRight].counter)
        atRight += 1
      } else {
        body(lefts[atLeft].device, lefts[atLeft].counter, rights[atRight].counter)
        atLeft += 1
        atRight += 1
      }
    }
  }
}

/// A version that is begun anew. Docs/Format.md, "Very many devices".
///
/// Whoever may write can have a version name as many devices as a reader takes, and nobody could change the record any more.
extension VersionVector {
  /// Whether it names more devices than a writer says again.
  package var isCrowded: Bool {
    guard case .many(let entries) = storage else { return false }
    return entries.count > Limits.versionDevicesKept
  }

  /// The version of a device that goes on from a revision with this one: it names that revision, and others that this one names
  /// so, and of the devices only some, as far as there is room.
  ///
  /// - Parameter count: How many versions share the room, since they are to be joined; 1 or more.
  package func begunAnew(
    over revision: ContentDigest, by own: DeviceID, oneOf count: Int = 1,
    keeping isKept: (DeviceID) -> Bool
  ) -> VersionVector {
    let others = entries.filter { $0.device != own }
    let devices = others.filter { !$0.device.standsForRevision && isKept($0.device) }
    let revisions = others.filter(\.device.standsForRevision)
    let room = Limits.versionDevicesKept / 4 / count
    return VersionVector(
      Array(devices.prefix(2 * room)) + Array(revisions.prefix(room)) + [
        Entry(device: own, counter: self[own]),
        Entry(device: DeviceID(standingFor: revision), counter: 1),
      ])
  }

  /// Whether it names revisions instead of what these knew.
  package var isBegunAnew: Bool {
    switch storage {
    case .none: false
    case .one(let entry): entry.device.standsForRevision
    case .many(let entries): entries[0].device.standsForRevision
    }
  }

  /// Whether it names this revision, and so knows all that this one did.
  package func names(_ revision: ContentDigest) -> Bool {
    isBegunAnew && self[DeviceID(standingFor: revision)] > 0
  }
}

extension DeviceID {
  /// What stands for a revision in a version: no device has such an id. It comes before all devices.
  init(standingFor revision: ContentDigest) {
    let zeros = [UInt8](repeating: 0, count: 8)
    guard let id = DeviceID(zeros + Array(revision.bytes.prefix(24))) else {
      preconditionFailure("an id has 32 bytes")
    }
    self = id
  }

  /// Whether it is none, and stands for a revision in a version.
  package var standsForRevision: Bool { firstWord == 0 }
}

extension VersionVector {
  /// Decoded entries as a vector; throws when they name a device twice or are too many.
  init(decoded entries: [Entry], _ reader: borrowing WireReader) throws(ModelError) {
    try Limits.check(entries.count, Limits.versionDevices, "number of devices in a version")
    self.init(entries)
    for (entry, next) in zip(self.entries, self.entries.dropFirst())
    where entry.device == next.device {
      throw reader.malformed("a version names a device twice")
    }
  }
}
