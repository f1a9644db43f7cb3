import VaultCrypto
import VaultModel
import VaultTrust

extension Vouching {
  /// Changes when somebody else is vouched for: then what was left before is judged anew.
  var fingerprint: FileHash {
    Digest.sha256(
      people.sorted().flatMap(\.bytes) + [0] + members.sorted().flatMap(\.bytes))
  }

  /// Whether the folder is of somebody whom the person knows, or shows to them: no member need be read to know that.
  func isBase(_ owner: CargoOwner) -> Bool {
    switch owner {
    case .person(let person): people.contains(person)
    case .member(let member): members.contains(member)
    }
  }

  /// Whether the folder is carried whatever it weighs.
  func carries(_ owner: CargoOwner) -> Bool {
    switch owner {
    case .person(let person): carries(person)
    case .member(let member): members.contains(member)
    }
  }
}
