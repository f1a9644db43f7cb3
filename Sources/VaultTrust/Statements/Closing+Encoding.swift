import VaultModel

extension Closing {
  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(body, what: "closing", limit: StatementLimits.closingBytes) {
      reader throws(ModelError) in try Closing(from: &reader)
    }
  }

  private init(from reader: inout WireReader) throws(ModelError) {
    var person: PersonID?
    var rootKey: VerifyingKey?
    var closing = Closing(person: .zero, rootKey: .zero)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): person = try reader.id("person")
      case .bytes(2):
        try reader.appendAscending(
          to: &closing.follows, limit: StatementLimits.closingFollows, "follows")
      case .bytes(3): rootKey = try reader.id("root public key")
      case .bytes(4):
        try Limits.check(
          closing.endorsements.count + 1, StatementLimits.endorsements, "endorsements")
        var inner = try reader.message("endorsement")
        closing.endorsements.append(try Endorsement(from: &inner))
      case .bytes(5):
        closing.agreementKey = try reader.byteArray(
          limit: StatementLimits.agreementKeyBytes, "agreement public key")
      case .bytes(6):
        closing.recovery = try reader.byteArray(
          limit: StatementLimits.recoveryBytes, "recovery slot")
      case .bytes(7):
        try reader.appendAscending(to: &closing.stay, limit: StatementLimits.staying, "stay")
      case .bytes(8):
        try reader.appendAscending(to: &closing.counted, limit: StatementLimits.counted, "counted")
      case .bytes(9):
        try reader.appendAscending(
          to: &closing.authored, limit: StatementLimits.authored, "authored")
      case .bytes(10):
        try Limits.check(closing.past.count + 1, StatementLimits.closingFollows, "past keys")
        closing.past.append(try reader.byteArray(limit: 64, "past key"))
      case .varint(11): closing.time = try reader.time()
      default: _ = try reader.skip(tag)
      }
    }
    closing.person = try reader.required(person, "person")
    closing.rootKey = try reader.required(rootKey, "root public key")
    self = closing
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, person)
    for id in follows { writer.elementID(2, id) }
    writer.id(3, rootKey)
    for endorsement in endorsements {
      writer.message(4) { writer in
        writer.id(1, endorsement.rootKey)
        writer.bytes(2, endorsement.signature)
      }
    }
    writer.bytes(5, agreementKey)
    writer.bytes(6, recovery)
    for id in stay { writer.elementID(7, id) }
    for id in counted { writer.elementID(8, id) }
    for list in authored { writer.elementID(9, list) }
    for key in past { writer.element(10, key) }
    writer.varint(11, time)
    return writer.bytes
  }
}

extension Closing.Endorsement {
  fileprivate init(from reader: inout WireReader) throws(ModelError) {
    var rootKey: VerifyingKey?
    var signature: [UInt8] = []
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): rootKey = try reader.id("root public key")
      case .bytes(2):
        signature = try reader.byteArray(limit: SignedFile.signatureSize, "signature")
      default: _ = try reader.skip(tag)
      }
    }
    self.init(
      rootKey: try reader.required(rootKey, "root public key"), signature: signature)
  }
}
