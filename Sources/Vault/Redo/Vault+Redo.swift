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
    guard !others.isEmpty else { return }
    try context.state.withLock(RedoFolder.lockName) { () throws(VaultError) in
      for writer in others { try redoIfDead(writer) }
    }
  }

  private func noteWhatCrashesLeft() {
    // A state folder in which nothing can be locked must not keep anyone from reading.
    guard (try? context.state.hasRedoLeft()) == true else { return }
    noteUnfinished(
      RedoFolder.parent, member: nil,
      "it is opened for reading only. The next mount, or command that changes something, "
        + "brings it in")
  }

  private func redoIfDead(_ writer: RedoWriterID) throws(VaultError) {
    guard try context.state.hasRedoFolder(of: writer), try redoHoldingItsLock(writer) else {
      return
    }
    context.state.removeRedoFolder(of: writer)
  }

  /// - Returns: Whether the process has died and nothing of it is left to do.
  private func redoHoldingItsLock(_ writer: RedoWriterID) throws(VaultError) -> Bool {
    guard let root = context.state.path else { return try redo(writer) }
    let lock = try context.state.lock(ofDead: writer, in: root)
    // Held until all is done: nobody else takes it for dead meanwhile.
    guard lock != nil else { return false }
    let isDone = try redo(writer)
    withExtendedLifetime(lock) {}
    return isDone
  }

  /// - Returns: Whether nothing of it is left to do.
  private func redo(_ writer: RedoWriterID) throws(VaultError) -> Bool {
    let store = context.state.store
    let folder = RedoFolder.path(of: writer)
    let entries = try storing(store.list(folder))
    var isDone = true
    for entry in entries {
      guard let id = MemberID(hex: entry.name) else { continue }
      let path = folder.appending(entry.name)
      guard let member = member(id) else {
        isDone = false
        noteUnfinished(path, member: nil, "the member cannot be opened")
        continue
      }
      do {
        let file = try storing(store.read(path, limit: RedoFile.byteCount))
        let redone = try member.redo(file, of: writer) { edits, commit in
          // The process that died could not.
          audit.note(edits, of: commit, in: id)
        }
        if case .elsewhere = redone {
          isDone = false
          noteElsewhere(path, member)
          continue
        }
        try storing(store.remove(path))
        switch redone {
        case .done, .elsewhere: log.succeeded(.redo, of: LogIdentity(id))
        case .refused:
          log.failed(.redo, VaultError.viewersOnlyRead(member: id), of: LogIdentity(id))
          noteRefused(path, member)
        }
      } catch {
        isDone = false
        log.failed(.redo, error, of: LogIdentity(id))
        noteUnfinished(path, member: member, Self.advice(on: error))
      }
    }
    return isDone
  }

  private static func advice(on error: VaultError) -> String {
    let next = "The next mount, or command that changes something, tries again."
    if case .noSpace = error {
      return "there is no room for it on the disk. Make some: kinvault collect. \(next)"
    }
    return "\(error.message) \(next)"
  }

  private func noteElsewhere(_ path: BlobPath, _ member: Member) {
    note(
      path, member,
      "was saved in another copy of this vault's folder, and is brought in when that one is opened. "
        + "If this is the only one that is left, copied back from a backup, what is in that file "
        + "cannot be brought in: remove it")
  }

  private func noteRefused(_ path: BlobPath, _ member: Member) {
    note(
      path, member,
      "is not in the vault, and is not brought in any more, as you may not write it by now. "
        + "An owner can let you, and then it is to be saved anew: kinvault share")
  }

  private func noteUnfinished(_ path: BlobPath, member: Member?, _ reason: String) {
    note(path, member, "is not in the vault yet: \(reason)")
  }

  private func note(_ path: BlobPath, _ member: Member?, _ what: String) {
    note(
      Problem(
        .unfinished, .warning, path: context.state.describe(path),
        reason: "what was saved last before a crash \(what)", member: member?.name.string))
  }
}
