import VaultCrypto
import VaultModel

/// The valid closings of one person, and what follows what: Docs/Format.md, "Closings".
struct ClosingGraph: Sendable {
  private(set) var valid: [StatementID: Closing] = [:]
  private(set) var children: [StatementID: [StatementID]] = [:]
  /// The steps from one root key to the next, each with the closings in which it stands.
  private(set) var steps: [VerifyingKey: [VerifyingKey: Set<StatementID>]] = [:]
  private(set) var firstKey: VerifyingKey?
  /// The closings that are surely the person's, valid or not: signed with words of theirs. Whoever has none of these can write
  /// any other one under the person's name.
  private(set) var own: Set<StatementID> = []
  /// For each valid closing, the keys that were replaced in its past or in itself.
  private var replaced: [StatementID: Set<VerifyingKey>] = [:]

  init(person: PersonID, closings: [StatementID: Closing], in statements: Statements) {
    var missing: [StatementID: Int] = [:]
    var waitingFor: [StatementID: [StatementID]] = [:]
    var ready: [StatementID] = []
    for (id, closing) in closings {
      missing[id] = closing.follows.count
      if closing.follows.isEmpty { ready.append(id) }
      for followed in closing.follows { waitingFor[followed, default: []].append(id) }
    }
    while let id = ready.popLast() {
      guard let closing = closings[id], admit(id, closing, person, statements) else { continue }
      for next in waitingFor[id] ?? [] {
        missing[next, default: 1] -= 1
        if missing[next] == 0 { ready.append(next) }
      }
    }
    let keys = ownKeys(person, closings, statements)
    own = Set(closings.filter { keys.contains($0.value.rootKey) }.keys)
  }

  /// The key after which the person is named, those of valid closings, and those which one of these has endorsed in any closing:
  /// what that follows may not have come.
  private func ownKeys(
    _ person: PersonID, _ closings: [StatementID: Closing], _ statements: Statements
  ) -> Set<VerifyingKey> {
    func isFirst(_ key: VerifyingKey) -> Bool { PersonID(rootPublicKey: key.bytes) == person }
    var next: [VerifyingKey: [(key: VerifyingKey, signature: [UInt8])]] = [:]
    var open: [VerifyingKey] = []
    for (id, closing) in closings {
      let key = closing.rootKey
      guard valid[id] == nil, !isFirst(key) else {
        open.append(key)
        continue
      }
      for (old, endorsements) in Dictionary(grouping: closing.endorsements, by: \.rootKey) {
        next[old, default: []].append((key, endorsements[0].signature))
        if isFirst(old) { open.append(old) }
      }
    }
    var found: Set<VerifyingKey> = []
    while let key = open.popLast() {
      guard found.insert(key).inserted else { continue }
      for step in next[key] ?? [] where !found.contains(step.key) {
        let body = Closing.endorsementBody(person: person, from: key, to: step.key)
        if statements.isSigned(.successor, body, step.signature, by: key) { open.append(step.key) }
      }
    }
    return found
  }

  /// All closings that come before one of these, and these.
  func past(of ids: some Sequence<StatementID>) -> Set<StatementID> {
    reach(from: ids) { valid[$0]?.follows ?? [] }
  }

  /// All closings that come after this one.
  func future(of id: StatementID) -> Set<StatementID> {
    reach(from: children[id] ?? []) { children[$0] ?? [] }
  }

  private func reach(
    from ids: some Sequence<StatementID>, _ next: (StatementID) -> [StatementID]
  ) -> Set<StatementID> {
    var found: Set<StatementID> = []
    var open = Array(ids)
    while let id = open.popLast() {
      if found.insert(id).inserted { open += next(id) }
    }
    return found
  }

  /// Takes a closing all of whose past is valid; false if it is not itself.
  private mutating func admit(
    _ id: StatementID, _ closing: Closing, _ person: PersonID, _ statements: Statements
  ) -> Bool {
    let key = closing.rootKey
    if closing.follows.isEmpty {
      guard closing.endorsements.isEmpty, PersonID(rootPublicKey: key.bytes) == person
      else { return false }
      firstKey = key
    }
    let followedKeys = closing.follows.compactMap { valid[$0]?.rootKey }
    var old = closing.follows.first.flatMap { replaced[$0] } ?? []
    for followed in closing.follows.dropFirst() { old.formUnion(replaced[followed] ?? []) }
    guard !old.contains(key) else { return false }
    let endorsing = closing.endorsements.map(\.rootKey)
    for endorsement in closing.endorsements {
      let body = Closing.endorsementBody(person: person, from: endorsement.rootKey, to: key)
      guard endorsement.rootKey != key, followedKeys.contains(endorsement.rootKey),
        statements.isSigned(.successor, body, endorsement.signature, by: endorsement.rootKey)
      else { return false }
    }
    old.formUnion(endorsing)
    guard old.count <= StatementLimits.replacedKeys,
      followedKeys.allSatisfy({ $0 == key || old.contains($0) }),
      closing.follows.isEmpty
        || followedKeys.contains(where: { $0 == key || endorsing.contains($0) })
    else { return false }
    for old in endorsing { steps[old, default: [:]][key, default: []].insert(id) }
    for followed in closing.follows { children[followed, default: []].append(id) }
    valid[id] = closing
    replaced[id] = old
    return true
  }
}
