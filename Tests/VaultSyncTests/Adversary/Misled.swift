import BlobStore
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Where an owner who is out has given their place up twice, once as they left or handed it over and once as the adversary likes,
/// and a machine met the adversary's end first, or can tell neither from the other. It rightly believes it, and is told; its
/// person asks, and says which end is true (`Vault.settle`).
struct Misled {
  /// An end that somebody honest has signed, and that does not count at a machine.
  struct End {
    let machine: Int
    let member: MemberID
    let link: StatementID
  }

  private(set) var ends: [End] = []
  private var members: [Int: Set<MemberID>] = [:]
  /// Machines that are told nothing of it.
  private(set) var untold: [String] = []

  /// - Parameter foreign: What the adversary has written.
  init(of house: Household, besides foreign: Set<BlobPath>) throws {
    for machine in house.everyone {
      for id in house.members.values {
        try add(id, at: machine, besides: foreign)
      }
    }
  }

  /// Whether this machine was misled in one member.
  init(
    _ member: MemberID, at machine: Household.Machine, besides foreign: Set<BlobPath>
  ) throws {
    try add(member, at: machine, besides: foreign)
  }

  private mutating func add(
    _ id: MemberID, at machine: Household.Machine, besides foreign: Set<BlobPath>
  ) throws {
    let links: MemberLinks
    do throws(VaultError) { links = try machine.vault.context.opening(of: id).loadLinks() } catch {
      switch error {
      case .missing, .damaged, .signedByRemovedDevice: return
      default: throw error
      }
    }
    var fallen: [VaultPath] = []
    for path in links.files.keys where !foreign.contains(BlobPath(path.string)) {
      guard case .link(_, let link) = path, links.history.link(link)?.handOver != nil else {
        continue
      }
      switch links.history.verdict(on: link) {
      case .givenUp(let end), .contested(let end):
        guard foreign.contains(BlobPath(VaultPath.link(id, end).string)) else { continue }
        fallen.append(path)
        ends.append(End(machine: machine.number, member: id, link: link))
      default: continue
      }
    }
    for link in leavings(in: links.history, besides: foreign, of: id) {
      fallen.append(.link(id, link))
      ends.append(End(machine: machine.number, member: id, link: link))
    }
    guard !fallen.isEmpty else { return }
    members[machine.number, default: []].insert(id)
    let told = Set(links.problems.filter { $0.severity >= .warning }.map(\.path))
    if !fallen.allSatisfy({ told.contains($0.string) }) {
      untold.append("told: \(machine.name) is not told of \(fallen.map(\.string))")
    }
  }

  /// With which somebody honest has left, where the adversary's end counts instead, or none. As links they count all the same.
  private func leavings(
    in history: MemberHistory, besides foreign: Set<BlobPath>, of member: MemberID
  ) -> [StatementID] {
    func isForeign(_ end: PlaceGivenUpTwice.End) -> Bool {
      foreign.contains(BlobPath(VaultPath.link(member, end.link).string))
    }
    return history.placesGivenUpTwice.flatMap { place in
      let isHonest = place.ends.contains { $0.counts && !isForeign($0) }
      return isHonest
        ? [] : place.ends.filter { $0.taker == nil && !$0.counts && !isForeign($0) }.map(\.link)
    }
  }

  func contains(_ machine: Int, _ member: MemberID) -> Bool {
    members[machine]?.contains(member) ?? false
  }

  func contains(_ machine: Int) -> Bool { members[machine] != nil }

  var isEmpty: Bool { members.isEmpty }

  mutating func join(_ others: Misled) {
    members.merge(others.members) { $0.union($1) }
    untold += others.untold
  }
}
