import Vault
import VaultErrors
import VaultModel

/// Whose revisions are, in words and for JSON: the device and the person who signed, or that nobody can be told.
struct AuthorshipText {
  /// What JSON says of a signature.
  struct Row: Encodable {
    var device: String
    var deviceName: String?
    var person: String
    var personName: String
    /// The device was removed since: others may have its key.
    var isRemoved: Bool
    /// Of a removed device: whether its person listed this revision when they removed it.
    var isListed: Bool?
  }

  /// What JSON says of what a join was made from.
  struct Part: Encodable {
    var authorship: String
    var signedBy: Row?
  }

  private let vault: Vault
  private let people: PersonLookup

  static func load(of vault: Vault) throws(VaultError) -> AuthorshipText {
    AuthorshipText(vault: vault, people: try PersonLookup.load(of: vault))
  }

  /// For a table.
  func short(_ authorship: Authorship) -> String {
    switch authorship {
    case .signed(let author): name(of: author)
    case .joined: "joined"
    case .brought: "not signed"
    }
  }

  /// Whose the revisions are that a join was made from, in an order that does not depend on anything but them; nil for
  /// what is no join.
  func parts(
    of authorship: Authorship, _ digest: ContentDigest, in member: Member
  ) throws(VaultError) -> [Authorship]? {
    guard authorship == .joined else { return nil }
    return try member.authorsJoined(in: digest).sorted { sortKey($0) < sortKey($1) }
  }

  private func sortKey(_ authorship: Authorship) -> String {
    if case .signed(let author) = authorship {
      return "0 \(short(authorship)) \(author.device.hex)"
    }
    return "1 \(Self.word(authorship))"
  }

  func part(_ authorship: Authorship) -> Part {
    Part(authorship: Self.word(authorship), signedBy: row(authorship))
  }

  /// For a sentence that begins with when it was.
  ///
  /// - Parameter parts: Of a join, whose the revisions are that it was made from.
  func long(_ authorship: Authorship, parts: [Authorship]? = nil) -> String {
    guard let parts else { return long(authorship) }
    let texts = parts.map { part in
      switch part {
      case .signed: "what \(short(part)) signed"
      case .joined: "more"
      case .brought: "what nobody signed: anyone who may write here could have written that"
      }
    }
    return "joined from \(texts.joined(separator: " and "))"
  }

  private func long(_ authorship: Authorship) -> String {
    switch authorship {
    case .signed(let author) where author.standing == .unlisted:
      "signed by \(deviceName(of: author)), which was removed: this is not among what it was known to have written "
        + "then, so whoever has it now may have signed it"
    case .signed(let author): "signed by \(name(of: author))"
    case .joined: "joined from two versions"
    case .brought: "not signed: anyone who may write here could have written it"
    }
  }

  /// Nil unless it is signed.
  func row(_ authorship: Authorship) -> Row? {
    guard case .signed(let author) = authorship else { return nil }
    return row(author)
  }

  func row(_ author: Authorship.Author) -> Row {
    Row(
      device: author.device.hex,
      deviceName: author.person == vault.person ? vault.name(of: author.device) : nil,
      person: author.person.hex, personName: people.name(of: author.person),
      isRemoved: author.standing != .counts,
      isListed: author.standing == .counts ? nil : author.standing == .listed)
  }

  /// `signed`, `joined` or `brought`, as Docs/Format.md calls them.
  static func word(_ authorship: Authorship) -> String {
    switch authorship {
    case .signed: "signed"
    case .joined: "joined"
    case .brought: "brought"
    }
  }

  /// Why a revision was left alone, for a table.
  func reason(_ refusal: UnvouchedRevision.Refusal) -> String {
    switch refusal {
    case .notSigned: "not signed"
    case .unprovedJoin: "joined from what is not taken"
    case .removedDevice(let author):
      "signed by \(deviceName(of: author)), which was removed, and not known then"
    case .waitingDevice(let author):
      "signed by \(name(of: author)), a device that waits for its owner\u{2019}s words"
    case .mayNotWrite(let author): "signed by \(name(of: author)), who may not write here"
    case .unreached(let author, let device):
      "signed by \(name(of: author)), over a change of the device \(device.shortHex) that has not come, or never was"
    }
  }

  static func word(_ refusal: UnvouchedRevision.Refusal) -> String {
    switch refusal {
    case .notSigned: "notSigned"
    case .unprovedJoin: "unprovedJoin"
    case .removedDevice: "removedDevice"
    case .waitingDevice: "waitingDevice"
    case .mayNotWrite: "mayNotWrite"
    case .unreached: "unreached"
    }
  }

  private func deviceName(of author: Authorship.Author) -> String {
    author.person == vault.person
      ? vault.name(of: author.device)
      : "\(people.name(of: author.person)) (\(author.device.shortHex))"
  }

  private func name(of author: Authorship.Author) -> String {
    let name = deviceName(of: author)
    return switch author.standing {
    case .counts: name
    case .listed: "\(name), since removed"
    case .unlisted: "\(name), removed: not certain"
    }
  }
}
