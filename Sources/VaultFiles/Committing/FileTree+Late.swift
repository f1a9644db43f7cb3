import Log
import Synchronization
import Threads
import Vault
import VaultErrors
import VaultModel

/// What commits need of a remote: after new keys, what a lazy vault keeps there under those of before.
extension FileTree {
  /// Brings here what a commit needs and a lazy vault keeps elsewhere. Takes as long as a remote does: no lock may be held.
  func bringWhatIsLate(of shown: ShownMember) throws(FileError) {
    do { try shown.member.bringWhatIsLate() } catch { throw FileError(error) }
  }

  /// The same on a thread of its own: the one that commits in the background does so for all members.
  func bringInBackground(_ shown: ShownMember) {
    if shown.saving.isBringing.exchange(true, ordering: .relaxed) { return }
    let isStarted = SystemThread.detach { [self] in
      do throws(FileError) { try bringWhatIsLate(of: shown) } catch {
        log.failed(.commit, error, of: LogIdentity(shown.member.id))
        note([.member: error], of: shown)
      }
      shown.saving.isBringing.store(false, ordering: .relaxed)
    }
    if !isStarted { shown.saving.isBringing.store(false, ordering: .relaxed) }
  }

  /// Whoever commits may be one of the few threads that answer requests, and waits for no remote. Before anything is tried, so
  /// that nobody is told of a failure where it only takes a moment.
  ///
  /// - Throws: `away` where a commit needs something that a remote has.
  func requireWhatIsLate(of shown: ShownMember) throws(FileError) {
    let lacks: Bool
    do { lacks = try shown.member.lacksWhatIsLate } catch { throw FileError(error) }
    if lacks { throw .away }
  }
}
