import ArgumentParser
import Vault
import VaultModel

struct MemberSettleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settle",
    abstract: "Say which of two ends of an owner's place is the true one.",
    discussion: """
      An owner gives their place up once: they hand it over, or leave. Whoever has their keys, from a stolen device or found \
      words, can sign a second end beside it, and nothing in the files tells one from the other. Each machine goes by the one \
      that it met first. So a machine that was away may go by the wrong one: somebody else decides there who has access, and \
      the member may not show any more.

      Ask the owner who gave the place up, and those who are said to have it, by other means than this vault. Then say which \
      end it was, on each machine that goes by the other one. Without a name: what there is to settle, of people whom you know; \
      a member that does not show is named by the first digits of its id, which a sync tells. If a device was stolen, its owner \
      removes it, too (kinvault device revoke).

      Examples:
        kinvault member settle
        kinvault member settle Emma --on 3f2a91
      """)

  @Argument(help: "The member: the name, or the first digits of the id.") var member: String?
  @Option(
    help: ArgumentHelp(
      "The true end: the first digits of its id.", valueName: "end"))
  var on: String?
  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @Flag(help: "Print what there is to settle as JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    if on != nil, member == nil {
      throw ValidationError("Say of which member: kinvault member settle MEMBER --on END")
    }
  }

  func run() throws {
    guard let on else { return try list() }
    try access.withVault(.writing) { vault in
      let places = try PlacesInWords.load(of: vault, named: member)
      guard let end = try PlacesInWords.end(on, among: places.ends) else {
        throw CommandError.notFound(
          "\u{201C}\(Terminal.visible(on))\u{201D} is not the beginning, of six digits or more, of one of the ends. To see "
            + "them: kinvault member settle")
      }
      guard !end.isSettled else {
        Terminal.writeLine("This machine goes by that already.")
        return
      }
      try Confirmation.require(
        "On this machine \(end.giver) has \(end.what), and nothing else, from now on. Is that what they say themselves?",
        isGiven: yes)
      try vault.settle(end.member, on: end.link)
      guard !end.counts else {
        Terminal.writeLine("This machine goes by that from now on, whatever comes.")
        return
      }
      Terminal.writeLine(
        """
        This machine goes by that from now on. Who has access: kinvault access list
        What others have written by it was not taken until now. To get it: kinvault sync
        A vault that is mounted here shows it once it is mounted anew.
        """)
    }
  }

  private struct Row: Encodable {
    var member: String
    var name: String
    var giver: String
    var end: String
    var taker: String?
    var signed: String
    var counts: Bool
    var isRemembered: Bool
    var isRefused: Bool
  }

  private func list() throws {
    let places = try access.withVault(.reading) {
      try PlacesInWords.load(of: $0, named: member)
    }
    if json {
      try JSONOutput.print(
        places.ends.map { end in
          Row(
            member: end.member.hex, name: end.memberName, giver: end.giver, end: end.id,
            taker: end.taker,
            signed: DateText.utc(milliseconds: end.time), counts: end.counts,
            isRemembered: end.isRemembered, isRefused: end.isRefused)
        })
      return
    }
    for lines in places.lines { Terminal.writeLine(lines) }
    if places.lines.isEmpty { Terminal.writeLine("Nobody has given a place up twice.") }
  }
}

/// The places that were given up twice, in words.
struct PlacesInWords {
  struct End {
    let member: MemberID
    let memberName: String
    let giver: String
    let link: StatementID
    let taker: String?
    let time: UInt64
    let counts: Bool
    let isRemembered: Bool
    let isRefused: Bool
    /// Whether a person has said before that it is the true one.
    let isSettled: Bool

    var id: String { link.hex }
    var what: String {
      taker.map { "handed their place among the owners of \(memberName) over to \($0)" }
        ?? "left \(memberName)"
    }
  }

  private(set) var ends: [End] = []
  /// A paragraph for each place.
  private(set) var lines: [String] = []

  /// - Parameter text: A member's name, or the first digits of an id; nil: all.
  static func load(of vault: Vault, named text: String?) throws -> PlacesInWords {
    let places = try vault.placesToSettle { member in
      text.map { member.begins(with: $0) || vault.member(member)?.name.string == $0 } ?? false
    }
    var words = PlacesInWords()
    words.add(places, named: text, try PersonLookup.load(of: vault), in: vault)
    // Of one that does not show nobody knows more than that there is nothing to settle.
    if words.ends.isEmpty, let text { _ = try RecordLookup(vault: vault).member(named: text) }
    return words
  }

  /// The end that a person names by the first digits of its id; nil if there is none.
  ///
  /// - Throws: `usage` where the ids of several begin so.
  static func end(_ digits: String, among ends: [End]) throws(CommandError) -> End? {
    try NameOrDigits(digits).one(among: ends, name: { _ in "" }, id: { $0.id })
  }

  private mutating func add(
    _ places: [PlaceToSettle], named text: String?, _ people: PersonLookup, in vault: Vault
  ) {
    for place in places {
      let name = vault.member(place.member)?.name.string
      guard text.map({ name == $0 || place.member.begins(with: $0) }) ?? true else { continue }
      let shown = Terminal.visible(name ?? "the member \(place.member.shortHex)")
      let ends = place.ends.map { end in
        End(
          member: place.member, memberName: shown, giver: people.name(of: place.holder),
          link: end.link, taker: end.taker.map { Self.taker($0, people) }, time: end.time,
          counts: end.counts, isRemembered: place.isRemembered, isRefused: end.isRefused,
          isSettled: end.counts && place.isSettled)
      }
      self.ends += ends
      lines.append(
        Self.paragraph(ends, ShellWord.quoted(name ?? String(place.member.hex.prefix(12)))))
    }
  }

  private static func taker(_ id: PersonID, _ people: PersonLookup) -> String {
    guard let known = people.known[id], known.isSpokenOf || known.isSelf else {
      return "\(id.shortHex), whom nobody here knows"
    }
    let name = people.name(of: id)
    return known.isSelf ? "you" : known.isVerified ? name : "\(name) (not verified)"
  }

  private static func paragraph(_ ends: [End], _ word: String) -> String {
    let giver = ends.first?.giver ?? ""
    var text =
      "\(giver) has given up their place among the owners of \(ends.first?.memberName ?? "") more than once, and only one of "
      + "these can be true:"
    for end in ends {
      let day = DateText.local(milliseconds: end.time)
      let mark = end.counts ? "   <- what counts here" : ""
      text += "\n  \(end.id.prefix(12))  \(end.what), signed \(day)\(mark)"
    }
    return text
      + "\nAsk \(giver), and those who are said to have it now. To say that another one is true: kinvault member settle \(word) --on "
      + "\(ends.last?.id.prefix(12) ?? "")"
  }
}
