/// The newest register that this machine has seen of everyone.
package struct Watermarks: Hashable, Sendable {
  package var marks: [Watermark]
  package var unknown: UnknownFields

  package init(
    marks: [Watermark] = [],
    unknown: UnknownFields = .none
  ) {
    self.marks = marks
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "watermarks"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_Watermarks) throws(ModelError) {
    marks = try message.marks.map { (mark) throws(ModelError) in try Watermark(mark) }
    unknown = message.unknown
  }

  var message: Kinvault_V1_Watermarks {
    var message = Kinvault_V1_Watermarks()
    message.marks = marks.map(\.message)
    message.unknown = unknown
    return message
  }
}

/// The newest file seen of one register. An older one is a rollback.
package struct Watermark: Hashable, Sendable {
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

  init(_ message: Kinvault_V1_Watermark) throws(ModelError) {
    path = try VaultPath(stored: message.path)
    counter = message.counter
    hash = try message.hash.id("hash")
    floor = message.floor
    unknown = message.unknown
  }

  var message: Kinvault_V1_Watermark {
    var message = Kinvault_V1_Watermark()
    message.path = path.string
    message.counter = counter
    message.hash = hash.data
    message.floor = floor
    message.unknown = unknown
    return message
  }
}

extension VaultPath {
  fileprivate init(stored text: String) throws(ModelError) {
    guard let path = VaultPath(parsing: text) else {
      throw .malformed(what: "watermark", reason: "its path is not one of the vault's")
    }
    self = path
  }
}
