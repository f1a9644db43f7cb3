import BlobStore
import MachineState
import VaultErrors
import VaultModel
import VaultPeople

/// What keeps another device's head from counting yet: something that it names is not here, or not whole. A program that
/// copies file by file may still bring it.
struct Obstacle: Sendable {
  /// The fingerprint of the head's own file.
  fileprivate let head: UInt64
  /// What was found wanting; nil when that is no object.
  let object: BlobPath?
  /// What showed of it before it was last read; nil while it was read only once, for it may have come since.
  fileprivate let mark: FileMark?
  /// When it was first found so; milliseconds since 1970.
  fileprivate let since: UInt64
  /// Whether the head was looked at without asking for whole revisions, and could not be taken all the same.
  fileprivate let isGivenUp: Bool
  /// Where this machine could not read something: when that is tried again. Nil where what was read is missing or damaged.
  fileprivate let unread: ReadFiles?
}

/// Whether a file is there, and its fingerprint.
private enum FileMark: Hashable, Sendable {
  case absent
  case present(UInt64)
}

/// One look at another device's head, which may have been looked at before.
struct HeadLook: Sendable {
  /// Nothing of what kept the head from counting has changed since the last look.
  let isInVain: Bool
  /// What is damaged has not changed for so long that it is no longer taken to be on its way: it hides only the records
  /// that it belongs to.
  let hasWaitedEnough: Bool
  private let head: UInt64
  private let before: Obstacle?
  private let mark: FileMark?
  private let now: UInt64

  /// How long a damaged object that does not change is waited for, in milliseconds.
  static let patience: UInt64 = 60_000

  fileprivate init(head: UInt64, before: Obstacle?, mark: FileMark?, now: UInt64) {
    (self.head, self.before, self.mark, self.now) = (head, before, mark, now)
    guard let before, before.head == head, before.mark == mark else {
      (isInVain, hasWaitedEnough) = (false, false)
      return
    }
    hasWaitedEnough =
      mark != nil && (now < before.since || now - before.since >= Self.patience)
    if let unread = before.unread {
      isInVain = unread.waits(at: now)
    } else {
      isInVain = mark != nil && (!hasWaitedEnough || before.isGivenUp)
    }
  }

  /// What to wait for after this look failed; nil when it was not for want of a file that may still come, or that this machine
  /// could not read just now.
  func obstacle(after error: VaultError, of member: MemberID) -> Obstacle? {
    let object: BlobPath?
    var unread: ReadFiles?
    switch error {
    case .missing(let path): object = Self.object(path, of: member)
    case .damaged(let path, _):
      guard let damaged = Self.object(path, of: member) else { return nil }
      object = damaged
    // Read again it may be whole. One that a disk does not give hides only its own record in the end, as a damaged one does.
    case .io(let path, _), .noSpace(let path), .permission(let path):
      object = Self.object(path, of: member)
      let looked: StatementMarks = [object ?? .root: head]
      unread = ReadFiles(looked, without: looked.keys, after: before?.unread, at: now)
    default: return nil
    }
    let isSame = before.map { $0.head == head && $0.object == object } ?? false
    return Obstacle(
      head: head, object: object, mark: isSame ? mark : nil,
      since: isSame && before?.mark == mark ? before?.since ?? now : now,
      isGivenUp: hasWaitedEnough, unread: unread)
  }

  private static func object(_ path: String, of member: MemberID) -> BlobPath? {
    guard case .object(member, _) = VaultPath(parsing: path) else { return nil }
    return BlobPath(path)
  }
}

extension Member {
  /// Begins a look at a head, whose file has this fingerprint.
  func look(
    at fingerprint: UInt64, _ obstacle: Obstacle?
  ) throws(VaultError) -> HeadLook {
    var mark: FileMark?
    do {
      if let object = obstacle?.object { mark = try self.mark(of: object) }
    } catch {
      // Then it is looked at again; and whatever keeps the folder from being read keeps nobody from saving.
      guard error.isOfTheMachine else { throw error }
    }
    return HeadLook(
      head: fingerprint, before: obstacle, mark: mark, now: context.clock.milliseconds())
  }

  private func mark(of path: BlobPath) throws(VaultError) -> FileMark {
    let entries = try storing(context.store.list(path.parent ?? .root))
    let entry = entries.first { $0.kind == .blob && $0.name == path.name }
    return entry.map { .present($0.fingerprint) } ?? .absent
  }

  /// Whether this machine has put the head here itself, after all that it names, or has gone on from it.
  func isKnown(_ head: LoadedHead) throws(VaultError) -> Bool {
    let mark = try context.state.loadWatermarks()[register.path(of: head.device)]
    return mark?.counter == head.counter && mark?.hash == head.hash
  }

  /// Reads the revisions that are news and the lists of files in them: while one is half copied the record goes on as it
  /// is known here.
  ///
  /// - Throws: `missing`, `damaged`.
  func requireWholeRevisions(
    _ entries: [RecordEntry], of head: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    let news = withRecords(heads) { known in
      entries.filter { known.isNews($0, from: head.late) }
    }
    // Of several revisions of a record, the older ones may have been collected.
    let newest = Manifest(news + entriesWaiting(for: head, heads))
    _ = try inParallel(news.filter { newest.holds($0) }) {
      (entry) throws(VaultError) in _ = try self.items(of: self.revision(entry.revision))
    }
  }
}
