import VaultModel

extension Trust {
  /// The people whom one person's program speaks of; everyone else is carried as bytes.
  ///
  /// Docs/Format-2.md, "Vouched for".
  /// - Parameters:
  ///   - members: those that the person can open.
  ///   - answered: who answered an invitation of theirs.
  package func vouchedFor(
    by person: PersonID, members: some Sequence<MemberID>, answered: Set<PersonID> = []
  ) -> Set<PersonID> {
    var known = answered.union([person])
    for member in members.compactMap({ self.members[$0] }) {
      known.insert(member.root.person)
      for number in member.graph.ids.indices where member.verdicts[number] == .counts {
        known.insert(member.graph.links[number].person)
        known.formUnion(member.graph.links[number].changes.map(\.person))
      }
    }
    var introduced: [PersonID: Int] = [:]
    var all = known
    for (id, introduction) in statements.introductions.sorted(by: { $0.key < $1.key }) {
      let introducer = introduction.person
      guard known.contains(introducer),
        introduced[introducer, default: 0] < StatementLimits.introduced,
        people[introducer]?.stands(id, by: introduction.certificate) ?? false
      else { continue }
      introduced[introducer, default: 0] += 1
      all.insert(introduction.introduced)
    }
    return all
  }
}
