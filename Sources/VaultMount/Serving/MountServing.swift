import Glibc
import Log
import Threads
import VaultFiles

/// What serves a mount: a thread that answers the kernel, what tells the kernel of news, and what other processes find.
struct MountServing: Sendable {
  let invalidator: Invalidator
  let loop: MountThread
  /// Nil where the state folder could not be written.
  let registration: MountRegistry.Registration?
  let commitSocket: CommitSocket?

  /// Starts the tree, and answers from now on whatever the kernel asks.
  static func begin(
    _ service: Service, _ session: FuseSession, _ registration: MountRegistry.Registration?
  ) -> MountServing {
    let tree = service.tree
    let log = tree.log
    let invalidator = Invalidator(session: session, log: log)
    InterruptSignal.prepare()
    tree.setInvalidationHandler { invalidator.add($0) }
    tree.setWriteBackHandler { invalidator.writeBack($0, $1) }
    tree.start()
    let commitSocket = Self.commitSocket(of: tree, registration)
    reportUnsaved(of: tree, to: registration)
    let loop = MountThread {
      InterruptSignal.unblock()
      let status = session.loop()
      // The kernel may wait for an answer before it has done what it is told, and nobody gives one any more.
      invalidator.close()
      if status != 0 { log.failed(.serving, kind: ErrorKind("kernel", number: status)) }
    }
    return MountServing(
      invalidator: invalidator, loop: loop, registration: registration, commitSocket: commitSocket)
  }

  /// By which commands have what was saved here committed. Nil where none can be made, as on a disk with FAT: then they ask by
  /// way of the mountpoint.
  private static func commitSocket(
    of tree: FileTree, _ registration: MountRegistry.Registration?
  ) -> CommitSocket? {
    guard let registration else { return nil }
    return try? CommitSocket(beside: registration.path) { () throws(FileError) in
      try tree.commitForCommand()
    }
  }

  /// Has the registration say from now on what could not be saved.
  private static func reportUnsaved(
    of tree: FileTree, to registration: MountRegistry.Registration?
  ) {
    let log = tree.log
    let reporting = Guarded(registration)
    tree.setUnsavedHandler { [weak tree] _ in
      // What counts by now, so that of two reports at once the last is no older one.
      let failure: Int32? = reporting.withLock {
        guard let registration = $0 else { return nil }
        return registration.write(MountReport(tree?.unsaved ?? [])) ? 0 : errno
      }
      guard let failure else { return }
      if failure == 0 {
        log.succeeded(.registration)
      } else {
        log.failed(.registration, kind: ErrorKind("report", number: failure))
      }
    }
  }
}
