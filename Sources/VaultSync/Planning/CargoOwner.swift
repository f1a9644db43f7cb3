import Vault
import VaultModel

/// Whose folder it is that is carried or left, as a whole.
package enum CargoOwner: Hashable, Sendable {
  case person(PersonID)
  case member(MemberID)

  /// The folder.
  package var path: String {
    switch self {
    case .person(let person): "people/\(person.hex)"
    case .member(let member): "members/\(member.hex)"
    }
  }

  package init?(path: some StringProtocol) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "people":
      guard let person = PersonID(hex: String(parts[1])) else { return nil }
      self = .person(person)
    case "members":
      guard let member = MemberID(hex: String(parts[1])) else { return nil }
      self = .member(member)
    default: return nil
    }
  }

  /// - Returns: Nil for a file that stands in nobody's folder.
  init?(_ path: VaultPath) {
    switch path.owner {
    case .person(let person): self = .person(person)
    case .member(let member): self = .member(member)
    case .other: return nil
    }
  }
}

extension CargoOwner: Comparable {
  package static func < (left: CargoOwner, right: CargoOwner) -> Bool {
    switch (left, right) {
    case (.person(let left), .person(let right)): left < right
    case (.member(let left), .member(let right)): left < right
    case (.person, .member): true
    case (.member, .person): false
    }
  }
}
