import Crypto
import Foundation

/// A person as everyone sees them: closings and certificates, judged as section 17 of the format says, by a machine that
/// remembers nothing.
struct PublicPerson {
  let id: [UInt8]
  /// The closings that count, by id.
  let closings: [[UInt8]: WireMessage]
  /// All that are valid, counting or not.
  let valid: Set<[UInt8]>
  /// Those that count and that none follows which counts.
  let tips: [[UInt8]]
  /// Every certificate that is sound, by id.
  let certificates: [[UInt8]: WireMessage]
  /// Which of them count.
  let counting: Set<[UInt8]>
  /// The key that signs for the person now.
  let lastKey: [UInt8]
  /// The first key, and those that took over from one another.
  let rootKeys: [[UInt8]]

  static func id(rootPublicKey: [UInt8]) -> [UInt8] {
    (Array("kinvault person".utf8) + [0] + rootPublicKey).sha256
  }

  static func device(of certificate: WireMessage) throws -> [UInt8] {
    (Array("kinvault device".utf8) + [0] + (try certificate.bytes(3))
      + (try certificate.bytes(4))).sha256
  }

  /// - Parameters:
  ///   - closings: Their files, by the name that each has.
  ///   - certificates: The same.
  init(
    id: [UInt8], closings: [String: [UInt8]], certificates: [String: [UInt8]],
    primitives: Primitives
  ) throws {
    self.id = id
    var bodies: [[UInt8]: WireMessage] = [:]
    for (name, file) in closings {
      let (statement, body) = try primitives.statement(file, "closing") { try $0.bytes(3) }
      try Refused.unless(try statement.hex == name && body.bytes(1) == id, "a closing's place")
      bodies[statement] = body
    }
    let valid = try Self.valid(bodies, of: id, primitives)
    rootKeys = try Self.keys(of: valid, of: id)
    guard let last = rootKeys.last else { throw Refused("no root key") }
    lastKey = last
    var counting: Set<[UInt8]> = []
    var open = try valid.filter { try $0.value.bytes(3) == last }.map(\.key)
    while let next = open.popLast() {
      if counting.insert(next).inserted { open += try valid[next]?.all(2) ?? [] }
    }
    self.valid = Set(valid.keys)
    self.closings = valid.filter { counting.contains($0.key) }
    let followed = Set(try self.closings.values.flatMap { try $0.all(2) })
    tips = counting.subtracting(followed).sorted { $0.lexicographicallyPrecedes($1) }
    self.certificates = try Self.sound(certificates, of: id, valid, primitives)
    self.counting = try Self.counting(self.certificates, closings: self.closings, tips: tips)
  }

  /// The only open generation.
  var generation: [UInt8] {
    get throws {
      try Refused.unless(tips.count == 1, "\(tips.count) open generations")
      return tips[0]
    }
  }

  func agreementPublicKey(generation: [UInt8]) throws -> [UInt8] {
    guard let closing = closings[generation] else { throw Refused("generation \(generation.hex)") }
    return try closing.bytes(5)
  }

  /// The signing key of a certificate by which the statement stands.
  func signer(_ certificate: [UInt8], of statement: [UInt8]) throws -> [UInt8] {
    try Refused.unless(
      try stands(statement, by: certificate), "a device that counts no more")
    return try key(of: certificate)
  }

  /// Whether the device counts, or a closing lists the statement.
  func stands(_ statement: [UInt8], by certificate: [UInt8]) throws -> Bool {
    let isListed = try closings.values.contains { try $0.all(8).contains(statement) }
    return counting.contains(certificate) || isListed
  }

  /// Whether a closing takes the leaving back, and none lists it.
  func hasRetracted(_ leaving: [UInt8]) throws -> Bool {
    let isListed = try closings.values.contains { try $0.all(8).contains(leaving) }
    return try !isListed && closings.values.contains { try $0.all(12).contains(leaving) }
  }

  /// The signing key of a certificate.
  func key(of certificate: [UInt8]) throws -> [UInt8] {
    guard let known = certificates[certificate] else { throw Refused("no such certificate") }
    return try known.bytes(3)
  }

  // MARK: Closings

  private static func valid(
    _ closings: [[UInt8]: WireMessage], of person: [UInt8], _ primitives: Primitives
  ) throws -> [[UInt8]: WireMessage] {
    var valid: [[UInt8]: WireMessage] = [:]
    var replaced: [[UInt8]: Set<[UInt8]>] = [:]
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for (statement, closing) in closings where valid[statement] == nil {
        let follows = try closing.all(2)
        guard follows.allSatisfy({ valid[$0] != nil }) else { continue }
        let key = try closing.bytes(3)
        let endorsements = try closing.messages(4)
        let old = Set(follows.flatMap { replaced[$0] ?? [] })
        let endorsing = Set(try endorsements.map { try $0.bytes(1) })
        if follows.isEmpty {
          guard endorsements.isEmpty, id(rootPublicKey: key) == person else { continue }
        } else {
          let keys = Set(try follows.compactMap { try valid[$0]?.bytes(3) })
          let all = old.union(endorsing)
          guard !old.contains(key), endorsing.isSubset(of: keys), !endorsing.contains(key),
            keys.allSatisfy({ $0 == key || all.contains($0) }),
            keys.contains(key) || !keys.isDisjoint(with: endorsing)
          else { continue }
          for endorsement in endorsements {
            let from = try endorsement.bytes(1)
            try Refused.unless(
              primitives.isSigned(
                "successor", person + from + key, try endorsement.bytes(2), by: from),
              "an endorsement")
          }
        }
        valid[statement] = closing
        replaced[statement] = old.union(endorsing)
        isGrowing = true
      }
    }
    return valid
  }

  /// The first key and those that took over, where each had one successor only.
  private static func keys(
    of closings: [[UInt8]: WireMessage], of person: [UInt8]
  ) throws -> [[UInt8]] {
    guard let first = try closings.values.first(where: { try $0.all(2).isEmpty })?.bytes(3) else {
      throw Refused("no first closing")
    }
    var keys = [first]
    while true {
      var next: Set<[UInt8]> = []
      for closing in closings.values {
        for endorsement in try closing.messages(4)
        where try endorsement.bytes(1) == keys[keys.count - 1] {
          next.insert(try closing.bytes(3))
        }
      }
      if next.isEmpty { return keys }
      guard next.count == 1, let new = next.first, !keys.contains(new) else {
        throw Refused("a person whose words are contested")
      }
      keys.append(new)
    }
  }

  // MARK: Certificates

  private static func sound(
    _ files: [String: [UInt8]], of person: [UInt8], _ closings: [[UInt8]: WireMessage],
    _ primitives: Primitives
  ) throws -> [[UInt8]: WireMessage] {
    var sound: [[UInt8]: WireMessage] = [:]
    var waiting = files
    while !waiting.isEmpty {
      let before = waiting.count
      for (name, file) in waiting {
        let body = try WireMessage(try WireMessage(file).bytes(1))
        let approver = try body.bytes(6)
        let key =
          try approver.isEmpty
          ? closings[body.bytes(2)]?.bytes(3) : sound[approver]?.bytes(3)
        guard let key else { continue }
        let (statement, certificate) = try primitives.statement(file, "certificate") { _ in key }
        let consent = person + (try device(of: certificate))
        try Refused.unless(
          try statement.hex == name && certificate.bytes(1) == person
            && primitives.isSigned(
              "device", consent, certificate.bytes(5), by: certificate.bytes(3)),
          "a certificate")
        sound[statement] = certificate
        waiting[name] = nil
      }
      try Refused.unless(waiting.count < before, "a certificate that nobody gave")
    }
    return sound
  }

  private static func counting(
    _ certificates: [[UInt8]: WireMessage], closings: [[UInt8]: WireMessage], tips: [[UInt8]]
  ) throws -> Set<[UInt8]> {
    var counting = Set(certificates.keys)
    for tip in tips {
      var inside = Set(try closings[tip]?.all(7) ?? [])
      var isGrowing = true
      while isGrowing {
        isGrowing = false
        for (id, certificate) in certificates where try certificate.bytes(2) == tip {
          let approver = try certificate.bytes(6)
          guard approver.isEmpty || inside.contains(approver) else { continue }
          if inside.insert(id).inserted { isGrowing = true }
        }
      }
      counting.formIntersection(inside)
    }
    for (id, closing) in closings {
      let stay = Set(try closing.all(7))
      let past = try past(of: id, closings)
      counting = try counting.filter { certificate in
        guard let generation = try certificates[certificate]?.bytes(2) else { return false }
        return !past.contains(generation) || stay.contains(certificate)
      }
    }
    return counting
  }

  private static func past(
    of closing: [UInt8], _ closings: [[UInt8]: WireMessage]
  ) throws -> Set<[UInt8]> {
    var past: Set<[UInt8]> = []
    var open = try closings[closing]?.all(2) ?? []
    while let next = open.popLast() {
      if past.insert(next).inserted { open += try closings[next]?.all(2) ?? [] }
    }
    return past
  }
}

extension Primitives {
  /// The id and body of a statement, after its signature has been checked ("Statements").
  func statement(
    _ file: [UInt8], _ label: String, signer: (WireMessage) throws -> [UInt8]
  ) throws -> (id: [UInt8], body: WireMessage) {
    let envelope = try WireMessage(file)
    let bytes = try envelope.bytes(1)
    let body = try WireMessage(bytes)
    try Refused.unless(
      try isSigned(label, bytes, envelope.bytes(2), by: signer(body)), "a \(label)'s signature")
    return (message(label, bytes).sha256, body)
  }

  func isSigned(
    _ label: String, _ body: [UInt8], _ signature: [UInt8], by key: [UInt8]
  ) throws -> Bool {
    try Curve25519.Signing.PublicKey(rawRepresentation: key)
      .isValidSignature(signature, for: message(label, body))
  }

  private func message(_ label: String, _ body: [UInt8]) -> [UInt8] {
    Array("kinvault/2/\(label)".utf8) + [0] + vault + body
  }
}
