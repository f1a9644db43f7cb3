/// Whose a revision is (section 8 of the format).
struct RevisionJudge {
  enum Whose: Hashable {
    case signed(device: [UInt8], person: [UInt8], isRemoved: Bool)
    case joined
    case brought
  }

  let reader: MemberReader
  let people: [[UInt8]: PublicPerson]

  /// Of everything that is kept of every record, deleted ones too, by digest.
  func all() throws -> [[UInt8]: Whose] {
    var found: [[UInt8]: Whose] = [:]
    var waiting = try reader.allEntries().values.map { try $0.bytes(6) }
    while let digest = waiting.popLast() {
      guard found[digest] == nil, reader.has(digest) else { continue }
      let bytes = try reader.object(digest, .record)
      found[digest] = try whose(bytes)
      waiting += try WireMessage(bytes).all(7)
    }
    return found
  }

  /// - Parameter bytes: Of a revision of the reader's member.
  func whose(_ bytes: [UInt8]) throws -> Whose {
    let revision = try WireMessage(bytes)
    let (certificate, signature) = (try revision.bytes(19), try revision.bytes(20))
    if certificate.isEmpty && signature.isEmpty {
      return try isJoin(bytes, revision) ? .joined : .brought
    }
    try Refused.unless(
      certificate.count == 32 && signature.count == 64
        && bytes.suffix(67).starts(with: [0xa2, 0x01, 64]), "half a signature")
    guard let person = people.values.first(where: { $0.certificates[certificate] != nil }),
      let known = person.certificates[certificate]
    else { return .brought }
    let message = try Array(hex: reader.member) + Array(bytes.dropLast(67)).sha256
    guard
      try reader.vault.primitives.isSigned(
        "revision", message, signature, by: known.bytes(3))
    else { return .brought }
    return .signed(
      device: try PublicPerson.device(of: known), person: person.id,
      isRemoved: !person.counting.contains(certificate))
  }

  /// Whether the same bytes come of the two that it names.
  private func isJoin(_ bytes: [UInt8], _ revision: WireMessage) throws -> Bool {
    let previous = try revision.all(7)
    guard previous.count == 2, previous.allSatisfy(reader.has) else { return false }
    let parts = try previous.map { digest in
      let bytes = try reader.object(digest, .record)
      let message = try WireMessage(bytes)
      return RevisionJoin.Part(
        digest: digest, fields: try RawMessage(bytes), message: message,
        items: try reader.encodedItems(of: message))
    }
    guard try parts.allSatisfy({ try $0.message.bytes(1) == revision.bytes(1) }) else {
      return false
    }
    return try RevisionJoin(parts[0], parts[1]).bytes == bytes
  }
}
