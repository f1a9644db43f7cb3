import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// How the members come to be open: all that this person has a key of, and no others.
extension Vault {
  /// Opens members that were added since, and closes those to which this person has no access any more.
  ///
  /// - Returns: True if there are any.
  package func refreshMembers() throws(VaultError) -> Bool {
    let marks = try context.state.loadWatermarks()
    // Another process may have made one anew, or accepted one, which takes another one's name then.
    memberNames.readAgain()
    closeWhatWasLeft()
    let ended = openedMembers.filter { $0.role == nil }
    for member in ended {
      // An owner has taken this person's access away, it has ended, or they have given it up.
      close(member)
    }
    if !ended.isEmpty { removeDerivedOfOthers() }
    // Who made or shared a new one may be new as well.
    if try hasUnopenedMembers() { try context.reloadPeople() }
    let isNew = try openNewMembers(RollbackGuard(marks: marks, isLifted: false))
    let isOther = isNew || !ended.isEmpty
    if isOther { context.noteAccessChange() }
    return isOther
  }

  /// Has members that this person has left elsewhere known as such, and those that no closing lists whose device is out, as far as
  /// people's files have been read since: that is done when a new head comes.
  private func closeWhatWasLeft() {
    for member in openedMembers where member.role != nil {
      do {
        let isOut = context.removal == nil && isUnlisted(member)
        if try isOut || member.hasLostAccessSince() { _ = try reloadLinks(of: member) }
      } catch {
        // The look at its heads tells what is wrong with a member's folder.
        continue
      }
    }
  }

  /// Whether a device has made the member that its person has left out, and no closing lists it.
  private func isUnlisted(_ member: Member) -> Bool {
    let certificate = member.register.links.history.root.certificate
    let trust = context.people.trust
    return trust.device(certificate) == .former && !trust.stands(member.id.root, by: certificate)
  }

  /// Reads the links of a member again, as `Member.reloadLinks` does. If its root does not hold any more, as with one that
  /// was made by a device which its person has removed since, it is none: it is closed here, and nothing waits for it. So it
  /// is if this person has no key of it any more, as where they have access by another end of a place, and nobody has given
  /// them the key yet.
  ///
  /// - Returns: Whether it is still open.
  func reloadLinks(of member: Member) throws(VaultError) -> Bool {
    do { try member.reloadLinks() } catch {
      let root = VaultPath.memberRoot(member.id).string
      switch error {
      case .damaged(root, _): note(try problem(error, ofClosed: member.id, root))
      // Told when it is tried to open it anew.
      case .noAccess: break
      default: throw error
      }
      close(member)
      context.noteAccessChange()
      return false
    }
    return true
  }

  /// From now on it is none of those that are open. What was synced of it and no commit has stays where the next process finds it.
  private func close(_ member: Member) {
    openMembers.withLock { _ = $0.removeValue(forKey: member.id) }
    if member.hasLogged { closedWithWork.withLock { $0.append(member) } }
  }

  private func hasUnopenedMembers() throws(VaultError) -> Bool {
    let entries = try storing(context.store.list("members"))
    return entries.contains { entry in
      MemberID(hex: entry.name).map { member($0) == nil } ?? false
    }
  }

  @discardableResult
  func openNewMembers(_ rollback: RollbackGuard) throws(VaultError) -> Bool {
    let folder: BlobPath = "members"
    let entries = try storing(context.store.list(folder))
    let identities = identities.expanded()
    var isNew = false
    try compare(Set(entries.map(\.name)), with: rollback)
    for entry in entries {
      guard let id = MemberID(hex: entry.name) else {
        note(.foreign(folder.appending(entry.name).string))
        continue
      }
      if member(id) != nil { continue }
      let place = folder.appending(entry.name).string
      do {
        if let member = try openNew(id, identities, rollback, place) {
          openMembers.withLock { $0[id] = member }
          forgetThatItIsUnlisted(id)
          isNew = true
        }
      } catch {
        try note(error, ofUnopened: id, rollback.marks, place)
      }
    }
    try sortOutOffers()
    passOverProblemsOfOffers()
    // From now on nobody else's member takes the name of one of these.
    _ = shownNames
    return isNew
  }

  /// A member that was not open yet; nil for one that does not show: its key has not come, or it has no head, as one that
  /// is just being made, or was never finished.
  private func openNew(
    _ id: MemberID, _ identities: ExpandedIdentities, _ rollback: RollbackGuard, _ place: String
  ) throws(VaultError) -> Member? {
    let member = try open(id, identities)
    let problems =
      try member.register.links.problems
      + member.load(rollback)
    problems.forEach(note)
    guard member.hasNoHead else { return member }
    guard !member.waitsForKey else {
      note(
        Problem(
          .waiting, .note, path: place,
          reason: "its key was changed by an owner who did not know yet that you have access; "
            + "an owner's next sync gives it to you"))
      return nil
    }
    // One whose heads were seen here and are gone shows under its name when they have come again.
    return problems.allSatisfy { $0.severity == .note || $0.isOfGoneHead } ? nil : member
  }

  /// Notes why a member does not open, where somebody is to know.
  ///
  /// - Throws: `rolledBack`, with which nothing opens; what keeps it from being found out.
  private func note(
    _ error: VaultError, ofUnopened id: MemberID, _ marks: Watermarks, _ place: String
  ) throws(VaultError) {
    switch error {
    case .noAccess:
      // Not ours, unless this device has written it: then access was taken away.
      guard let mark = marks[.head(id, device)], mark.counter > 0 else { return }
      note(try problemOfLostAccess(to: id))
    case .accessEnded:
      note(
        endedAccess(
          path: place, "Your access to \(nameOfClosed(id)) was given until a date that has passed.")
      )
    case .rolledBack: throw error
    case .missing:
      if try !isUnfinished(id) { note(Problem(error, path: place)) }
    default: note(try problem(error, ofClosed: id, place))
    }
  }

  /// What keeps a member from opening; of one that showed here before with its name.
  private func problem(
    _ error: VaultError, ofClosed id: MemberID, _ path: String
  ) throws(VaultError) -> Problem {
    var problem = Problem(error, path: path)
    problem.member = memberNames.name(of: id)?.string
    guard problem.kind == .unlisted, problem.severity > .note else { return problem }
    if let member = try unlistedMember(id) {
      problem.member = member.name
      problem.reason =
        "it was made on a device that you have removed since, so it counts no more. It is kept here. To bring it back, or to "
        + "be told no more: kinvault member keep"
      if member.isUnwanted { problem.severity = .note }
    } else if problem.member == nil {
      // Nobody misses what was only offered here, and whoever has a removed device can have offered it.
      problem.severity = .note
    }
    return problem
  }

  /// Why a member that this device has written does not open any more: an owner took the access away, this person gave it
  /// up, or someone took the links away.
  private func problemOfLostAccess(to id: MemberID) throws(VaultError) -> Problem {
    let path = BlobPath("members/\(id.hex)/links").string
    let links = try context.opening(of: id).loadLinks()
    if let leaving = links.history.leaving(of: person), leaving.keeps == nil {
      return endedAccess(path: path, "You have left \(nameOfClosed(id)).")
    }
    if links.access.includes(person) {
      return Problem(
        .waiting, .note, path: path,
        reason: "you have access to it, and no key of it yet; an owner's next sync gives it to you")
    }
    if links.couldBelieveToWrite(person) {
      return endedAccess(path: path, "An owner has taken your access to \(nameOfClosed(id)) away.")
    }
    return Problem(
      .missing, .damage, path: path,
      reason: "nothing in it opens this member any more, which this device has written")
  }

  /// What is told of access that has ended, also of what nobody got before: nothing shows it any more.
  private func endedAccess(path: String, _ what: String) -> Problem {
    Problem(
      .accessEnded, .note, path: path,
      reason: what
        + " What this machine had saved of it, and nobody had got, is kept here, and is taken along once an "
        + "owner lets you write again.")
  }

  /// What a member that does not open showed as here.
  func nameOfClosed(_ id: MemberID) -> String {
    memberNames.name(of: id)?.string ?? id.shortHex
  }

  /// A member that this device has written and whose folder is gone: the vault folder is from before.
  private func compare(
    _ folders: Set<String>, with rollback: RollbackGuard
  ) throws(VaultError) {
    for mark in rollback.marks.marks where mark.counter > 0 {
      guard case .head(let member, device) = mark.path, !folders.contains(member.hex) else {
        continue
      }
      let error = VaultError.rolledBack(path: mark.path.string, found: 0, seen: mark.counter)
      if rollback.isLifted {
        try context.state.acceptRollback(of: mark.path, to: 0, .zero)
      } else if isReadOnly {
        note(Problem(error, path: mark.path.string))
      } else {
        throw error
      }
    }
  }

  /// True if an interrupted program left no more of the member than the beginning of its root: that is
  /// written first, so nothing can be lost with it.
  private func isUnfinished(_ id: MemberID) throws(VaultError) -> Bool {
    let folder = BlobPath(VaultPath.memberRoot(id).string).parent ?? .root
    return try storing(context.store.list(folder).allSatisfy { !$0.isFolder && $0.name != "root" })
  }

  func open(
    _ id: MemberID, _ identities: ExpandedIdentities
  ) throws(VaultError) -> Member {
    let opened = try context.opening(of: id).open(identities: identities)
    if !opened.links.lost.isEmpty { noteLost(opened.links) }
    try context.keep(opened.links, wraps: opened.wraps)
    return Member(id: id, context: context, opened: opened)
  }

  /// Tells what of a member this machine remembers and the folder lacks.
  private func noteLost(_ links: MemberLinks) {
    for path in links.lost.keys.map(\.string).sorted() { note(.gone(path, isReadOnly: isReadOnly)) }
  }

  /// A member as the statements in a tree say.
  func open(_ id: MemberID, in tree: SignedTree) throws(VaultError) -> Member {
    let opening = MemberOpening(
      member: id, store: tree.store, files: tree.files, people: tree.people,
      person: context.person, now: context.clock.milliseconds(),
      memory: try context.state.loadLinkMemory(of: id))
    return Member(
      id: id, context: context, opened: try opening.open(identities: identities.expanded()))
  }
}
