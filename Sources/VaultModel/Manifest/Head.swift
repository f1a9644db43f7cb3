/// The newest state of one device's manifest of one member; sealed in the device's head register.
package struct Head: Hashable, WireMessage {
  /// What this device has seen of another one.
  package struct Cover: Hashable, WireMessage {
    package var device: DeviceID
    package var counter: UInt64
    package var headHash: FileHash
    package var unknown: UnknownFields

    package init(
      device: DeviceID, counter: UInt64, headHash: FileHash, unknown: UnknownFields = .none
    ) {
      self.device = device
      self.counter = counter
      self.headHash = headHash
      self.unknown = unknown
    }

    package static let what: StaticString = "cover"
    package static let blank = Cover(device: .zero, counter: 0, headHash: .zero)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &device, "device")
      try fields.number(2, &counter, "counter")
      try fields.id(3, &headHash, "head hash")
      fields.unknown(&unknown)
    }
  }

  /// Up to which of its redo records a process's edits are part of the manifest.
  package struct Redone: Hashable, WireMessage {
    package var writer: RedoWriterID
    package var sequence: UInt64

    package init(writer: RedoWriterID, sequence: UInt64) {
      self.writer = writer
      self.sequence = sequence
    }

    package static let what: StaticString = "redone"
    package static let blank = Redone(writer: .zero, sequence: 0)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &writer, "writer")
      try fields.number(2, &sequence, "sequence")
    }
  }

  /// What its device has taken over from a device that it was before: Docs/Format.md, "Lines".
  package struct Branch: Hashable, WireMessage {
    package var device: DeviceID
    /// What that one wrote in this line above this counter counts as written by the head's device.
    package var above: UInt64

    package init(device: DeviceID, above: UInt64) {
      self.device = device
      self.above = above
    }

    package static let what: StaticString = "branch"
    package static let blank = Branch(device: .zero, above: 0)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &device, "device")
      try fields.number(2, &above, "above")
    }
  }

  /// A line of a device that another one has taken over: what that one says in `branches`, for when its own head is gone.
  package struct Retold: Hashable, WireMessage {
    package var device: DeviceID
    /// What the heads in `marks` say that `device` wrote above this counter counts as written by `by`.
    package var above: UInt64
    /// The device that has taken the line over.
    package var by: DeviceID
    /// Heads of `device` in that line, all above the counter.
    package var marks: [HeadMark]

    package init(device: DeviceID, above: UInt64, by: DeviceID, marks: [HeadMark]) {
      self.device = device
      self.above = above
      self.by = by
      self.marks = marks
    }

    package static let what: StaticString = "retold"
    package static let blank = Retold(device: .zero, above: 0, by: .zero, marks: [])

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &device, "device")
      try fields.number(2, &above, "above")
      try fields.id(3, &by, "by")
      var bytes = SegmentLineage(device: device, marks: marks).encodedMarks
      let limit = Limits.retoldMarks * SegmentLineage.markByteCount
      try fields.bytes(4, &bytes, "marks", counts: 0...limit)
      guard let read = bytes.withUnsafeBytes({ SegmentLineage.marks($0) }) else {
        throw .malformed(what: "marks", reason: "one is cut short")
      }
      marks = read
    }

    /// Whether this head of a device is one of the line.
    package func has(_ mark: HeadMark, of device: DeviceID) -> Bool {
      device == self.device && mark.counter > above && marks.contains(mark)
    }
  }

  /// A head of another line of a device than the one that this head follows.
  package struct Stray: Hashable, WireMessage {
    package var device: DeviceID
    package var counter: UInt64
    package var headHash: FileHash
    /// The counter of the last head that both lines share.
    package var above: UInt64

    package init(device: DeviceID, counter: UInt64, headHash: FileHash, above: UInt64) {
      self.device = device
      self.counter = counter
      self.headHash = headHash
      self.above = above
    }

    package static let what: StaticString = "stray"
    package static let blank = Stray(device: .zero, counter: 0, headHash: .zero, above: 0)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &device, "device")
      try fields.number(2, &counter, "counter")
      try fields.id(3, &headHash, "head hash")
      try fields.number(4, &above, "above")
    }
  }

  /// How far a device's counter had come, as far as the writer knows, of which it names no such head.
  package struct Reached: Hashable, WireMessage {
    package var device: DeviceID
    package var counter: UInt64

    package init(device: DeviceID, counter: UInt64) {
      self.device = device
      self.counter = counter
    }

    package static let what: StaticString = "reached"
    package static let blank = Reached(device: .zero, counter: 0)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &device, "device")
      try fields.number(2, &counter, "counter")
    }
  }

  /// What the head's writer calls somebody.
  package struct Name: Hashable, WireMessage {
    package var person: PersonID
    package var name: String

    package init(person: PersonID, name: String) {
      self.person = person
      self.name = name
    }

    package static let what: StaticString = "name"
    package static let blank = Name(person: .zero, name: "")

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.id(1, &person, "person")
      try fields.text(2, &name, "name", limit: Limits.nameBytes)
    }
  }

  /// The key of another epoch's journal, under the key of this one's.
  package struct PastJournal: Hashable, WireMessage {
    /// 40 bytes.
    package var wrapped: [UInt8]

    package init(wrapped: [UInt8]) { self.wrapped = wrapped }

    package static let what: StaticString = "wrapped key"
    package static let blank = PastJournal(wrapped: [])

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      try fields.bytes(1, &wrapped, "wrapped key", exactly: KeySize.wrappedKey)
    }
  }

  /// Whether openings of files are noted in the member's journal, as an owner has said.
  package struct Reads: Hashable, WireMessage {
    package var areNoted: Bool
    /// Milliseconds since 1970.
    package var time: UInt64
    /// The owner who said so.
    package var person: PersonID

    package init(areNoted: Bool, time: UInt64, person: PersonID) {
      self.areNoted = areNoted
      self.time = time
      self.person = person
    }

    package static let what: StaticString = "journal reads"
    package static let blank = Reads(areNoted: false, time: 0, person: .zero)

    package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
      var noted: UInt64 = areNoted ? 1 : 2
      try fields.number(1, &noted, "noted") { number in
        1...2 ~= number ? nil : .malformed(what: "journal reads", reason: "it says neither")
      }
      areNoted = noted == 1
      try fields.time(2, &time, "time")
      try fields.id(3, &person, "person")
    }
  }

  /// Segments that together hold every record.
  package var checkpoint: [ContentDigest]
  /// Segments after it, oldest first.
  package var deltas: [ContentDigest]
  package var cover: [Cover]
  /// When it was committed.
  package var time: HybridTime
  /// The `Announcement` of what the device means to remove.
  package var announcement: ContentDigest?
  /// The counter of the head that first carried the announcement; zero without one.
  package var announcedAt: UInt64
  /// Of each process of this device that has redo files.
  package var redone: [Redone]
  package var branches: [Branch]
  package var strays: [Stray]
  /// Heads that those in `cover` go on from, of devices that have none there: the writer has not read them.
  package var heard: [Cover]
  /// Of people who have access to the member.
  package var names: [Name]
  /// Of devices that `cover` and `heard` say less of.
  package var reached: [Reached]
  /// Lists of what devices had signed that their people have left out.
  package var authored: [ContentDigest]
  /// Of every other epoch that the writer has a journal's key of.
  package var journals: [PastJournal]
  /// Of an owner's head; nil where no owner has said anything.
  package var reads: Reads?
  /// Late heads of which everything is under the keys of this head's epoch, whoever put it there.
  package var takenOver: [Cover]
  /// Lines of devices that others have taken over, whoever said so first.
  package var retold: [Retold]
  package var unknown: UnknownFields

  /// Every head that it goes on from, whoever read it.
  package var basis: [Cover] { cover + heard }

  /// Every segment that it names.
  package var segments: [ContentDigest] { checkpoint + deltas }

  package init(
    checkpoint: [ContentDigest] = [], deltas: [ContentDigest] = [], cover: [Cover] = [],
    time: HybridTime = .zero, announcement: ContentDigest? = nil, announcedAt: UInt64 = 0,
    redone: [Redone] = [], branches: [Branch] = [], strays: [Stray] = [], heard: [Cover] = [],
    names: [Name] = [], reached: [Reached] = [],
    authored: [ContentDigest] = [], journals: [PastJournal] = [], reads: Reads? = nil,
    takenOver: [Cover] = [], retold: [Retold] = [], unknown: UnknownFields = .none
  ) {
    self.checkpoint = checkpoint
    self.deltas = deltas
    self.cover = cover
    self.time = time
    self.announcement = announcement
    self.announcedAt = announcedAt
    self.redone = redone
    self.branches = branches
    self.strays = strays
    self.heard = heard
    self.names = names
    self.reached = reached
    self.authored = authored
    self.journals = journals
    self.reads = reads
    self.takenOver = takenOver
    self.retold = retold
    self.unknown = unknown
  }

  package static let what: StaticString = "head"
  package static let blank = Head()

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.ids(1, &checkpoint, "checkpoint")
    try fields.ids(2, &deltas, "deltas")
    try fields.messages(3, &cover, "cover", limit: Limits.headDevices)
    try fields.time(4, &time, "time")
    try fields.id(5, &announcement, "announcement")
    try fields.number(6, &announcedAt, "announced at")
    try fields.messages(7, &redone, "redone")
    try fields.messages(8, &branches, "branches", limit: Limits.headDevices)
    try fields.messages(9, &strays, "strays", limit: Limits.headDevices)
    try fields.messages(10, &names, "names", limit: Limits.headNames)
    try fields.messages(11, &heard, "heard", limit: Limits.headHeard)
    try fields.messages(12, &reached, "reached", limit: Limits.headHeard)
    try fields.ids(13, &authored, "authored", limit: Limits.headLists, isAscending: false)
    try fields.messages(14, &journals, "journals", limit: Limits.headJournals)
    var said = reads.map { [$0] } ?? []
    try fields.messages(15, &said, "reads", limit: 1)
    reads = said.first
    try fields.messages(16, &takenOver, "taken over", limit: Limits.headHeard)
    try fields.messages(17, &retold, "retold", limit: Limits.headRetold)
    fields.unknown(&unknown)
  }
}

extension Head {
  /// Whether its writer had read this head of another device, or one that came after it.
  package func covers(_ device: DeviceID, upTo counter: UInt64) -> Bool {
    cover.contains { $0.device == device && $0.counter >= counter }
  }

  /// Whether everything of this head of another epoch is under the keys of the epoch that this one is of: its writer had
  /// read that and took it over, or took over what somebody else had.
  package func takesOver(_ device: DeviceID, upTo counter: UInt64) -> Bool {
    (cover + takenOver).contains { $0.device == device && $0.counter >= counter }
  }
}
