/// The path of a file inside the vault folder: `Docs/Format.md` section 2.
package enum VaultPath: Hashable, Sendable {
  /// `vault.json`
  case vault
  /// `people/<person>/closings/<id>`
  case closing(PersonID, StatementID)
  /// `people/<person>/certificates/<id>`
  case certificate(PersonID, StatementID)
  /// `people/<person>/wraps/<closing>/<device>`
  case wrap(PersonID, StatementID, DeviceID)
  /// `people/<person>/introduction`
  case introduction(PersonID)
  /// `people/<person>/requests/<device>`
  case deviceRequest(PersonID, DeviceID)
  /// `people/<person>/devices/<device>`
  case device(PersonID, DeviceID)
  /// `members/<member>/root`
  case memberRoot(MemberID)
  /// `members/<member>/links/<id>`
  case link(MemberID, StatementID)
  /// `members/<member>/wraps/<SHA-256 of the file>`
  case epochWrap(MemberID, FileHash)
  /// `members/<member>/heads/<device>`
  case head(MemberID, DeviceID)
  /// `members/<member>/objects/<2 hex>/<62 hex>`
  case object(MemberID, ObjectName)
  /// `audit/<device>/<first event number>`
  case auditSegment(DeviceID, first: UInt64)

  /// With `/` between parts, as it is signed and sealed.
  package var string: String {
    switch self {
    case .vault: return "vault.json"
    case .closing(let person, let id): return "people/\(person.hex)/closings/\(id.hex)"
    case .certificate(let person, let id):
      return "people/\(person.hex)/certificates/\(id.hex)"
    case .wrap(let person, let closing, let device):
      return "people/\(person.hex)/wraps/\(closing.hex)/\(device.hex)"
    case .introduction(let person): return "people/\(person.hex)/introduction"
    case .deviceRequest(let person, let device):
      return "people/\(person.hex)/requests/\(device.hex)"
    case .device(let person, let device): return "people/\(person.hex)/devices/\(device.hex)"
    case .memberRoot(let member): return "members/\(member.hex)/root"
    case .link(let member, let id): return "members/\(member.hex)/links/\(id.hex)"
    case .epochWrap(let member, let hash): return "members/\(member.hex)/wraps/\(hash.hex)"
    case .head(let member, let device): return "members/\(member.hex)/heads/\(device.hex)"
    case .object(let member, let name):
      let hex = name.hex
      return "members/\(member.hex)/objects/\(hex.prefix(2))/\(hex.dropFirst(2))"
    case .auditSegment(let device, let first): return "audit/\(device.hex)/\(first)"
    }
  }

  /// The path that this text spells; nil for any text but `string` of some path.
  package init?(parsing text: String) {
    // Longer than any path, so that splitting is bounded.
    guard text.utf8.count <= 256 else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let path: VaultPath? =
      switch parts.first {
      case "vault.json" where parts.count == 1: .vault
      case "people": VaultPath(people: parts.dropFirst())
      case "members": VaultPath(members: parts.dropFirst())
      case "audit" where parts.count == 3: VaultPath(audit: parts[1], parts[2])
      default: nil
      }
    // Equal as text is not enough: String compares canonically equivalent texts as equal. But all that are equivalent to
    // one of ASCII alone, and are not the same, are longer.
    guard let path, case let own = path.string, own == text, own.utf8.count == text.utf8.count
    else { return nil }
    self = path
  }

  private init?(people parts: ArraySlice<String>) {
    let parts = Array(parts)
    guard parts.count >= 2, let person = PersonID(hex: parts[0]) else { return nil }
    switch (parts[1], parts.count) {
    case ("closings", 3):
      guard let id = StatementID(hex: parts[2]) else { return nil }
      self = .closing(person, id)
    case ("certificates", 3):
      guard let id = StatementID(hex: parts[2]) else { return nil }
      self = .certificate(person, id)
    case ("introduction", 2): self = .introduction(person)
    case ("devices", 3):
      guard let device = DeviceID(hex: parts[2]) else { return nil }
      self = .device(person, device)
    case ("requests", 3):
      guard let device = DeviceID(hex: parts[2]) else { return nil }
      self = .deviceRequest(person, device)
    case ("wraps", 4):
      guard let closing = StatementID(hex: parts[2]), let device = DeviceID(hex: parts[3])
      else { return nil }
      self = .wrap(person, closing, device)
    default: return nil
    }
  }

  private init?(members parts: ArraySlice<String>) {
    let parts = Array(parts)
    guard parts.count >= 2, let member = MemberID(hex: parts[0]) else { return nil }
    switch (parts[1], parts.count) {
    case ("root", 2): self = .memberRoot(member)
    case ("heads", 3):
      guard let device = DeviceID(hex: parts[2]) else { return nil }
      self = .head(member, device)
    case ("links", 3):
      guard let id = StatementID(hex: parts[2]) else { return nil }
      self = .link(member, id)
    case ("wraps", 3):
      guard let hash = FileHash(hex: parts[2]) else { return nil }
      self = .epochWrap(member, hash)
    case ("objects", 4):
      guard parts[2].utf8.count == 2, let name = ObjectName(hex: parts[2] + parts[3])
      else { return nil }
      self = .object(member, name)
    default: return nil
    }
  }

  private init?(audit device: String, _ first: String) {
    guard let device = DeviceID(hex: device), let first = UInt64(decimal: first),
      first <= Limits.number
    else { return nil }
    self = .auditSegment(device, first: first)
  }
}

extension FixedWidthInteger {
  /// The number that ASCII digits spell, without a sign, a leading zero, or anything else; from 1,
  /// as events are counted.
  fileprivate init?(decimal text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      text.utf8.first != UInt8(ascii: "0"), let value = Self(text)
    else { return nil }
    self = value
  }
}
