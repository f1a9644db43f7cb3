import BlobStore
import Log
import MachineState
import VaultErrors
import VaultModel

extension Vault {
  /// Makes part of the vault what processes of this device had made durable, but not committed, when they died.
  ///
  /// Costs one look into a folder when there is none such. What cannot be done now is noted as a problem, and tried
  /// again the next time; so is that there is something in a vault that was opened for reading only.
  package func redoWhatCrashesLeft() throws(VaultError) {
    guard !isReadOnly else { return noteWhatCrashesLeft() }
    let others = try context.state.redoWriters(besides: context.redoFolder.writer)
    var waiting: Set<MemberID> = []
    if !others.isEmpty {
      try context.state.withLock(RedoFolder.lockName) { () throws(VaultError) in
        for writer in others { try waiting.formUnion(redoIfDead(writer)) }
      }
    }
    // Also where a person has removed what could not be brought in.
    for member in openedMembers where !waiting.contains(member.id) {
      log.succeeded(.redo, of: LogIdentity(member.id))
    }
  }

  private func noteWhatCrashesLeft() {
    // A state folder in which nothing can be locked must not keep anyone from reading.
    let files = (try? context.state.redoFilesLeft()) ?? []
    let others = files.filter { path in
      // What cannot be read now is left to whoever brings it in.
      guard let id = MemberID(hex: path.name), let member = self.member(id), !member.mayWrite,
        let writer = path.parent.flatMap({ RedoWriterID(hex: $0.name) }),
        let file = try? load(path),
        let redone = try? member.redo(file, of: writer)
      else { return true }
      // Who may not write changes nothing by that, and it stays as it is.
      noteKept(path, member, redone)
      return false
    }
    if others.isEmpty { return }
    noteUnfinished(
      RedoFolder.parent, member: nil,
      "it is opened for reading only. The next mount, or command that changes something, "
        + "brings it in, or says what keeps it from that")
  }

  /// - Returns: The members for which something of it is left to do; none while the process lives.
  private func redoIfDead(_ writer: RedoWriterID) throws(VaultError) -> Set<MemberID> {
    guard try context.state.hasRedoFolder(of: writer),
      let waiting = try redoHoldingItsLock(writer)
    else { return [] }
    if waiting.isEmpty { context.state.removeRedoFolder(of: writer) }
    return waiting
  }

  /// - Returns: The members for which something of it is left to do; nil while the process lives.
  private func redoHoldingItsLock(_ writer: RedoWriterID) throws(VaultError) -> Set<MemberID>? {
    guard let root = context.state.path else { return try redo(writer) }
    // Held until all is done: nobody else takes it for dead meanwhile.
    guard let lock = try context.state.lock(ofDead: writer, in: root) else { return nil }
    let waiting = try redo(writer)
    withExtendedLifetime(lock) {}
    return waiting
  }

  /// - Returns: The members for which something of it is left to do.
  private func redo(_ writer: RedoWriterID) throws(VaultError) -> Set<MemberID> {
    let folder = RedoFolder.path(of: writer)
    let entries = try storing(context.state.store.list(folder))
    var waiting: Set<MemberID> = []
    for entry in entries {
      guard let id = MemberID(hex: entry.name) else { continue }
      let path = folder.appending(entry.name)
      guard let member = member(id) else {
        waiting.insert(id)
        noteUnfinished(
          path, member: nil,
          "\(nameOfClosed(id)) cannot be opened. It is kept here until it can. "
            + "To give it up, remove \(context.state.describe(path))")
        continue
      }
      do {
        if try !redo(path, of: writer, in: member) { waiting.insert(id) }
      } catch {
        waiting.insert(id)
        log.failed(.redo, error, of: LogIdentity(id))
        noteUnfinished(path, member: member, Self.advice(on: error))
      }
    }
    return waiting
  }

  /// - Returns: Whether nothing of it is left to do.
  private func redo(
    _ path: BlobPath, of writer: RedoWriterID, in member: Member
  ) throws(VaultError) -> Bool {
    // A mount looks for these all the time. With one that was told nothing is done before its person may write again.
    if !member.mayWrite, isNoted(path) {
      log.failed(.redo, refusal(of: member), of: LogIdentity(member.id))
      return false
    }
    let redone = try member.redo(load(path), of: writer) { edits, commit in
      // The process that died could not.
      audit.note(edits, of: commit, in: member.id)
    }
    guard case .done = redone else {
      noteKept(path, member, redone)
      return false
    }
    try storing(context.state.store.remove(path))
    return true
  }

  /// The records of a redo file; the rest of it, which is mostly nearly all, is not read.
  private func load(_ path: BlobPath) throws(VaultError) -> [UInt8] {
    try RedoFile.load { (range) throws(VaultError) in
      try storing(
        context.state.store.read(path, at: UInt64(range.lowerBound), count: range.count))
    }
  }

  /// Keeps what a process that ends could not make part of the vault where the next one finds it, as a crash leaves what was
  /// synced; and says by its names what was kept so, and what is lost.
  ///
  /// - Parameters:
  ///   - edits: All of the member that no commit has.
  ///   - reason: Why they are in none, for the audit log.
  /// - Throws: `noSpace`, `io`. Then nothing more was kept than was synced before.
  package func keepAtEnd(
    _ edits: [RecordEdit], of member: Member, reason: String
  ) throws(VaultError) {
    let open = self.member(member.id)
    // Its names are asked for, and its file stays.
    if open !== member { closedWithWork.withLock { $0.append(member) } }
    var (kept, left): ([RecordEdit], [RecordEdit]) = ([], edits)
    defer { noteEnd(of: member, kept: kept, left: left, reason) }
    // Of a member that is open once more the file is that one's.
    if let open, open !== member, open.hasLogged { return }
    (kept, left) = try member.keep(edits)
  }

  private func noteEnd(
    of member: Member, kept: [RecordEdit], left: [RecordEdit], _ reason: String
  ) {
    let path = context.redoFolder.path(of: member.id)
    audit.note(unsaved: kept, of: member.id, "\(reason); kept on this machine")
    audit.note(unsaved: left, of: member.id, "\(reason), and lost")
    if !kept.isEmpty, !member.mayWrite {
      noteKept(path, member, .refused(kept))
    } else if !kept.isEmpty {
      noteUnfinished(
        path, member: member,
        "it is kept here, and the next mount, or command that changes something, brings it in: "
          + Self.list(member.names(of: kept)))
    }
    if left.isEmpty { return }
    note(
      Problem(
        .unfinished, .warning, path: context.state.describe(path),
        reason:
          "what was changed last could not be saved, and what no program had synced of it is lost: "
          + Self.list(member.names(of: left)),
        member: member.name.string))
  }

  private func refusal(of member: Member) -> VaultError {
    context.removal ?? .viewersOnlyRead(member: member.id)
  }

  private static func advice(on error: VaultError) -> String {
    let next = "The next mount, or command that changes something, tries again."
    if case .noSpace = error {
      return "there is no room for it on the disk: move or delete other files there. \(next)"
    }
    return "\(error.message) \(next)"
  }

  /// What is told of a file that stays as it is.
  private func noteKept(_ path: BlobPath, _ member: Member, _ redone: Member.Redone) {
    switch redone {
    case .done: break
    case .elsewhere(let edits, let folder):
      note(path, member, elsewhereText(member.names(of: edits), path, folder))
    case .committed(let edits):
      note(path, member, committedText(member.names(of: edits), path))
    case .refused(let edits):
      let error = refusal(of: member)
      log.failed(.redo, error, of: LogIdentity(member.id))
      note(path, member, refusedText(member.names(of: edits), path, member, error))
    case .sealed:
      log.failed(.redo, VaultError.noAccess(member: member.id), of: LogIdentity(member.id))
      noteUnfinished(
        path, member: member,
        "it is encrypted with a key of \(member.name.string) that is not here. It is kept until that "
          + "is. To give it up, remove \(context.state.describe(path))")
    case .ofLaterVersion:
      log.failed(
        .redo,
        VaultError.unsupported(
          what: "a file of changes", found: "of a later version", supported: "of this one"),
        of: LogIdentity(member.id))
      noteUnfinished(
        path, member: member,
        "a later version of Kinvault has written it. It is kept until that one opens the vault. To give it up, remove "
          + context.state.describe(path))
    }
  }

  /// - Parameter folder: Where the other copy stood; empty where that is not known.
  private func elsewhereText(_ names: [String], _ path: BlobPath, _ folder: [UInt8]) -> String {
    let place = String(decoding: folder, as: UTF8.self)
    var (at, way) = ("", "")
    if !place.isEmpty {
      at = ", at \(place)"
      way =
        "If that one is gone, and this is what is left of it, move this folder there and open it. "
    }
    return "was saved in another copy of this vault's folder\(at), and is brought in when that "
      + "one is opened: \(Self.list(names)). \(way)"
      + "To give it up, remove \(context.state.describe(path))"
  }

  private func committedText(_ names: [String], _ path: BlobPath) -> String {
    "was in the vault already, and is not in this older copy of its folder: \(Self.list(names)). A sync "
      + "with a remote that has it brings it back. Where none has, it is brought in from "
      + "\(context.state.describe(path)) once this machine has changed something else"
  }

  private func refusedText(
    _ names: [String], _ path: BlobPath, _ member: Member, _ error: VaultError
  ) -> String {
    let why: String
    if case .thisDeviceRemoved = error {
      why = "as this device was removed. It is kept here"
    } else {
      why =
        "as you may only read \(member.name.string) now. It is kept here, and is brought in once an "
        + "owner lets you write again (kinvault share)"
    }
    return "is not in the vault, \(why): \(Self.list(names)). "
      + "To give it up, remove \(context.state.describe(path))"
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(10).map { "“\($0)”" }.joined(separator: ", ")
    return shown + (names.count > 10 ? " and \(names.count - 10) more" : "")
  }

  private func noteUnfinished(_ path: BlobPath, member: Member?, _ reason: String) {
    note(path, member, "is not in the vault yet: \(reason)")
  }

  private func isNoted(_ path: BlobPath) -> Bool {
    let path = context.state.describe(path)
    return problems.contains { $0.kind == .unfinished && $0.path == path && $0.member != nil }
  }

  private func note(_ path: BlobPath, _ member: Member?, _ what: String) {
    note(
      Problem(
        .unfinished, .warning, path: context.state.describe(path),
        reason: "what was saved last before a crash \(what)", member: member?.name.string))
  }
}
