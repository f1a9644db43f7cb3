/// The newest register that this machine has seen of everyone.
package struct Watermarks: Hashable, WireMessage {
  package var marks: [Watermark]
  package var unknown: UnknownFields

  package init(
    marks: [Watermark] = [],
    unknown: UnknownFields = .none
  ) {
    self.marks = marks
    self.unknown = unknown
  }

  package static let what: StaticString = "watermarks"
  package static let blank = Watermarks()
  /// Of any size, other than messages that somebody else has written: whoever may write can have any number of devices, and a
  /// machine that could not read what it has seen of them would open the vault no more.
  package static let byteLimit = Int.max

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.messages(1, &marks, "marks")
    fields.unknown(&unknown)
  }
}

/// The newest file seen of one register. An older one is a rollback.
package struct Watermark: Hashable, WireMessage {
  package var path: VaultPath
  package var counter: UInt64
  /// SHA-256 of the file.
  package var hash: FileHash
  /// Own registers: no counter up to this one may be used again.
  package var floor: UInt64
  package var unknown: UnknownFields

  package init(
    path: VaultPath,
    counter: UInt64,
    hash: FileHash,
    floor: UInt64 = 0,
    unknown: UnknownFields = .none
  ) {
    self.path = path
    self.counter = counter
    self.hash = hash
    self.floor = floor
    self.unknown = unknown
  }

  package static let what: StaticString = "watermark"
  package static let blank = Watermark(path: .vault, counter: 0, hash: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.path(1, &path, "path")
    try fields.number(2, &counter, "counter")
    try fields.id(3, &hash, "hash")
    try fields.number(4, &floor, "floor")
    fields.unknown(&unknown)
  }
}
