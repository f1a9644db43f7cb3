import Vault
import VaultModel

/// A path in the vault's folder as a person can read it: what members, devices and people are called stands for their ids, and
/// of every other long number its beginning.
struct NamedPath {
  private let vault: Vault
  private let names: EventNames
  private let people: PersonLookup?

  static func load(of vault: Vault) -> NamedPath {
    // Where people cannot be read, their ids are shortened.
    let people = try? PersonLookup.load(of: vault)
    return NamedPath(vault: vault, names: EventNames(vault, others: nil), people: people)
  }

  func text(_ path: String) -> String {
    var parts: [String] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false) {
      parts.append(name(String(part), in: parts.last))
    }
    return parts.joined(separator: "/")
  }

  /// A sentence that says of a path what is with it, and begins with that and a colon.
  func text(beginning sentence: String) -> String {
    guard let colon = sentence.firstIndex(of: ":") else { return sentence }
    return text(String(sentence[..<colon])) + sentence[colon...]
  }

  /// `text(beginning:)` where no vault is open that knows what anything is called.
  static func shortened(beginning sentence: String) -> String {
    guard let colon = sentence.firstIndex(of: ":") else { return sentence }
    let parts = sentence[..<colon].split(separator: "/", omittingEmptySubsequences: false)
    let shown = parts.map { isID($0) ? short($0) : String($0) }
    return shown.joined(separator: "/") + sentence[colon...]
  }

  private static func isID(_ part: some StringProtocol) -> Bool {
    part.utf8.count == 64 && part.utf8.allSatisfy(isDigit)
  }

  private static func short(_ id: some StringProtocol) -> String { "\(id.prefix(8))…" }

  private func name(_ part: String, in folder: String?) -> String {
    guard Self.isID(part) else { return part }
    let found: String? =
      switch folder {
      case "members": MemberID(hex: part).flatMap { vault.member($0)?.name.string }
      case "people": PersonID(hex: part).flatMap { people?.name(of: $0) }
      case "audit", "devices", "heads", "requests": DeviceID(hex: part).map(names.name(of:))
      default: nil
      }
    return found.map { "“\(Terminal.visible($0))”" } ?? Self.short(part)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}
