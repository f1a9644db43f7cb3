import Vault
import VaultErrors
import VaultModel

/// What is to be told of who can read what, besides who can: access that ends or has ended, new keys whose making was
/// interrupted, members that wait for a yes.
struct AccessNotes: Encodable {
  struct Unfinished: Encodable {
    var member: String
    var without: [String]
    /// Whether somebody else's access may have been to end of whom nothing can be read any more.
    var isTorn: Bool
    var files: Int
    var filesLeft: Int
  }

  struct Ending: Encodable {
    var member: String
    var person: String
    var until: String
    var hasEnded: Bool
    fileprivate var milliseconds: UInt64

    enum CodingKeys: String, CodingKey { case member, person, until, hasEnded }
  }

  struct GivenUp: Encodable {
    var member: String
    var person: String
    var keeps: String
  }

  /// An owner's place that was given up twice; nothing here tells which time is true.
  struct Contested: Encodable {
    var member: String
    var giver: String

    init(_ place: PlaceToSettle, in vault: Vault, _ people: PersonLookup) {
      member = vault.member(place.member)?.name.string ?? place.member.shortHex
      giver = people.name(of: place.holder)
    }

    var line: String {
      "\(giver) has given up their place among the owners of \(Terminal.visible(member)) twice, and nothing here tells which "
        + "time is true. To see both, and to say which: kinvault member settle"
    }
  }

  /// A member from someone unverified, which does not show.
  struct Offered: Encodable {
    var id: String
    var member: String
    var from: String
    fileprivate var line: String

    enum CodingKeys: String, CodingKey { case id, member, from }
  }

  /// A member of which it cannot be told who can read it.
  struct Unread: Encodable {
    var member: String
    var reason: String
  }

  private(set) var unread: [Unread] = []
  private(set) var unfinished: [Unfinished] = []
  /// This person's own to what this machine has written, in words.
  let ended: [String]
  /// Within a month.
  private(set) var ending: [Ending] = []
  private(set) var givenUp: [GivenUp] = []
  private(set) var contested: [Contested] = []
  private(set) var offered: [Offered] = []
  /// Places among owners that this person offers, or is offered.
  let places: [PlaceOffers.Row]
  private let placeLines: [String]

  enum CodingKeys: String, CodingKey {
    case unread, unfinished, ended, ending, givenUp, contested, offered, places
  }

  static func load(of vault: Vault) throws -> AccessNotes {
    let people = try PersonLookup.load(of: vault)
    let places = try PlaceOffers.load(of: vault)
    var notes = AccessNotes(
      ended: vault.problems.filter { $0.kind == .accessEnded }.map(\.reason),
      places: places.rows, placeLines: places.lines)
    for member in vault.members {
      do { notes.add(try member.accesses(), to: member.name.string, people) } catch {
        let reason = FailureReport(error).message
        notes.unread.append(Unread(member: member.name.string, reason: reason))
      }
    }
    notes.contested = vault.contestedPlaces.map { Contested($0, in: vault, people) }
    notes.offered = try Offer.all(in: vault).map { offer in
      Offered(id: offer.id.hex, member: offer.rawName, from: offer.givers, line: offer.line)
    }
    // Whoever has access to a member of which that cannot be told could not be told either.
    for epoch in vault.interruptedEpochs().values {
      notes.unfinished.append(
        Unfinished(
          member: vault.member(epoch.member)?.name.string ?? epoch.member.shortHex,
          without: epoch.without.map(people.name(of:)), isTorn: epoch.isTorn,
          files: epoch.objectCount,
          filesLeft: epoch.leftCount))
    }
    return notes
  }

  private mutating func add(
    _ accesses: [MemberAccess], to member: String, _ people: PersonLookup
  ) {
    let soon = FileTimestamp.now.milliseconds + 30 * CivilTime.dayMilliseconds
    for access in accesses {
      let person = people.name(of: access.person)
      if let until = access.until, until <= soon {
        ending.append(
          Ending(
            member: member, person: person, until: DateText.utc(milliseconds: until),
            hasEnded: access.hasEnded, milliseconds: until))
      }
      if access.isLeaving {
        givenUp.append(GivenUp(member: member, person: person, keeps: "nothing"))
      }
    }
  }

  /// For a person, a line each.
  var lines: [String] {
    unread.map { one in
      "Who can read \(Terminal.visible(one.member)) cannot be told: \(one.reason)"
    } + unfinishedLines + endingLines
      + givenUp.map { one in
        let member = Terminal.visible(one.member)
        return "\(one.person) has left \(member); the next sync of an owner changes its key."
      }
      + contested.map(\.line) + offered.map(\.line) + placeLines
  }

  private var unfinishedLines: [String] {
    unfinished.map { one in
      let who = one.without.joined(separator: " and ")
      return "Encrypting \(Terminal.visible(one.member)) anew was interrupted, \(one.filesLeft) of "
        + "\(counted(one.files, "file")) left"
        + (who.isEmpty ? "" : "; until it is done \(who) can read it")
        + (one.isTorn ? "; whose access was to end with it cannot be read any more" : "")
        + ". Any command that changes something goes on with it, as does kinvault sync."
    }
  }

  private var endingLines: [String] {
    ended.map(Terminal.visible)
      + ending.map { one in
        let access = "\(one.person)'s access to \(Terminal.visible(one.member))"
        let day = DateText.local(milliseconds: one.milliseconds)
        return one.hasEnded
          ? "\(access) ended on \(day); the next sync of an owner takes the key away."
          : "\(access) ends on \(day)."
      }
  }
}

extension InterruptedEpoch {
  /// How far it has come.
  var leftText: String { "\(leftCount) of \(counted(objectCount, "file")) left" }
}
