import VaultModel

/// Which of a person's certificates count: Docs/Format.md, "Devices". Those have no verdict that go back to no words of theirs.
struct DeviceStandings: Sendable {
  private(set) var verdicts: [StatementID: DeviceVerdict] = [:]

  init(
    certificates: [StatementID: Certificate], graph: ClosingGraph, counting: Set<StatementID>,
    tips: [StatementID]
  ) {
    let given = GivenCertificates(certificates)
    let inTips = tips.map { given.inside($0, staying: graph.valid[$0]?.stay ?? []) }
    let own = given.given(in: graph.own)
    var lists: [StatementID: StayingList] = [:]
    for (id, certificate) in certificates where own.contains(id) {
      let generation = certificate.generation
      guard counting.contains(generation) else {
        verdicts[id] = graph.valid[generation] == nil ? .waiting : .former
        continue
      }
      let inCount = inTips.count { $0.contains(id) }
      guard inCount > 0 else {
        verdicts[id] = .former
        continue
      }
      let list = lists[generation] ?? StayingList(after: generation, graph, counting)
      lists[generation] = list
      // A tip beside the certificate's generation cannot know of it; the words that join the tips can.
      let ifLetStay: DeviceVerdict = inCount == tips.count ? .counts : .waiting
      verdicts[id] = list.contains(id) ? ifLetStay : .former
    }
  }
}

/// What every closing that counts and comes after a generation lets stay.
private struct StayingList {
  /// Nil: nothing closed the generation, so whatever is given in it stays.
  private let certificates: Set<StatementID>?

  init(after generation: StatementID, _ graph: ClosingGraph, _ counting: Set<StatementID>) {
    let later = graph.future(of: generation).intersection(counting)
    let lists = later.map { Set(graph.valid[$0]?.stay ?? []) }
    certificates = lists.dropFirst().reduce(lists.first) { $0?.intersection($1) }
  }

  func contains(_ certificate: StatementID) -> Bool {
    certificates?.contains(certificate) ?? true
  }
}

/// A person's certificates, by who gave them.
private struct GivenCertificates {
  private let certificates: [StatementID: Certificate]
  /// By the certificate of the device that approved them.
  private var approved: [StatementID: [StatementID]] = [:]
  /// Given by the words, by their generation.
  private var byWords: [StatementID: [StatementID]] = [:]

  init(_ certificates: [StatementID: Certificate]) {
    self.certificates = certificates
    for (id, certificate) in certificates {
      if let approver = certificate.approver {
        approved[approver, default: []].append(id)
      } else {
        byWords[certificate.generation, default: []].append(id)
      }
    }
  }

  /// Those that words gave with one of these closings, and all that go back to them.
  func given(in closings: Set<StatementID>) -> Set<StatementID> {
    var found: Set<StatementID> = []
    var open = closings.flatMap { byWords[$0] ?? [] }
    while let id = open.popLast() {
      if found.insert(id).inserted { open += approved[id] ?? [] }
    }
    return found
  }

  /// The certificates in a tip: of its list, by its words, or approved in it by one that is.
  func inside(_ tip: StatementID, staying: [StatementID]) -> Set<StatementID> {
    var found: Set<StatementID> = []
    var open = staying.filter { certificates[$0] != nil } + (byWords[tip] ?? [])
    while let id = open.popLast() {
      guard found.insert(id).inserted else { continue }
      open += (approved[id] ?? []).filter { certificates[$0]?.generation == tip }
    }
    return found
  }
}
