import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

extension Verb {
  /// What people allow each other, and what becomes of their devices.
  static let people = [
    Verb(
      "shares MEMBER with PERSON as ROLE",
      .eachDevice { world, device, says in try Sharing(world, device, says).share(until: nil) }),
    Verb(
      "shares MEMBER with PERSON as ROLE until WHEN",
      .eachDevice { world, device, says in
        guard let end = CalendarTime(says["WHEN"]) else {
          throw says.wrong("a time is written as \"2026-03-01 09:30\"")
        }
        try Sharing(world, device, says).share(until: end.milliseconds)
      }),
    Verb(
      "unshares MEMBER from PERSON",
      .eachDevice { world, device, says in try Sharing(world, device, says).unshare() }),
    Verb(
      "leaves MEMBER",
      .eachDevice { _, device, says in
        let member = try Sharing.member(says, at: device)
        try device.manage { vault throws(VaultError) in try vault.leave(member) }
      }),
    Verb(
      "offers PERSON to take over MEMBER",
      .eachDevice { world, device, says in try Sharing(world, device, says).offer() }),
    Verb(
      "takes MEMBER over",
      .eachDevice { _, device, says in try Sharing.agree(says, at: device) }),
    Verb(
      "takes the offer of MEMBER back",
      .eachDevice { _, device, says in
        let member = try Sharing.member(says, at: device)
        try device.manage { vault throws(VaultError) in try vault.withdrawOffer(in: member) }
      }),
    Verb(
      "adds the member NAME",
      .eachDevice { _, device, says in
        guard let name = FileName(says["NAME"]) else { throw says.wrong("no member is called so") }
        try device.manage { vault throws(VaultError) in _ = try vault.addMember(named: name) }
      }),
    Verb(
      "removes DEVICE",
      .eachDevice { world, device, says in
        guard let other = world.devices.first(where: { $0.name == says["DEVICE"] }) else {
          throw says.wrong("there is no device “\(says["DEVICE"])”")
        }
        let id = other.deviceID
        let words = try RecoveryWords(parsing: world.words[device.person] ?? "")
        try device.manage { vault throws(VaultError) in
          try vault.beginGeneration(removing: [id], words: words)
          for member in vault.members where member.role == .owner {
            try vault.beginEpoch(of: member, without: [])
          }
        }
      }),
    Verb(
      "replaces the words",
      .eachDevice { world, device, says in
        let old = try RecoveryWords(parsing: world.words[device.person] ?? "")
        let new = RecoveryWords.random()
        let text = new.words.joined(separator: " ")
        try device.manage { vault throws(VaultError) in try vault.replaceWords(old, with: new) }
        world.formerWords[device.person] = world.words[device.person]
        world.words[device.person] = text
      }),
    Verb(
      "is lost and bought anew",
      .eachDevice { world, device, says in
        try device.replace(with: world.words[device.person] ?? "", from: world.firstRemote)
      }),
    Verb(
      "is lost and bought anew with the former words",
      .eachDevice { world, device, says in
        guard let words = world.formerWords[device.person] else {
          throw says.wrong("\(device.person) has had no other words")
        }
        try device.replace(with: words, from: world.firstRemote)
      }),
    Verb("lists access to MEMBER", isLook: true, .devices(Sharing.look)),
    Verb("list access to MEMBER", isLook: true, .devices(Sharing.look)),
  ]
}

/// Who may do what with a member.
private struct Sharing {
  private static let roles: [String: Role] = [
    "owner": .owner, "editor": .editor, "viewer": .viewer,
  ]

  let device: Device
  let says: Sentence
  private let member: Member
  private let other: PersonID

  init(_ world: World, _ device: Device, _ says: Sentence) throws {
    self.device = device
    self.says = says
    member = try Self.member(says, at: device)
    guard let other = world.devices.first(where: { $0.person == says["PERSON"] }) else {
      throw says.wrong("there is no person “\(says["PERSON"])”")
    }
    self.other = other.personID
  }

  static func member(_ says: Sentence, at device: Device) throws -> Member {
    let name = says["MEMBER"]
    guard let member = try device.vault.members.first(where: { $0.name.string == name }) else {
      throw says.wrong("\(device.name) sees no “\(name)”")
    }
    return member
  }

  func share(until: UInt64?) throws {
    guard let role = Self.roles[says["ROLE"]] else {
      throw says.wrong("a person is owner, editor or viewer")
    }
    try device.manage { vault throws(VaultError) in
      try vault.share(member, with: other, role: role, until: until)
    }
  }

  func offer() throws {
    try device.manage { vault throws(VaultError) in
      try vault.offerPlace(in: member, to: other)
    }
  }

  static func agree(_ says: Sentence, at device: Device) throws {
    let member = try member(says, at: device)
    try device.manage { vault throws(VaultError) in
      let offer = try vault.offeredPlaces().first {
        $0.member == member.id && $0.taker == vault.person
      }
      guard let offer else { throw .notFound(what: "place that is offered") }
      try vault.agree(to: offer)
    }
  }

  func unshare() throws {
    try device.manage { vault throws(VaultError) in
      try vault.beginEpoch(of: member, without: [other])
    }
  }

  /// Each line is a person and a role; all who look see the same.
  static func look(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    let expected = says.step.block.map(\.text).sorted()
    for device in devices {
      let member = try member(says, at: device)
      let seen = try member.accesses().map { access in
        let person = world.devices.first { $0.personID == access.person }?.person ?? "somebody"
        let role = roles.first { $0.value == access.role }?.key ?? "nothing"
        return "\(person) is \(role)"
      }.sorted()
      guard seen == expected else {
        throw says.wrong("\(device.name) lists\n  \(seen.joined(separator: "\n  "))")
      }
    }
  }
}
