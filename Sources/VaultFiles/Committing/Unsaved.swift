import Log
import Threads
import Vault
import VaultModel

/// Something that a mount shows and that it could not make part of the vault.
package struct Unsaved: Hashable, Sendable {
  package enum Extent: Hashable, Sendable {
    /// Everything of the member that was changed since.
    case member
    /// What was changed in one record: what it builds on cannot be read.
    case record(RecordID)
    /// One file in a record, a part of whose content this program has lost or cannot have.
    case file(RecordID, FileName)

    /// Nil where it is the whole member.
    package var record: RecordID? {
      switch self {
      case .member: nil
      case .record(let record), .file(let record, _): record
      }
    }
  }

  package let member: MemberID
  package let extent: Extent
  /// What whoever writes or syncs it is told.
  package let error: FileError
  /// When that was found first.
  package let since: FileTimestamp
}

extension FileTree {
  /// What could not be saved so far and is tried again all the time; empty when all is well.
  package var unsaved: [Unsaved] { withTree { $0.unsaved } }

  /// Has `handler` called with what cannot be saved, whenever that changes. It is called from several threads, never
  /// with a lock held.
  package func setUnsavedHandler(_ handler: @escaping @Sendable ([Unsaved]) -> Void) {
    unsavedHandler.withLock { $0 = handler }
  }

  /// Notes how a commit of the member has ended: what of it is not saved, and why.
  func note(_ failures: [Unsaved.Extent: FileError], of member: ShownMember) {
    let now = FileTimestamp.now
    let (before, all) = withTree { tree in
      let view = tree[member.view]
      let before = tree.unsaved
      let known = view.unsaved
      let failures = failures.merging(view.unsealedAndClosed) { failure, _ in failure }
      view.unsaved = failures.map { extent, error in
        known.first { $0.extent == extent && $0.error == error }
          ?? Unsaved(member: view.member.id, extent: extent, error: error, since: now)
      }
      return (Set(before), tree.unsaved)
    }
    // Of one member there may be two views.
    let present = Set(all)
    guard present != before else { return }
    for unsaved in present.subtracting(before) {
      let name: FileName? = if case .file(_, let name) = unsaved.extent { name } else { nil }
      vault.audit.note(
        .unsaved, member: unsaved.member, record: unsaved.extent.record, name: name,
        detail: unsaved.error.cause)
    }
    unsavedHandler.withLock { $0 }?(all)
  }

  /// Notes that a page of a mapping could not be taken. The kernel has let it go, and whoever changed it may not be there any more
  /// to ask.
  func noteLost(_ file: TreeReference<FileNode>, _ error: FileError, of member: ShownMember) {
    log.failed(.seal, error, of: LogIdentity(member.member.id))
    let news: (isFirst: Bool, link: Link?) = withTree { tree in
      let file = tree[file]
      defer { file.pendingError = error }
      return (file.pendingError == nil, file.links.first)
    }
    // Many pages come one after the other.
    guard news.isFirst, let link = news.link else { return }
    vault.audit.note(
      .unsaved, member: member.member.id, record: link.record, name: link.name, detail: error.cause)
  }

  /// Notes what was written and could not be sealed when nobody had the file open any more.
  func noteUnsealed(in member: ShownMember) {
    let known = withTree { tree in tree[member.view].unsaved.map { ($0.extent, $0.error) } }
    note(Dictionary(known) { first, _ in first }, of: member)
  }
}

extension MemberView {
  /// What of it could not be sealed, and nobody has open.
  fileprivate var unsealedAndClosed: [Unsaved.Extent: FileError] {
    var failures: [Unsaved.Extent: FileError] = [:]
    for file in unsealed.values where file.openCount == 0 {
      guard let error = file.pendingError, let link = file.links.first else { continue }
      failures[.file(link.record, link.name)] = error
    }
    return failures
  }
}
