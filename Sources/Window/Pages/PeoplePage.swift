import Vault
import VaultErrors
import VaultModel

/// Who has access to which member, and whom this person knows.
struct PeoplePage {
  struct Holder {
    let access: MemberAccess
    let name: String
    let isSelf: Bool
    /// Whether this person may take it away.
    let isBelow: Bool
  }

  struct Row {
    let member: MemberID
    let name: String
    let isOwner: Bool
    var holders: [Holder] = []
    /// Why it cannot be told who they are.
    var failure: VaultError?
  }

  let frame: PageFrame
  let rows: [Row]
  let people: [KnownPerson]
  let names: PersonNames
  private let offers: [OfferedMember]
  private let places: [(place: OfferedPlace, member: String)]
  private let contested: [PlaceToSettle]
  private let shownNames: [MemberID: FileName]
  var problem: String?
  /// What was typed to share a member, and did not go through.
  var typed: (member: MemberID, form: FormValues)?

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(_ vault: Vault, _ frame: PageFrame) throws(VaultError) -> PeoplePage {
    let names = try PersonNames.load(vault, frame.texts)
    let shown = vault.shownNames
    let rows = vault.members.map { member in
      var row = Row(
        member: member.id, name: (shown[member.id] ?? member.name).string,
        isOwner: member.role == .owner)
      do throws(VaultError) {
        row.holders = holders(try member.accesses(), names, as: vault.person)
      } catch {
        row.failure = error
      }
      return row
    }
    let places = try vault.offeredPlaces().filter { $0.taker == vault.person && !$0.isAgreed }
    return PeoplePage(
      frame: frame, rows: rows, people: names.known.all.filter(\.isSpokenOf), names: names,
      offers: vault.offeredMembers,
      places: places.map { ($0, (shown[$0.member]?.string ?? $0.member.shortHex)) },
      contested: vault.contestedPlaces, shownNames: shown)
  }

  private static func holders(
    _ accesses: [MemberAccess], _ names: PersonNames, as person: PersonID
  ) -> [Holder] {
    let own = accesses.first { $0.person == person }?.place
    return accesses.map { access in
      Holder(
        access: access, name: names.name(of: access.person), isSelf: access.person == person,
        isBelow: own.map { own in access.place.map { own < $0 } ?? true } ?? false)
    }
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { texts("people.title") },
        alert(problem),
        .group(contested.map(settling)),
        .group(offers.map(offer)),
        .group(places.map(place)),
        .group(rows.map(row)),
        known,
      ]))
  }

  // MARK: Who has access

  private func row(_ row: Row) -> HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { named(row.name) }
      if let failure = row.failure {
        tag("p", ["class": "error"]) {
          texts("people.unread", texts.failure(failure) ?? failure.message)
        }
      } else {
        holders(of: row)
        if row.isOwner, !frame.isReadOnly { sharing(row) }
      }
    }
  }

  private func holders(of row: Row) -> HTML {
    tag("table") {
      tableHead {
        texts("people.who")
        texts("people.as")
        texts("people.since")
        tag("span", ["class": "unseen"]) { texts("people.change") }
      }
      tag("tbody") { for holder in row.holders { line(holder, of: row) } }
    }
  }

  private func line(_ holder: Holder, of row: Row) -> HTML {
    tag("tr") {
      tag("td") {
        if holder.isSelf {
          named(holder.name)
          " (\(texts("people.ofYou")))"
        } else {
          tag("a", ["href": "/people/\(holder.access.person.hex)"]) { named(holder.name) }
        }
      }
      tag("td") { standing(holder.access) }
      tag("td") { texts.day(milliseconds: holder.access.time) }
      tag("td") {
        if holder.isBelow, !holder.isSelf, holder.access.removal == nil, !frame.isReadOnly {
          tag("details") {
            tag("summary") { texts("people.remove") }
            frame.post("/access/\(row.member.hex)/\(holder.access.person.hex)/remove") {
              tag("p") { texts("people.remove.sure", holder.name, row.name) }
              tag("button", ["type": "submit", "class": "grave"]) { texts("people.remove.yes") }
            }
          }
        }
      }
    }
  }

  private func standing(_ access: MemberAccess) -> String {
    let role = texts("role.\(access.role)")
    if access.removal != nil { return texts("people.removing", role) }
    if access.isLeaving { return texts("people.leaving", role) }
    if access.hasEnded { return texts("people.ended", role) }
    if let until = access.until {
      return texts("people.until", role, texts.day(milliseconds: max(1, until) - 1))
    }
    return role
  }

  private func sharing(_ row: Row) -> HTML {
    let others = people.filter { !$0.isSelf }
    guard !others.isEmpty else { return tag("p", ["class": "quiet"]) { texts("people.nobody") } }
    let typed = typed.flatMap { $0.member == row.member ? $0.form : nil }
    return tag("details", ["open": typed == nil ? nil : ""]) {
      tag("summary") { texts("people.share") }
      frame.post("/access/\(row.member.hex)/share", ["class": "edit"]) {
        let id = row.member.shortHex
        tag("label", ["for": "person-\(id)"]) { texts("people.with") }
        tag("select", ["id": "person-\(id)", "name": "person"]) {
          for person in others {
            tag(
              "option",
              ["value": person.id.hex, "selected": typed?["person"] == person.id.hex ? "" : nil]
            ) { names.name(of: person.id) }
          }
        }
        tag("label", ["for": "role-\(id)"]) { texts("people.role") }
        tag("select", ["id": "role-\(id)", "name": "role"]) {
          for role in [Role.viewer, .editor, .owner] {
            tag(
              "option", ["value": "\(role)", "selected": typed?["role"] == "\(role)" ? "" : nil]
            ) { texts("role.\(role).means") }
          }
        }
        tag("label", ["for": "until-\(id)"]) { texts("people.lastDay") }
        tag(
          "input",
          [
            "id": "until-\(id)", "type": "date", "name": "until", "autocomplete": "off",
            "value": typed?.given("until"),
          ])
        tag("p", ["class": "actions"]) {
          tag("button", ["type": "submit"]) { texts("people.share.yes") }
        }
      }
    }
  }

  // MARK: What is offered

  private func offer(_ offer: OfferedMember) -> HTML {
    let givers = offer.gifts.map { names.name(of: $0.giver) }.joined(separator: ", ")
    let maker = names.name(of: offer.member.creator)
    return tag("section", ["class": "card"]) {
      tag("h2") { named(offer.member.name.string) }
      if let old = offer.renews {
        let without = offer.without.map(names.name(of:)).joined(separator: ", ")
        let shown = (shownNames[old.id] ?? old.name).string
        // Whoever makes one chooses its title.
        let isNamesake = shown == offer.member.name.string
        tag("p") {
          texts(isNamesake ? "people.renewal" : "people.renewal.other", maker, without, shown)
        }
        if !names.isVerified(offer.member.creator) {
          tag("p", ["class": "error"]) { texts("people.unverified", maker) }
        }
      } else {
        tag("p") { texts("people.offer", givers) }
      }
      if !frame.isReadOnly {
        frame.post("/people/offers/\(offer.member.id.hex)") {
          tag("button", ["type": "submit"]) { texts("people.accept") }
        }
      }
    }
  }

  private func place(_ place: OfferedPlace, _ member: String) -> HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { named(member) }
      tag("p") { texts("people.place", names.name(of: place.giver)) }
      if !names.isVerified(place.giver) {
        tag("p", ["class": "error"]) { texts("people.unverified", names.name(of: place.giver)) }
      }
      if !frame.isReadOnly {
        frame.post("/people/places/\(place.member.hex)/\(place.giver.hex)") {
          tag("button", ["type": "submit"]) { texts("people.place.yes") }
        }
      }
    }
  }

  private func settling(_ place: PlaceToSettle) -> HTML {
    tag("p", ["class": "error"]) {
      texts(
        "people.contested", names.name(of: place.holder),
        (shownNames[place.member]?.string ?? place.member.shortHex))
    }
  }

  // MARK: Whom one knows

  private var known: HTML {
    tag("section") {
      tag("h2") { texts("people.known") }
      tag("table") {
        tableHead {
          texts("people.who")
          texts("people.verified")
          texts("people.since")
        }
        tag("tbody") {
          for person in people where !person.isSelf {
            tag("tr") {
              tag("td") {
                tag("a", ["href": "/people/\(person.id.hex)"]) { named(names.name(of: person.id)) }
              }
              tag("td") { names.verification(of: person) }
              tag("td") { texts.day(milliseconds: person.since) }
            }
          }
        }
      }
      if !frame.isReadOnly {
        frame.post("/people/invite") {
          tag("p", ["class": "quiet"]) { texts("people.invite.about") }
          tag("button", ["type": "submit"]) { texts("people.invite") }
        }
      }
    }
  }
}
