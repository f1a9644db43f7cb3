/// Whose a revision is (section 8 of the format).
struct RevisionJudge {
  enum Whose: Hashable {
    case signed(device: [UInt8], person: [UInt8], Standing)
    case joined
    case brought
  }

  /// What a right signature is worth: of a device that was left out it counts if its person listed the revision.
  enum Standing: Hashable {
    case counts, listed, unlisted
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
    var standing = Standing.counts
    if !person.counting.contains(certificate) {
      standing = try isListed(([4] + bytes).sha256, by: person) ? .listed : .unlisted
    }
    return .signed(device: try PublicPerson.device(of: known), person: person.id, standing)
  }

  /// Whether a counting closing of the person names a list of this member that has the revision.
  private func isListed(_ digest: [UInt8], by person: PublicPerson) throws -> Bool {
    for list in try person.closings.values.flatMap({ try $0.all(9) }) where reader.has(list) {
      let revisions = try WireMessage(try reader.object(list, .authored)).all(1)
      for (one, next) in zip(revisions, revisions.dropFirst()) {
        try Refused.unless(one.lexicographicallyPrecedes(next), "a list out of order")
      }
      if revisions.contains(digest) { return true }
    }
    return false
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
    return try areRivals(parts[0], parts[1]) && RevisionJoin(parts[0], parts[1]).bytes == bytes
  }

  /// Whether neither has seen the other, or what one of them was joined from last had not.
  private func areRivals(_ a: RevisionJoin.Part, _ b: RevisionJoin.Part) throws -> Bool {
    if try areConcurrent(a.message, b.message) { return true }
    for (join, other) in [(a.message, b.message), (b.message, a.message)] where !join.has(19) {
      let parts = try join.all(7)
      guard parts.count == 2, parts.allSatisfy(reader.has) else { continue }
      for part in parts {
        if try areConcurrent(WireMessage(reader.object(part, .record)), other) { return true }
      }
    }
    return false
  }

  private func areConcurrent(_ a: WireMessage, _ b: WireMessage) throws -> Bool {
    func version(_ revision: WireMessage) throws -> [[UInt8]: UInt64] {
      Dictionary(
        try revision.messages(4).map { (try $0.bytes(1), try $0.number(2)) }, uniquingKeysWith: max)
    }
    let (one, other) = (try version(a), try version(b))
    return one.contains { $0.value > other[$0.key, default: 0] }
      && other.contains { $0.value > one[$0.key, default: 0] }
  }
}
