import BlobStore
import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// The links of one member as they were last read, shared by all that judge its heads.
final class KnownLinks: Sendable {
  private let latest: Guarded<MemberLinks>
  /// Their folder as it was read last, whether they were taken in or not.
  private let seen: Guarded<ReadFiles>

  init(_ links: MemberLinks, at now: UInt64) {
    latest = Guarded(links)
    seen = Guarded(ReadFiles(links, after: nil, at: now))
  }

  var links: MemberLinks { latest.withLock { $0 } }

  /// The person's role by the links that are known. The links are not copied for it, since every change in a mount asks.
  func role(of person: PersonID, now: UInt64) -> Role? {
    latest.withLock { $0.role(of: person, now: now) }
  }

  /// - Returns: Whether they are others.
  func replace(_ links: MemberLinks, at now: UInt64) -> Bool {
    let before = latest.withLock { latest in
      defer { latest = links }
      return latest.readMarks
    }
    note(links, at: now)
    return links.readMarks != before
  }

  /// Whether the folder is to be read again, as it looks now.
  func isNews(_ marks: StatementMarks, at now: UInt64) -> Bool {
    seen.withLock { $0.isOutdated(by: marks, at: now) }
  }

  /// Whether links are missing that could not be read, and that were read since or are to be tried again.
  func lacksWhatMayBeRead(at now: UInt64) -> Bool {
    latest.withLock { !$0.unread.isEmpty } && !seen.withLock { $0.waits(at: now) }
  }

  /// - Returns: Whether they are others.
  @discardableResult func note(_ links: MemberLinks, at now: UInt64) -> Bool {
    seen.withLock { seen in
      let before = seen.read
      seen = ReadFiles(links, after: seen, at: now)
      return seen.read != before
    }
  }
}

extension ReadFiles {
  fileprivate init(_ links: MemberLinks, after before: ReadFiles?, at now: UInt64) {
    self.init(links.marks, without: links.unread.keys, after: before, at: now)
  }
}

extension MemberLinks {
  /// What the files looked like that were read.
  fileprivate var readMarks: StatementMarks {
    unread.isEmpty ? marks : marks.filter { unread[$0.key] == nil }
  }
}

extension VaultContext {
  /// What opens a member as the vault's folder has it.
  func opening(of member: MemberID) throws(VaultError) -> MemberOpening {
    MemberOpening(
      member: member, store: store, files: signedFiles, people: people, person: person,
      now: clock.milliseconds(), memory: try state.loadLinkMemory(of: member))
  }

  /// What gives keys, or says what counts, waits until all is read that may say who is out: the member's links, and what the
  /// people say of themselves whom they name.
  ///
  /// - Throws: Why something of it could not be read just now.
  func requireRead(_ links: MemberLinks) throws(VaultError) {
    if let error = links.unread.values.first { throw error }
    try requireRead(links.history.everyone.union([person]))
  }

  /// The same of these people.
  func requireRead(_ persons: Set<PersonID>) throws(VaultError) {
    let people = people
    if people.unread.isEmpty { return }
    for person in persons.sorted() {
      if let error = people.unread(of: person) { throw error }
    }
  }

  /// Keeps what counts of a member's links, and puts what the folder lacks of it back.
  func keep(_ links: MemberLinks, wraps: [VaultPath: [UInt8]]) throws(VaultError) {
    guard !isReadOnly else { return }
    for (path, bytes) in links.lost {
      try storing(store.replace(BlobPath(path.string), bytes, durably: true))
    }
    try state.remember(links, wraps: wraps)
  }
}

extension Member {
  /// Whether an epoch is better than the one in use here, and this person was not given its key.
  var waitsForKey: Bool {
    let epochs = register.links.trust.epochs
    guard let best = epochs.ranking.first, best != epoch else { return false }
    return epochs.unwrapped[best]?.contains(context.person) ?? false
  }

  /// Whether this person made the member.
  package var isOwn: Bool { register.links.creator == context.person }

  /// Whether this person's changes count. Everyone ignores what others write, so it is never written.
  package var mayWrite: Bool { bar == nil }

  /// Whether this device writes it: its changes count, and what is here is whole.
  var isWritten: Bool { mayWrite && damageReason == nil }

  /// Why this process may change nothing of the member: `readOnly`, `thisDeviceRemoved` or `viewersOnlyRead`; nil where it
  /// may. Commits ask it before they write, mounts and pages before they let anybody begin. What else keeps a change from
  /// being written, as damage or a spent epoch, a commit says.
  package var refusal: VaultError? { context.isReadOnly ? .readOnly : bar }

  /// Why this person's changes do not count; nil where they do.
  private var bar: VaultError? {
    context.removal ?? (role?.mayWrite ?? false ? nil : .viewersOnlyRead(member: id))
  }

  /// Reads the links again: someone may have been given access since, or a new epoch begun.
  func reloadLinks() throws(VaultError) {
    try heads.withLock { (heads) throws(VaultError) in
      try loadLinks()
      _ = try followEpoch(&heads)
    }
  }

  /// Whether links that have come since say that this person has no access any more. Whoever takes it away writes a head
  /// beside the link, which `refresh` finds; who gives it up themself, in another process or on another machine, writes
  /// none. Until heads have come nothing else of the links is taken in.
  ///
  /// Costs one listing of the links when nothing changed.
  func hasLostAccessSince() throws(VaultError) -> Bool {
    let marks = LinkReading.marks(try LinkReading.entries(of: id, in: context.store))
    guard register.known.isNews(marks, at: context.clock.milliseconds()) else { return false }
    let opening = try context.opening(of: id)
    let links = try opening.loadLinks()
    // Where it is lost, it stays news until the links are taken in.
    guard links.role(of: context.person, now: opening.now) != nil else { return true }
    if register.known.note(links, at: opening.now) { context.noteAccessChange() }
    return false
  }

  /// Reads the links anew, for a caller who holds the lock of `heads` and sees to it that what is known follows the epoch.
  ///
  /// When this person has no access any more the keys stay as they were, so that what is open can be closed.
  func loadLinks() throws(VaultError) {
    let opening = try context.opening(of: id)
    let links = try opening.loadLinks()
    var wraps: [VaultPath: [UInt8]] = [:]
    if links.role(of: context.person, now: opening.now) != nil {
      let opened = try opening.open(
        links, identities: context.keys.identities.expanded(), reusing: register.keys)
      register.keys.replace(by: opened.keys)
      wraps = opened.wraps
    }
    if register.known.replace(links, at: opening.now) { context.noteAccessChange() }
    try context.keep(links, wraps: wraps)
  }
}
