import VaultModel

@testable import Vault

extension Verb {
  /// What people allow each other.
  static let people = [
    Verb(
      "shares MEMBER with PERSON as ROLE",
      .eachDevice { world, device, says in
        let roles: [String: Role] = ["owner": .owner, "editor": .editor, "viewer": .viewer]
        guard let role = roles[says["ROLE"]] else {
          throw says.wrong("a person is owner, editor or viewer")
        }
        guard
          let member = try device.vault.members.first(where: { $0.name.string == says["MEMBER"] })
        else { throw says.wrong("\(device.name) sees no “\(says["MEMBER"])”") }
        guard let taker = world.devices.first(where: { $0.person == says["PERSON"] }) else {
          throw says.wrong("there is no person “\(says["PERSON"])”")
        }
        let vault = try device.vault
        do throws(VaultError) {
          try vault.share(member, with: taker.personID, role: role)
        } catch {
          device.messages.append(.init(text: error.message, needsExpecting: true))
        }
      })
  ]
}
