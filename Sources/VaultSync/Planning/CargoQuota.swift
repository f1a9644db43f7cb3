/// How many files, and how many bytes.
package struct CargoWeight: Hashable, Sendable {
  package var fileCount: Int
  package var byteCount: UInt64

  package init(fileCount: Int = 0, byteCount: UInt64 = 0) {
    (self.fileCount, self.byteCount) = (fileCount, byteCount)
  }

  /// One file more.
  package mutating func add(byteCount more: UInt64) {
    self += CargoWeight(fileCount: 1, byteCount: more)
  }

  package static func += (left: inout CargoWeight, right: CargoWeight) {
    let files = left.fileCount.addingReportingOverflow(right.fileCount)
    left.fileCount = files.overflow ? .max : files.partialValue
    let bytes = left.byteCount.addingReportingOverflow(right.byteCount)
    left.byteCount = bytes.overflow ? .max : bytes.partialValue
  }

  /// Whether both numbers stay within the other's.
  package func fits(_ room: CargoWeight) -> Bool {
    fileCount <= room.fileCount && byteCount <= room.byteCount
  }

  /// What is left of this when that is taken away; nothing less than nothing.
  package func less(_ taken: CargoWeight) -> CargoWeight {
    CargoWeight(
      fileCount: max(0, fileCount - taken.fileCount),
      byteCount: byteCount > taken.byteCount ? byteCount - taken.byteCount : 0)
  }
}

/// How much a vault's folder holds of people and members that nobody vouches for, in all: Docs/Sync.md, "Strangers".
///
/// A person is some five files of together 10 KiB, a member with a few notes some twenty: a family's friends of friends
/// have room for years, and nobody's disk or backup notices what a store makes up.
package enum CargoQuota {
  package static let limit = CargoWeight(fileCount: 4096, byteCount: 64 << 20)

  /// The order in which folders are taken while there is room.
  static func smallestFirst(
    _ weights: [CargoOwner: CargoWeight]
  ) -> [(owner: CargoOwner, weight: CargoWeight)] {
    weights.map { (owner: $0.key, weight: $0.value) }.sorted {
      ($0.weight.byteCount, $0.weight.fileCount, $0.owner)
        < ($1.weight.byteCount, $1.weight.fileCount, $1.owner)
    }
  }
}
