import Vault
import VaultModel

extension ClosingPreview {
  /// The newest deeds are told, so many.
  private static let toldCount = 12

  /// Says which devices stay, since when, and who approved them; and what the departing one did.
  ///
  /// - Parameters:
  ///   - departing: Whose deeds these are, as people call it; nil where none departs.
  ///   - beginning: What it has changed of access since then will not count; milliseconds since 1970.
  func print(
    in vault: Vault, departing: String? = nil, disownedSince beginning: UInt64? = nil
  ) throws {
    var table = Table("STAYS", "SINCE", "APPROVED BY", "ID")
    for device in staying {
      let name = vault.name(of: device.device)
      table.add([
        device.isThisOne ? "\(name) (this one)" : name, DateText.local(milliseconds: device.since),
        device.approver.map { vault.name(of: $0) } ?? "the 24 words", device.device.shortHex,
      ])
    }
    table.lines(width: nil).forEach(Terminal.note)
    if goingAlongCount > 0 {
      Terminal.note(
        "\(goingAlongCount) more go as well: so many have been let in by what is removed, or through it, that there is no room "
          + "for all. One of them that is yours you make a device again with the 24 words: kinvault recover"
      )
    }
    if forgottenCount > 0 {
      Terminal.note(
        "\(forgottenCount) people of whom nothing but what is removed says that you know them are forgotten: there is no room for "
          + "so many. Whom you miss afterwards you verify anew: kinvault people list, kinvault verify"
      )
    }
    guard let departing, !deeds.isEmpty else { return }
    Terminal.note(
      "What \(departing) did, the newest first\(beginning == nil ? "; all of it stays" : ""):")
    let people = try PersonLookup.load(of: vault)
    for deed in deeds.prefix(Self.toldCount) {
      Terminal.note(
        "  \(DateText.local(milliseconds: deed.time))  \(deed.text(people, vault))"
          + (deed.falls(since: beginning) ? " (will not count)" : ""))
    }
    if deeds.count > Self.toldCount {
      Terminal.note("  and \(deeds.count - Self.toldCount) more before")
    }
    Terminal.note(
      "What you did not do yourself: remove such a device as well (kinvault device revoke), and take such access away "
        + "(kinvault unshare).")
  }
}

extension ClosingPreview.Deed {
  /// Whether it is a change of access that is disowned.
  fileprivate func falls(since beginning: UInt64?) -> Bool {
    switch kind {
    case .approved, .made: false
    default: beginning.map { time >= $0 } ?? false
    }
  }

  fileprivate func text(_ people: PersonLookup, _ vault: Vault) -> String {
    let member = member.map { Terminal.visible($0.string) } ?? ""
    return switch kind {
    case .approved(let device): "added the device \(Terminal.visible(vault.name(of: device)))"
    case .gave(let person, let role): "made \(people.name(of: person)) \(role) of \(member)"
    case .limited(let person, let role?):
      "left \(people.name(of: person)) no more than \(role) of \(member)"
    case .limited(let person, nil): "took \(member) from \(people.name(of: person))"
    case .offered(let person): "offered its place in \(member) to \(people.name(of: person))"
    case .handedOver(let person): "handed \(member) over to \(people.name(of: person))"
    case .left: "left \(member)"
    case .made: "made the member \(member)"
    }
  }
}
