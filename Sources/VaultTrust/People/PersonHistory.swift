import VaultModel

/// What follows of all closings of one person: which closings count, which devices stay, and which statements of devices that
/// were left out go on counting. Docs/Format.md, section 17.
///
/// It depends on the person's own statements alone.
package struct PersonHistory: Sendable {
  package let person: PersonID
  /// The closings that count.
  package let counting: Set<StatementID>
  /// The newest closings that count: those that no other closing that counts follows. Sorted by id.
  package let tips: [StatementID]
  /// Every valid closing, those included that do not count.
  package let valid: [StatementID: Closing]
  /// The key that signs for the person now; nil while they are contested.
  package let lastKey: VerifyingKey?
  /// Whether several keys claim to be the person's, and nothing that counted here before tells which of them is.
  package let isContested: Bool
  /// Valid closings that do not count: signed with words that had been replaced.
  package let shadowed: Set<StatementID>
  /// Closings whose past is not here, or that break the rules.
  package let unplaced: Set<StatementID>
  /// The keys that nothing replaces, the one that was made last first. There are several where the words were replaced on machines
  /// that had not met, or by somebody who has found the old ones.
  package let claims: [KeyClaim]
  /// Statements of departing devices that go on counting.
  let listed: Set<StatementID>
  /// Leavings that the person has taken back, and has listed in no closing.
  let retracted: Set<StatementID>
  /// The lists of what departing devices had signed in records.
  let authored: Set<ContentDigest>
  let devices: DeviceStandings
  private let graph: ClosingGraph
  private let certificates: [StatementID: Certificate]
  /// Closings that counted here before.
  private let remembered: Set<StatementID>

  init(
    person: PersonID, closings: [StatementID: Closing], certificates: [StatementID: Certificate],
    in statements: Statements, memory: TrustMemory
  ) {
    let graph = ClosingGraph(person: person, closings: closings, in: statements)
    let keys = RootKeys(graph: graph, memory: memory)
    let remembered = memory.closings.intersection(graph.valid.keys)
    self.init(
      person: person, graph: graph, unplaced: Set(closings.keys).subtracting(graph.valid.keys),
      certificates: certificates, last: keys.last, claims: keys.claims, remembered: remembered,
      counting: keys.counting(in: graph, remembered: remembered))
  }

  private init(
    person: PersonID, graph: ClosingGraph, unplaced: Set<StatementID>,
    certificates: [StatementID: Certificate], last: VerifyingKey?, claims: [KeyClaim],
    remembered: Set<StatementID>, counting: Set<StatementID>
  ) {
    self.person = person
    self.graph = graph
    self.certificates = certificates
    self.claims = claims
    self.remembered = remembered
    self.unplaced = unplaced
    valid = graph.valid
    lastKey = last
    isContested = last == nil && !graph.valid.isEmpty
    self.counting = counting
    tips = counting.filter { id in
      !(graph.children[id] ?? []).contains { counting.contains($0) }
    }.sorted()
    shadowed = Set(graph.valid.keys).subtracting(counting)
    listed = counting.reduce(into: []) { $0.formUnion(graph.valid[$1]?.counted ?? []) }
    let takenBack = counting.reduce(into: Set<StatementID>()) {
      $0.formUnion(graph.valid[$1]?.retracted ?? [])
    }
    retracted = takenBack.subtracting(listed)
    authored = counting.reduce(into: []) { $0.formUnion(graph.valid[$1]?.authored ?? []) }
    devices = DeviceStandings(
      certificates: certificates, graph: graph, counting: counting, tips: tips)
  }

  /// The generation for whose key new keys are wrapped; nil while there are two that the person's words have to join.
  package var openGeneration: StatementID? {
    tips.count == 1 && !isContested ? tips[0] : nil
  }

  /// The person as a closing has to follow them that joins the lines of two keys: both count in it, and the key of the two
  /// that was made last goes on, so that two machines that join at once choose the same. The other one endorses it.
  ///
  /// - Returns: nil unless both are `claims`, and one of them is the last key, or nothing says which is.
  package func joining(_ one: VerifyingKey, _ other: VerifyingKey) -> PersonHistory? {
    guard one != other, lastKey == nil || lastKey == one || lastKey == other,
      let going = claims.first(where: { $0.key == one || $0.key == other }),
      Set(claims.map(\.key)).isSuperset(of: [one, other])
    else { return nil }
    return PersonHistory(
      person: person, graph: graph, unplaced: unplaced, certificates: certificates,
      last: going.key, claims: claims, remembered: remembered,
      counting: graph.line(of: [one, other]).union(graph.past(of: remembered)))
  }

  /// The shadowed closings that keys have signed which nothing replaces: not of words that had been replaced, but of words
  /// that replaced the same ones.
  package var rivals: Set<StatementID> {
    graph.line(of: Set(claims.map(\.key).filter { $0 != lastKey })).intersection(shadowed)
  }

  /// The closings by which a contested person goes for whoever has these words: their line, and what counted before.
  package func line(of key: VerifyingKey) -> Set<StatementID>? {
    guard isContested, claims.contains(where: { $0.key == key }) else { return nil }
    return graph.line(of: [key]).union(graph.past(of: remembered))
  }

  /// The device with this certificate; a certificate that is not here, or nobody of theirs has given, is unknown.
  package func verdict(on certificate: StatementID) -> DeviceVerdict {
    devices.verdicts[certificate] ?? .unknown
  }

  /// The first, by its time, of the counting closings that left the certificate out; nil if none did.
  package func closing(leavingOut certificate: Certificate, _ id: StatementID) -> Closing? {
    let later = counting.compactMap { valid[$0] }.filter { closing in
      !closing.stay.contains(id) && comes(closing, after: certificate.generation)
    }
    return later.min { $0.time < $1.time }
  }

  private func comes(_ closing: Closing, after generation: StatementID) -> Bool {
    var open = closing.follows
    var seen = Set(open)
    while let id = open.popLast() {
      if id == generation { return true }
      open += (valid[id]?.follows ?? []).filter { seen.insert($0).inserted }
    }
    return false
  }

  /// Whether what the device with this certificate signed or agreed to counts.
  func stands(_ statement: StatementID, by certificate: StatementID) -> Bool {
    switch verdict(on: certificate) {
    case .counts: true
    case .waiting, .former: listed.contains(statement)
    case .unknown: false
    }
  }
}

/// Whether what a device signs counts.
package enum DeviceVerdict: Hashable, Sendable {
  case counts
  /// Not yet: the generation that certified it is not here, or stands beside another one until the person's words join the two.
  case waiting
  /// A closing that counts has left it out, which nothing takes back.
  case former
  /// There is no such certificate here, or none that goes back to words of the person: anybody can write one.
  case unknown
}
