import BlobStore
import MachineState
import Threads
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Chunks that a lazy vault has left on its remotes, from the first of them that has one.
package final class RemoteChunks: ChunkSource {
  private let files: RemoteFiles
  private let state: StateFolder
  /// When nothing was last in doubt, for each member.
  private let settled = Guarded<[MemberID: ContinuousClock.Instant]>([:])

  package init(_ files: RemoteFiles, state: StateFolder) {
    (self.files, self.state) = (files, state)
  }

  package func fetch(
    _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
  ) throws(VaultError) -> [UInt8] {
    let path = BlobPath(VaultPath.object(member, chunk).string)
    let limit = ObjectLayout.largestFileSize(of: .chunk)
    do throws(RemoteFiles.Unavailable) {
      return try files.fetch(path, limit: limit, where: isWhole)
    } catch {
      guard error.isNowhere else { throw .away(path: path.string, reason: error.reason) }
      if let doubt = doubt(of: member) {
        files.forget()
        throw .away(path: path.string, reason: doubt)
      }
      throw .gone(path: path.string, record: nil)
    }
  }

  /// Why what none of the remotes has of a member may be had yet; nil where nothing says so.
  ///
  /// A remote that has been emptied or put back, where something is on its way, or that was not compared with what is here since
  /// it lost something, cannot say that a thing is gone.
  private func doubt(of member: MemberID) -> String? {
    let now = ContinuousClock.now
    if let since = settled.withLock({ $0[member] }), files.isFresh(since) { return nil }
    let folder = BlobPath("members/\(member.hex)/heads")
    let found = files.firstDoubt { (name, store) throws(BlobStoreError) in
      let heads = try store.list(folder)
      do throws(SyncError) {
        let memory = try RemoteStateFile(state: state, remote: name).load()
        if memory.isSettled(member, listing: heads) { return nil }
      } catch {
        // Of a remote whose memory cannot be read nothing is known.
      }
      return
        "it does not have it, and may have changed since the last sync; to see: kinvault sync --full"
    }
    if found == nil { settled.withLock { $0[member] = now } }
    return found
  }

  package func holds(
    _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
  ) throws(VaultError) -> Bool {
    let path = BlobPath(VaultPath.object(member, chunk).string)
    do throws(RemoteFiles.Unavailable) {
      return try files.holds(path, byteCount: byteCount) { keeps(what: head, at: $0) }
    } catch {
      throw .away(path: path.string, reason: error.reason)
    }
  }

  /// Whether the remote keeps what this head names.
  private func keeps(what head: StandingHead?, at remote: RemoteName) -> Bool {
    do throws(SyncError) {
      let memory = try RemoteStateFile(state: state, remote: remote).load()
      return memory.keepsWhatIsNamed(by: head)
    } catch {
      // What this machine cannot tell of a remote it does not rely on.
      return false
    }
  }
}
