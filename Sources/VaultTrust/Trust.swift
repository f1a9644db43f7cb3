import VaultModel

/// Who counts: made once from the signed files, renewed as a whole. Docs/Format.md.
///
/// A value: it reads no file, no clock and no network, and the same files give the same verdicts
/// whatever their order. Only this says which device, link, epoch or head counts.
package struct Trust: Sendable {
  package let statements: Statements
  package let people: [PersonID: PersonHistory]
  package let members: [MemberID: MemberHistory]
  /// The epochs of each member that is judged.
  package let epochs: [MemberID: Epochs]
  /// What is to be remembered from now on.
  package let memory: TrustMemory

  package init(_ statements: Statements, memory: TrustMemory = .empty) {
    self.statements = statements
    let people = Self.people(statements, memory)
    let members = Self.members(statements, people, memory)
    self.people = people
    self.members = members
    epochs = members.mapValues { Epochs(of: $0, people: people) }
    var memory = memory
    for person in people.values where !person.isContested {
      memory.closings.formUnion(person.counting)
    }
    for member in members.values { memory.ends.formUnion(member.ends) }
    self.memory = memory
  }

  /// The device with this certificate, of whichever person.
  package func device(_ certificate: StatementID) -> DeviceVerdict {
    guard let person = statements.certificates[certificate]?.person else { return .unknown }
    return people[person]?.verdict(on: certificate) ?? .waiting
  }

  /// Whether what the device with this certificate signed or agreed to counts: the device does, or a closing of its
  /// person lists the statement.
  package func stands(_ statement: StatementID, by certificate: StatementID) -> Bool {
    guard let person = statements.certificates[certificate]?.person else { return false }
    return people[person]?.stands(statement, by: certificate) ?? false
  }

  /// The lists that closings of these people name: what devices which they left out had signed in records, and goes on
  /// being theirs.
  package func authored(by persons: some Sequence<PersonID>) -> Set<ContentDigest> {
    persons.reduce(into: []) { $0.formUnion(people[$1]?.authored ?? []) }
  }

  // MARK: Making

  private static func people(
    _ statements: Statements, _ memory: TrustMemory
  ) -> [PersonID: PersonHistory] {
    var closings: [PersonID: [StatementID: Closing]] = [:]
    for (id, closing) in statements.closings {
      closings[closing.person, default: [:]][id] = closing
    }
    var certificates: [PersonID: [StatementID: Certificate]] = [:]
    for (id, certificate) in statements.certificates {
      certificates[certificate.person, default: [:]][id] = certificate
    }
    var people: [PersonID: PersonHistory] = [:]
    for (person, closings) in closings {
      people[person] = PersonHistory(
        person: person, closings: closings, certificates: certificates[person] ?? [:],
        in: statements, memory: memory)
    }
    return people
  }

  private static func members(
    _ statements: Statements, _ people: [PersonID: PersonHistory], _ memory: TrustMemory
  ) -> [MemberID: MemberHistory] {
    var members: [MemberID: MemberHistory] = [:]
    for (id, root) in statements.roots {
      guard people[root.person]?.stands(id.root, by: root.certificate) ?? false else { continue }
      members[id] = history(of: id, root, statements, people, memory)
    }
    return members
  }

  static func history(
    of id: MemberID, _ root: MemberRoot, _ statements: Statements,
    _ people: [PersonID: PersonHistory], _ memory: TrustMemory
  ) -> MemberHistory {
    let graph = LinkGraph(statements.links[id] ?? [:])
    let standings = LinkStandings(
      stands: graph.ids.indices.map { number in
        let link = graph.links[number]
        return people[link.person]?.stands(graph.ids[number], by: link.certificate) ?? false
      },
      nobodys: Set(
        graph.ids.indices.filter { number in
          let link = graph.links[number]
          return people[link.person]?.verdict(on: link.certificate) ?? .unknown == .unknown
        }),
      retracted: Set(
        graph.ids.indices.filter { number in
          people[graph.links[number].person]?.retracted.contains(graph.ids[number]) ?? false
        }),
      remembered: memory.ends, refused: memory.refusedEnds)
    return MemberHistory(member: id, root: root, graph: graph, standings: standings)
  }
}
