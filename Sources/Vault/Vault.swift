import BlobStore
import Glibc
import Log
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

import struct SystemPackage.FilePath

/// An open vault: its members, and the audit log. Safe to use from any thread.
package final class Vault: Sendable {
  let context: VaultContext
  var identities: IdentityKeys { context.keys.identities }
  let openMembers: Guarded<[MemberID: Member]>
  /// Members that were closed when something was synced of them that no commit had.
  let closedWithWork = Guarded<[Member]>([])
  /// The open members that somebody shares with this person, and that this person has not accepted yet.
  private let offered = Guarded<Set<MemberID>>([])
  private let found: Guarded<[Problem]>
  /// Under which names this machine shows the members.
  package let memberNames: ShownNames
  let oldObjectUser = Guarded<(@Sendable (Member) -> Bool)?>(nil)
  /// This person's audit log, to which this device adds what is done here.
  package let audit: AuditLog
  /// Where failures are written that nobody waits for; Docs/Code.md, "The log".
  package var log: BackgroundLog { context.log }

  package let id: VaultID
  package var person: PersonID { context.person }
  package var device: DeviceID { context.device.id }
  package var folder: FilePath? { context.folder }
  /// How much of the disk new content leaves free, so that there is room for the commits that name it.
  package static var reservedByteCount: UInt64 { Staging.commitByteCount }
  package var isReadOnly: Bool { context.isReadOnly }
  /// The names that this person and this device have given themselves; they are kept sealed in the device's register.
  package let profile: DeviceProfile

  init(
    id: VaultID, context: VaultContext, profile: DeviceProfile, problems: [Problem]
  ) {
    self.id = id
    self.context = context
    self.profile = profile
    audit = AuditLog(context: context)
    memberNames = ShownNames(
      state: context.state, key: context.slotKey, clock: context.clock)
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
    guard event.place.isEmpty, let id = event.member,
      let member = member(id) ?? closedWithWork.withLock({ $0.last { $0.id == id } })
    else { return }
    let record = event.record.flatMap { member.entry($0)?.record }
    var parts = [record.map(member.displayPath) ?? member.name.string]
    if let name = event.name { parts.append(name.string) }
    // A segment is to hold more than one event.
    event.place = String(decoding: parts.joined(separator: "/").utf8.prefix(600), as: UTF8.self)
  }

  /// What was found wrong while the vault was opened, and did not keep it from being opened.
  package var problems: [Problem] {
    found.withLock { $0 } + (memberNames.failure.map { [Problem($0, path: "shown")] } ?? [])
  }

  /// What could not be encrypted anew since the last call, one problem a member.
  package func takeLeftBehind() -> [Problem] { context.takeLeftBehind() }

  func note(_ problem: Problem) {
    found.withLock { if !$0.contains(problem) { $0.append(problem) } }
  }

  /// A member counts again that no closing had listed.
  func forgetThatItIsUnlisted(_ id: MemberID) {
    let root = VaultPath.memberRoot(id).string
    found.withLock { $0.removeAll { $0.kind == .unlisted && $0.path == root } }
  }

  /// Goes without what was noted of members that wait for this person's yes: whoever gives them some puts into these what they
  /// like.
  func passOverProblemsOfOffers() {
    let folders = offered.withLock { $0 }.map { "members/\($0.hex)/" }
    if folders.isEmpty { return }
    found.withLock { $0.removeAll { problem in folders.contains(where: problem.path.hasPrefix) } }
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

  /// The names under which the members show, in commands and in the mounted view alike. Members of the same name get different
  /// ones.
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

  /// Counts how often people, members, anybody's access or any of their names were found to have changed. Whoever shows them
  /// compares it with what it was before.
  package var accessChanges: UInt64 { context.accessChanges }

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

  /// Makes a new member, with this person as its owner.
  ///
  /// - Parameter old: The member whose place it is to take, and beside which it shows until then; nil if there is none.
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
  /// The caller has committed before: what is staged and named by no commit is lost.
  package func close() throws(VaultError) {
    defer { context.staging?.remove() }
    let all = openedMembers + closedWithWork.withLock { $0 }
    context.redoFolder.close(isNeeded: all.contains { $0.hasLogged })
    removeDerivedOfOthers()
    try audit.flush()
  }
}

extension Member {
  /// True if no device has written this member yet.
  var hasNoHead: Bool { heads.withLock { $0.loaded.isEmpty } }

  /// What is missing or damaged of the member, so that it cannot be written; nil when it is whole.
  package var damageReason: VaultError? { state.withLock { $0.damage } }
}
