import VaultModel

/// Which of a person's root keys is the last one: Docs/Format.md, "Which closings count".
struct RootKeys {
  /// The one key that all steps lead to; nil if there are several, or none.
  let last: VerifyingKey?
  /// The keys that all steps lead to whatever is remembered, those first that were made last.
  let claims: [KeyClaim]

  init(graph: ClosingGraph, memory: TrustMemory) {
    let ends = Self.ends(in: graph) { steps in
      let remembered = steps.filter { !$0.value.isDisjoint(with: memory.closings) }
      return remembered.isEmpty ? steps : remembered
    }
    last = ends.count == 1 ? ends.first : nil
    let began = graph.valid.values.reduce(into: [VerifyingKey: UInt64]()) {
      $0[$1.rootKey] = min($1.time, $0[$1.rootKey] ?? .max)
    }
    claims = Self.ends(in: graph) { $0 }.map { KeyClaim(key: $0, made: began[$0] ?? 0) }
      .sorted { ($1.made, $1.key) < ($0.made, $0.key) }
  }

  /// The keys from which no step goes on, of those that are reached from the first one.
  private static func ends(
    in graph: ClosingGraph,
    taking choose: ([VerifyingKey: Set<StatementID>]) -> [VerifyingKey: Set<StatementID>]
  ) -> Set<VerifyingKey> {
    var ends: Set<VerifyingKey> = []
    var seen: Set<VerifyingKey> = []
    var open = graph.firstKey.map { [$0] } ?? []
    while let key = open.popLast() {
      guard seen.insert(key).inserted else { continue }
      let next = choose(graph.steps[key] ?? [:])
      if next.isEmpty { ends.insert(key) }
      open += next.keys
    }
    return ends
  }

  func counting(in graph: ClosingGraph, remembered: Set<StatementID>) -> Set<StatementID> {
    guard let last else { return Set(graph.valid.keys) }
    return graph.line(of: [last]).union(graph.past(of: remembered))
  }
}

/// A root key that nothing replaces, of a person who may have several: words that were replaced on two machines.
package struct KeyClaim: Hashable, Sendable {
  package let key: VerifyingKey
  /// By the clock of the machine that made it; milliseconds since 1970.
  package let made: UInt64
}

extension ClosingGraph {
  /// The closings that these keys have signed, and all before them.
  func line(of keys: Set<VerifyingKey>) -> Set<StatementID> {
    past(of: valid.filter { keys.contains($0.value.rootKey) }.keys)
  }
}
