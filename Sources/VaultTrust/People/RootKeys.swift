import VaultModel

/// Which of a person's root keys is the last one: Docs/Format-2.md, "Which closings count".
struct RootKeys {
  /// The one key that all steps lead to; nil if there are several, or none.
  let last: VerifyingKey?

  init(graph: ClosingGraph, memory: TrustMemory) {
    var ends: Set<VerifyingKey> = []
    var seen: Set<VerifyingKey> = []
    var open = graph.firstKey.map { [$0] } ?? []
    while let key = open.popLast() {
      guard seen.insert(key).inserted else { continue }
      let steps = graph.steps[key] ?? [:]
      let remembered = steps.filter { !$0.value.isDisjoint(with: memory.closings) }
      let next = remembered.isEmpty ? steps : remembered
      if next.isEmpty { ends.insert(key) }
      open += next.keys
    }
    last = ends.count == 1 ? ends.first : nil
  }

  func counting(in graph: ClosingGraph, memory: TrustMemory) -> Set<StatementID> {
    guard let last else { return Set(graph.valid.keys) }
    let signed = graph.valid.filter { $0.value.rootKey == last || memory.closings.contains($0.key) }
    return graph.past(of: signed.keys)
  }
}
