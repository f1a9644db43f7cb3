import HTTPTypes
import Hummingbird
import HummingbirdCore
import Vault
import VaultErrors
import VaultModel

extension Site {
  func addPeople(to router: Router<PageContext>) {
    let people = router.group("people")
    addOffers(to: people)
    addPerson(to: people)
    addAccess(to: router.group("access/:member"))
    people.get { _, context in
      try await show(context) { open, frame in
        if !frame.isReadOnly { _ = try open.vault.acceptIntroductions() }
        return .page(try PeoplePage.load(open.vault, frame).document)
      }
    }
    people.post("invite") { request, context in
      try await change(request, context) { open, frame, _ in
        .page(InvitationPage(frame: frame, invitation: try open.vault.invite()).document)
      }
    }
  }

  private func addOffers(to people: RouterGroup<PageContext>) {
    people.post("offers/:member") { request, context in
      let member: MemberID = try context.id(named: "member")
      return try await change(request, context) { open, _, _ in
        try open.vault.accept(member)
        return .seeOther("/people")
      }
    }
    people.post("places/:member/:person") { request, context in
      let member: MemberID = try context.id(named: "member")
      let giver: PersonID = try context.id(named: "person")
      return try await change(request, context) { open, _, _ in
        let vault = open.vault
        let offer = try vault.offeredPlaces().first {
          $0.member == member && $0.giver == giver && $0.taker == vault.person && !$0.isAgreed
        }
        guard let offer else { throw VaultError.notFound(what: "the offer") }
        try vault.agree(to: offer)
        return .seeOther("/people")
      }
    }
  }

  private func addAccess(to access: RouterGroup<PageContext>) {
    access.post("share") { request, context in
      let member: MemberID = try context.id(named: "member")
      return try await change(request, context) { try Self.share(member, $2, in: $0, $1) }
    }
    access.post(":person/remove") { request, context in
      let member: MemberID = try context.id(named: "member")
      let person: PersonID = try context.id(named: "person")
      return try await ask(request, context) { open, frame, _ in
        try Self.requireAccess(of: person, to: member, in: open.vault)
        return begin(.unshare, frame) { open, progress in
          try Self.unshare(member, from: person, in: open, progress)
        }
      }
    }
  }

  private func addPerson(to people: RouterGroup<PageContext>) {
    people.get(":person") { _, context in
      let person: PersonID = try context.id(named: "person")
      return try await show(context) { open, frame in
        .page(try Self.page(of: person, in: open.vault, frame).document)
      }
    }
    people.post(":person/words") { request, context in
      let person: PersonID = try context.id(named: "person")
      return try await ask(request, context) { open, frame, _ in
        var page = try Self.page(of: person, in: open.vault, frame)
        page.words = try open.vault.comparisonWords(with: person)
        return .page(page.document)
      }
    }
    people.post(":person/verified") { request, context in
      let person: PersonID = try context.id(named: "person")
      return try await change(request, context) { open, frame, form in
        let name = form["name"]?.trimmed ?? ""
        guard name.isEmpty || DeviceName.isGood(name) else {
          var page = try Self.page(of: person, in: open.vault, frame)
          page.problem = frame.texts("words.badName")
          return .page(page.document, status: .unprocessableContent)
        }
        try open.vault.noteComparedWords(with: person, name: name.isEmpty ? nil : name)
        return .seeOther("/people/\(person.hex)")
      }
    }
  }

  private static func page(
    of id: PersonID, in vault: Vault, _ frame: PageFrame
  ) throws -> PersonPage {
    let names = try PersonNames.load(vault, frame.texts)
    guard let person = names.known[id] else {
      throw VaultError.notFound(what: "the person")
    }
    return PersonPage(frame: frame, person: person, names: names)
  }

  // MARK: Sharing

  private static func share(
    _ id: MemberID, _ form: FormValues, in open: OpenVault, _ frame: PageFrame
  ) throws -> Response {
    let vault = open.vault
    let roles: [String: Role] = ["viewer": .viewer, "editor": .editor, "owner": .owner]
    guard let member = vault.member(id), let role = form["role"].flatMap({ roles[$0] }),
      let person = form["person"].flatMap({ PersonID(hex: $0) })
    else { throw VaultError.notFound(what: "the member") }
    func again(_ problem: String) throws -> Response {
      var page = try PeoplePage.load(vault, frame)
      page.problem = problem
      page.typed = (id, form)
      return .page(page.document, status: .unprocessableContent)
    }
    let names = try PersonNames.load(vault, frame.texts)
    var end: UInt64?
    if let day = form.given("until") {
      guard role != .owner else { return try again(frame.texts("people.ownerUntil")) }
      end = LocalTime.begin(ofDay: day, addingDays: 1)
      guard let end, end > FileTimestamp.now.milliseconds else {
        return try again(frame.texts("people.badDay"))
      }
    }
    let isContested = try vault.contestedInvitation(of: person) != nil
    guard (names.isVerified(person) && !isContested) || form["sure"] == "yes" else {
      let page = DoubtPage(
        frame: frame, name: names.name(of: person), person: person, isContested: isContested,
        member: id, role: "\(role)", until: form["until"] ?? "")
      return .page(page.document)
    }
    do { try vault.share(member, with: person, role: role, until: end) } catch {
      guard case .alreadyExists = error else { throw error }
      return try again(frame.texts("people.already", names.name(of: person)))
    }
    return .seeOther("/people")
  }

  /// - Throws: `notFound` where they have none.
  private static func requireAccess(
    of person: PersonID, to id: MemberID, in vault: Vault
  ) throws(VaultError) {
    guard let member = vault.member(id),
      try member.accesses().contains(where: { $0.person == person })
    else { throw .notFound(what: "the access") }
  }

  private static func unshare(
    _ id: MemberID, from person: PersonID, in open: OpenVault, _ progress: @escaping Work.Progress
  ) throws -> Work.Outcome {
    let vault = open.vault
    guard let member = vault.member(id) else { throw VaultError.notFound(what: "the member") }
    try vault.beginEpoch(of: member, without: [person], keepsHistory: true, progress: progress)
    // Of other members the next sync tells what fails.
    try vault.removeOldObjects().filter { $0.member == id }.requireNone()
    let left = vault.takeLeftBehind()
    return left.isEmpty ? .done : .leftBehind(left)
  }
}
