import BlobStore
import Glibc
import Log
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

import struct SystemPackage.FilePath

/// An open vault: its members, and the audit log. Safe to use from any thread.
package final class Vault: Sendable {
  let context: VaultContext
  var identities: IdentityKeys { context.keys.identities }
  private let openMembers: Guarded<[MemberID: Member]>
  /// Those of them that wait for this person's yes.
  private let offered = Guarded<Set<MemberID>>([])
  private let found: Guarded<[Problem]>
  /// What new epochs that this process has begun had to leave as it was.
  /// Under which names this machine shows the members.
  package let memberNames: ShownNames
  let oldObjectUser = Guarded<(@Sendable (Member) -> Bool)?>(nil)
  /// Every access, as this device notes it.
  package let audit: AuditLog
  /// What fails while nobody looks.
  package var log: BackgroundLog { context.log }

  package let id: VaultID
  package var person: PersonID { context.person }
  package var device: DeviceID { context.device.id }
  package var folder: FilePath? { context.folder }
  /// What content leaves free of the disk, for the commits that name it.
  package static var reservedByteCount: UInt64 { Staging.commitByteCount }
  package var isReadOnly: Bool { context.isReadOnly }
  /// How this person and device call themselves; kept sealed in the device's register.
  package let profile: DeviceProfile

  init(
    id: VaultID, context: VaultContext, profile: DeviceProfile, problems: [Problem]
  ) {
    self.id = id
    self.context = context
    self.profile = profile
    audit = AuditLog(context: context)
    memberNames = ShownNames(state: context.state, key: context.slotKey)
    openMembers = Guarded([:])
    found = Guarded(problems)
    context.noteNames(in: profile.profile)
    audit.nameEvents { [weak self] event in self?.name(&event) }
    memberNames.told.withLock {
      $0 = { [weak self] (titles) throws(VaultError) in try self?.toldNames(of: titles) ?? [:] }
    }
    context.tellNames.withLock {
      $0 = { [weak self] (profile) throws(VaultError) in try self?.tellNames(in: &profile) }
    }
    context.openJournals.withLock { $0 = { [weak self] in self?.openJournals ?? Journals() } }
    context.notedReads.withLock { $0 = { [weak self] in self?.notedReads ?? [:] } }
    context.noteEpoch.withLock {
      $0 = { [weak self] member in
        self?.audit.note(.revoke, member: member, detail: "new keys")
      }
    }
  }

  /// Gives an event of the log the names that its ids have now.
  private func name(_ event: inout AuditEvent) {
    if event.device.isEmpty { event.device = context.parted ?? profile.deviceName }
    if let person = event.person, event.about.isEmpty {
      event.about = context.names[person] ?? ""
    }
    guard event.place.isEmpty, let id = event.member, let member = member(id) else { return }
    let record = event.record.flatMap { member.entry($0)?.record }
    var parts = [record.map(member.displayPath) ?? member.name.string]
    if let name = event.name { parts.append(name.string) }
    // A segment is to hold more than one event.
    event.place = String(decoding: parts.joined(separator: "/").utf8.prefix(600), as: UTF8.self)
  }

  /// What was found wrong while opening, and can be lived with.
  package var problems: [Problem] {
    found.withLock { $0 } + (memberNames.failure.map { [Problem($0, path: "shown")] } ?? [])
  }

  // MARK: Members

  /// The members whose keys this person has, by name; not those that are only offered.
  package var members: [Member] {
    let offered = offered.withLock { $0 }
    return openedMembers.filter { !offered.contains($0.id) }
  }

  /// All members whose keys this person has, by name.
  var openedMembers: [Member] {
    openMembers.withLock { Array($0.values) }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  func isOffered(_ id: MemberID) -> Bool { offered.withLock { $0.contains(id) } }
  func offer(_ members: Set<MemberID>) { changeOffers { $0 = members } }
  func withdrawOffer(_ id: MemberID) { changeOffers { $0.remove(id) } }

  private func changeOffers(_ change: (inout Set<MemberID>) -> Void) {
    let isOther = offered.withLock { offered in
      let before = offered
      change(&offered)
      return offered != before
    }
    if isOther { context.noteAccessChange() }
  }

  package func member(_ id: MemberID) -> Member? { openMembers.withLock { $0[id] } }

  /// The member that shows under this name.
  package func member(named name: FileName) -> Member? {
    let names = shownNames
    return members.first { names[$0.id] == name }
  }

  /// What the members show as, here and in the mounted view: several of one name are told apart.
  package var shownNames: [MemberID: FileName] {
    let members = members
    return memberNames.names(
      of: Dictionary(members.map { ($0.id, $0.name) }) { first, _ in first },
      own: Set(members.filter(\.isOwn).map(\.id)))
  }

  /// The paths of a member's records, by which `member(named:)` finds it.
  package func pathNames(of member: Member) -> RecordPathNames {
    RecordPathNames(member, called: shownNames[member.id])
  }

  /// How often people, members, what anybody may do with them, or what they are called were found to be others.
  package var accessChanges: UInt64 { context.accessChanges }

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
      openMembers.withLock { _ = $0.removeValue(forKey: member.id) }
    }
    if !ended.isEmpty { removeDerivedOfOthers() }
    // Who made or shared a new one may be new as well.
    if try hasUnopenedMembers() { try context.reloadPeople() }
    let isNew = try openNewMembers(marks: marks, acceptsRollback: false)
    let isOther = isNew || !ended.isEmpty
    if isOther { context.noteAccessChange() }
    return isOther
  }

  /// Has members that this person has left elsewhere known as such.
  private func closeWhatWasLeft() {
    for member in openedMembers where member.role != nil {
      do {
        if try member.hasLostAccessSince() { _ = try reloadLinks(of: member) }
      } catch {
        // The look at its heads tells what is wrong with a member's folder.
        continue
      }
    }
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
      case .damaged(root, _): note(Problem(error, path: root))
      // Told when it is tried to open it anew.
      case .noAccess: break
      default: throw error
      }
      openMembers.withLock { _ = $0.removeValue(forKey: member.id) }
      context.noteAccessChange()
      return false
    }
    return true
  }

  private func hasUnopenedMembers() throws(VaultError) -> Bool {
    let entries = try storing(context.store.list("members"))
    return entries.contains { entry in
      MemberID(hex: entry.name).map { member($0) == nil } ?? false
    }
  }

  @discardableResult
  func openNewMembers(marks: Watermarks, acceptsRollback: Bool) throws(VaultError) -> Bool {
    let folder: BlobPath = "members"
    let entries = try storing(context.store.list(folder))
    let identities = identities.expanded()
    var isNew = false
    try compare(Set(entries.map(\.name)), with: marks, acceptsRollback: acceptsRollback)
    for entry in entries {
      guard let id = MemberID(hex: entry.name) else {
        note(.foreign(folder.appending(entry.name).string))
        continue
      }
      if member(id) != nil { continue }
      let place = folder.appending(entry.name).string
      do {
        if let member = try openNew(id, identities, marks, acceptsRollback, place) {
          openMembers.withLock { $0[id] = member }
          isNew = true
        }
      } catch {
        try note(error, ofUnopened: id, marks, place)
      }
    }
    try sortOutOffers()
    // From now on nobody else's member takes the name of one of these.
    _ = shownNames
    return isNew
  }

  /// A member that was not open yet; nil for one that does not show: its key has not come, or it has no head, as one that
  /// is just being made, or was never finished.
  private func openNew(
    _ id: MemberID, _ identities: ExpandedIdentities, _ marks: Watermarks, _ acceptsRollback: Bool,
    _ place: String
  ) throws(VaultError) -> Member? {
    let member = try open(id, identities)
    let problems =
      try member.register.links.problems
      + member.load(marks: marks, acceptsRollback: acceptsRollback)
    problems.forEach(note)
    guard member.hasNoHead else { return member }
    guard !member.waitsForKey else {
      note(
        Problem(
          .leftover, .note, path: place,
          reason: "its key was changed by an owner who did not know yet that you have access; "
            + "an owner's next sync gives it to you"))
      return nil
    }
    return problems.allSatisfy { $0.severity == .note } ? nil : member
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
        Problem(
          .accessEnded, .note, path: place,
          reason: "your access to it was given until a date that has passed"))
    case .rolledBack: throw error
    case .missing:
      if try !isUnfinished(id) { note(Problem(error, path: place)) }
    default: note(Problem(error, path: place))
    }
  }

  /// Why a member that this device has written does not open any more: an owner took the access away, this person gave it
  /// up, or someone took the links away.
  private func problemOfLostAccess(to id: MemberID) throws(VaultError) -> Problem {
    let path = BlobPath("members/\(id.hex)/links").string
    let links = try context.opening(of: id).loadLinks()
    if let leaving = links.history.leaving(of: person), leaving.keeps == nil {
      return Problem(.accessEnded, .note, path: path, reason: "you have left it")
    }
    if links.access.includes(person) {
      return Problem(
        .leftover, .note, path: path,
        reason: "you have access to it, and no key of it yet; an owner's next sync gives it to you")
    }
    if links.couldWrite(person) {
      return Problem(
        .accessEnded, .note, path: path, reason: "an owner has taken your access to it away")
    }
    return Problem(
      .missing, .damage, path: path,
      reason: "nothing in it opens this member any more, which this device has written")
  }

  /// A member that this device has written and whose folder is gone: the vault folder is from before.
  private func compare(
    _ folders: Set<String>, with marks: Watermarks, acceptsRollback: Bool
  ) throws(VaultError) {
    for mark in marks.marks where mark.counter > 0 {
      guard case .head(let member, device) = mark.path, !folders.contains(member.hex) else {
        continue
      }
      let error = VaultError.rolledBack(path: mark.path.string, found: 0, seen: mark.counter)
      if acceptsRollback {
        try context.state.withCommitLock { () throws(VaultError) in
          try context.state.updateWatermarks(durably: true) {
            $0.accept(mark.path, counter: 0, hash: .zero)
          }
        }
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

  /// What could not be encrypted anew since the last call, one problem a member.
  package func takeLeftBehind() -> [Problem] { context.takeLeftBehind() }

  func note(_ problem: Problem) {
    found.withLock { if !$0.contains(problem) { $0.append(problem) } }
  }

  private func open(
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

  /// Makes a new member, with this person as its owner.
  ///
  /// Durable when it returns; a crash before that leaves no member.
  ///
  /// - Throws: `alreadyExists` when there is one of this name.
  package func addMember(named name: FileName) throws(VaultError) -> Member {
    guard !isReadOnly else { throw .readOnly }
    guard member(named: name) == nil else { throw .alreadyExists(what: name.string) }
    let member = try addMember(named: name, renewing: nil)
    memberNames.free(name, for: member.id, present: Set(members.map(\.id)))
    _ = shownNames
    return member
  }

  /// The same for one that takes the place of another one, and shows beside it until it does.
  func addMember(
    named name: FileName, renewing old: MemberID?
  ) throws(VaultError) -> Member {
    let id = try MemberCreation(context: context, renews: old).run()
    let member = try open(id, identities.expanded())
    let root = RecordEdit(
      record: .root, isNew: true, place: RecordPlace(parent: nil, title: name, isDeleted: false),
      attributes: RecordAttributes(
        mode: 0o700, modified: FileTimestamp(milliseconds: context.clock.milliseconds()),
        owner: .mounter, xattrs: []))
    _ = try member.commit([root])
    openMembers.withLock { $0[id] = member }
    audit.note(.create, member: id, detail: "member")
    return member
  }

  // MARK: Ending

  /// Writes what is left of the audit log and removes this process's staging folder.
  ///
  /// Commits are the caller's business: what is staged and named by none is dropped.
  package func close() throws(VaultError) {
    defer { context.staging?.remove() }
    context.redoFolder.close(isNeeded: members.contains { $0.hasLogged })
    removeDerivedOfOthers()
    try audit.flush()
  }
}

extension Member {
  /// True if no device has written this member yet.
  var hasNoHead: Bool { heads.withLock { $0.loaded.isEmpty } }

  /// Why what is here of the member is not whole, and cannot be written; nil when it is.
  package var damageReason: VaultError? { state.withLock { $0.damage } }
}
