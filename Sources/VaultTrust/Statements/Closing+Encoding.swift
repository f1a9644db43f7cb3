import VaultModel

extension Closing: WireMessage {
  package static let what: StaticString = "closing"
  package static let byteLimit = StatementLimits.closingBytes
  package static let blank = Closing(person: .zero, rootKey: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.ids(
      2, &follows, "follows", limit: StatementLimits.closingFollows, isAscending: true)
    try fields.id(3, &rootKey, "root public key")
    try fields.messages(
      4, &endorsements, "endorsements", limit: StatementLimits.endorsements)
    try fields.bytes(
      5, &agreementKey, "agreement public key", counts: 0...StatementLimits.agreementKeyBytes)
    try fields.bytes(6, &recovery, "recovery slot", counts: 0...StatementLimits.recoveryBytes)
    try fields.ids(7, &stay, "stay", limit: StatementLimits.staying, isAscending: true)
    try fields.ids(8, &counted, "counted", limit: StatementLimits.counted, isAscending: true)
    try fields.ids(9, &authored, "authored", limit: StatementLimits.authored, isAscending: true)
    try fields.bytes(
      10, &past, "past keys", limit: StatementLimits.closingFollows, counts: 0...64)
    try fields.time(11, &time, "time")
    try fields.ids(
      12, &retracted, "retracted", limit: StatementLimits.retracted, isAscending: true)
  }
}

extension Closing.Endorsement: WireMessage {
  package static let what: StaticString = "endorsement"
  package static let blank = Closing.Endorsement(rootKey: .zero, signature: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &rootKey, "root public key")
    try fields.bytes(2, &signature, "signature", counts: 0...SignedFile.signatureSize)
  }
}
