import VaultModel

extension MemberHistory {
  /// The links that count, in their order: who had which access when is all in them.
  package var countingLinks: [Link] {
    graph.ids.indices.filter { verdicts[$0] == .counts }.map { graph.links[$0] }
  }
}
