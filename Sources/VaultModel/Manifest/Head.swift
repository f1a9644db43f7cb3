/// The newest state of one device's manifest of one member; sealed in the device's head register.
package struct Head: Hashable, Sendable {
  /// What this device has seen of another one.
  package struct Cover: Hashable, Sendable {
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
  }

  /// Up to which of its redo records a process's edits are part of the manifest.
  package struct Redone: Hashable, Sendable {
    package var writer: RedoWriterID
    package var sequence: UInt64

    package init(writer: RedoWriterID, sequence: UInt64) {
      self.writer = writer
      self.sequence = sequence
    }
  }

  /// What its device has taken over from a device that it was before: Docs/Format.md, "Lines".
  package struct Branch: Hashable, Sendable {
    package var device: DeviceID
    /// What that one wrote in this line above this counter counts as written by the head's device.
    package var above: UInt64

    package init(device: DeviceID, above: UInt64) {
      self.device = device
      self.above = above
    }
  }

  /// A head of another line of a device than the one that this head follows.
  package struct Stray: Hashable, Sendable {
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
  }

  /// What the head's writer calls somebody.
  package struct Name: Hashable, Sendable {
    package var person: PersonID
    package var name: String

    package init(person: PersonID, name: String) {
      self.person = person
      self.name = name
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
  package var unknown: UnknownFields

  /// Every head that it goes on from, whoever read it.
  package var basis: [Cover] { cover + heard }

  /// Every segment that it names.
  package var segments: [ContentDigest] { checkpoint + deltas }

  package init(
    checkpoint: [ContentDigest] = [], deltas: [ContentDigest] = [], cover: [Cover] = [],
    time: HybridTime = .zero, announcement: ContentDigest? = nil, announcedAt: UInt64 = 0,
    redone: [Redone] = [], branches: [Branch] = [], strays: [Stray] = [], heard: [Cover] = [],
    names: [Name] = [],
    unknown: UnknownFields = .none
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
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(bytes, what: "head", limit: Limits.signedFileBytes, Head.decode)
  }

  private static func decode(_ reader: inout WireReader) throws(ModelError) -> Head {
    var head = Head()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): head.checkpoint.append(try reader.id("checkpoint"))
      case .bytes(2): head.deltas.append(try reader.id("deltas"))
      case .bytes(3): head.cover.append(try .decode(reader.message("cover")))
      case .varint(4): head.time = HybridTime(rawValue: try reader.varint())
      case .bytes(5): head.announcement = try reader.optionalID("announcement")
      case .varint(6): head.announcedAt = try reader.varint()
      case .bytes(7): head.redone.append(try .decode(reader.message("redone")))
      case .bytes(8): head.branches.append(try .decode(reader.message("branch")))
      case .bytes(9): head.strays.append(try .decode(reader.message("stray")))
      case .bytes(11): head.heard.append(try .decode(reader.message("heard")))
      case .bytes(10):
        head.names.append(try .decode(reader.message("name")))
        try Limits.check(head.names.count, Limits.headNames, "names")
      default: head.unknown.append(try reader.skip(tag))
      }
    }
    try Limits.check(head.cover.count, Limits.headDevices, "cover")
    try Limits.check(head.heard.count, Limits.headHeard, "heard")
    try Limits.check(head.branches.count, Limits.headDevices, "branches")
    try Limits.check(head.strays.count, Limits.headDevices, "strays")
    return head
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    for name in checkpoint { writer.elementID(1, name) }
    for name in deltas { writer.elementID(2, name) }
    for cover in cover { writer.message(3, cover.encode) }
    writer.varint(4, time.rawValue)
    writer.id(5, announcement)
    writer.varint(6, announcedAt)
    for redone in redone { writer.message(7, redone.encode) }
    for branch in branches { writer.message(8, branch.encode) }
    for stray in strays { writer.message(9, stray.encode) }
    for name in names { writer.message(10, name.encode) }
    for cover in heard { writer.message(11, cover.encode) }
    writer.unknown(unknown)
    return writer.bytes
  }
}

extension Head.Cover {
  static func decode(_ reader: WireReader) throws(ModelError) -> Head.Cover {
    var reader = reader
    var device: DeviceID?
    var counter: UInt64 = 0
    var headHash: FileHash?
    var unknown = UnknownFields()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): device = try reader.id("device")
      case .varint(2): counter = try reader.varint()
      case .bytes(3): headHash = try reader.id("head hash")
      default: unknown.append(try reader.skip(tag))
      }
    }
    guard let device, let headHash else {
      throw reader.malformed("the device or the hash is missing")
    }
    return Head.Cover(device: device, counter: counter, headHash: headHash, unknown: unknown)
  }

  func encode(to writer: inout WireWriter) {
    writer.id(1, device)
    writer.varint(2, counter)
    writer.id(3, headHash)
    writer.unknown(unknown)
  }
}

extension Head.Redone {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> Head.Redone {
    var reader = reader
    var writer: RedoWriterID?
    var sequence: UInt64 = 0
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): writer = try reader.id("writer")
      case .varint(2): sequence = try reader.varint()
      default: _ = try reader.skip(tag)
      }
    }
    guard let writer else { throw reader.malformed("the writer is missing") }
    return Head.Redone(writer: writer, sequence: sequence)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, self.writer)
    writer.varint(2, sequence)
  }
}

extension Head.Branch {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> Head.Branch {
    var reader = reader
    var device: DeviceID?
    var above: UInt64 = 0
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): device = try reader.id("device")
      case .varint(2): above = try reader.varint()
      default: _ = try reader.skip(tag)
      }
    }
    guard let device else { throw reader.malformed("the device is missing") }
    return Head.Branch(device: device, above: above)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, device)
    writer.varint(2, above)
  }
}

extension Head.Stray {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> Head.Stray {
    var reader = reader
    var device: DeviceID?
    var hash: FileHash?
    var (counter, above): (UInt64, UInt64) = (0, 0)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): device = try reader.id("device")
      case .varint(2): counter = try reader.varint()
      case .bytes(3): hash = try reader.id("head hash")
      case .varint(4): above = try reader.varint()
      default: _ = try reader.skip(tag)
      }
    }
    guard let device, let hash else {
      throw reader.malformed("the device or the hash is missing")
    }
    return Head.Stray(device: device, counter: counter, headHash: hash, above: above)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, device)
    writer.varint(2, counter)
    writer.id(3, headHash)
    writer.varint(4, above)
  }
}

extension Head.Name {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> Head.Name {
    var reader = reader
    var person: PersonID?
    var name = ""
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): person = try reader.id("person")
      case .bytes(2):
        name = try reader.string("name")
        try Limits.check(name.utf8.count, Limits.nameBytes, "a name")
      default: _ = try reader.skip(tag)
      }
    }
    guard let person else { throw reader.malformed("the person is missing") }
    return Head.Name(person: person, name: name)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, person)
    writer.string(2, name)
  }
}
