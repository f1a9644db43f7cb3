/// The limits of `Docs/Format.md` section 12 that concern bytes ⇄ values.
package enum Limits {
  package static let nameBytes = 255
  package static let signedFileBytes = 1 << 20
  package static let chunkBytes = 1 << 20
  package static let inlineContentBytes = 4_096
  package static let inlineChunks = 16
  package static let inlinePageBytes = 512
  package static let symlinkTargetBytes = 4_095
  package static let xattrBytes = 1 << 16
  package static let versionDevices = 4_096
  /// Of a version that names more devices than these a writer does not say all again.
  package static let versionDevicesKept = 1_024
  /// Versions of a record that are joined where together they name more than that: one of each, and the device that joins them.
  package static let joinedVersions = versionDevices - 1
  package static let treeDepth = 16
  package static let leafItems = 32
  package static let dateBytes = 32
  package static let checkpointSegmentEntries = 8_192
  package static let segmentMarks = 65_536
  package static let headNames = 64
  /// Journal keys of other epochs in a head.
  package static let headJournals = 256
  /// Slots of an audit segment, and segments that it replaces.
  package static let segmentSlots = 1_024
  package static let replacedSegments = 16_384
  /// Devices in each of a head's lists; and of those that it has only heard of, or knows to have reached a counter.
  package static let headDevices = 4_096
  package static let headHeard = 1_024
  /// Lines that others have taken over, in a head; and heads of each of them.
  package static let headRetold = 64
  package static let retoldMarks = 256
  /// Of these lines, those of one person who does not own the member.
  package static let headRetoldOfPerson = 4
  /// How large a device's personal profile becomes by what removed devices knew; a register has room for as much again.
  package static let profileBytes = 1 << 19
  /// Of that, what is taken over with one removal; and of what a removed device knew, what it knew of one person.
  package static let passedOnBytes = 1 << 16
  package static let acquaintanceBytes = 1_024
  /// Lists of revisions that a head, or a closing, names.
  package static let headLists = 1_024

  /// The greatest number that counts anything: adding to it overflows nothing.
  package static let number: UInt64 = 1 << 62 - 1
  /// The end of the year 9999, in milliseconds since 1970.
  package static let time: UInt64 = 253_402_300_799_999

  /// The next time after one that was read.
  package static func time(after time: UInt64) -> UInt64 { min(time, Self.time - 1) + 1 }

  /// The largest content of an object of this kind.
  package static func contentBytes(of kind: ObjectKind) -> Int {
    switch kind {
    case .chunk, .record: 1 << 20
    case .index: 1 << 16
    case .page, .segment, .authored: 1 << 24
    case .announcement: 1 << 26
    }
  }

  /// Throws `ModelError.limit` when `found` is more than `limit`.
  package static func check(_ found: Int, _ limit: Int, _ what: StaticString) throws(ModelError) {
    guard found <= limit else {
      throw .limit(what: "\(what)", found: found, limit: limit)
    }
  }
}
