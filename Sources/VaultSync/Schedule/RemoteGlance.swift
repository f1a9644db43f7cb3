import BlobStore
import MachineState
import Vault
import VaultModel

/// A look at a remote that costs few requests: whether heads there changed since the last sync.
///
/// Every commit and whatever gives access shows in a head, so of other news the next sync is early enough. A glance sees
/// so many members at most, and the next one goes on with those that follow.
package struct RemoteGlance: Sendable {
  /// So many requests at most, each of which lists the heads of one member.
  package static let requestLimit = 4

  private let file: RemoteStateFile
  private let remote: any BlobStore
  private var last: MemberID?
  /// What the remote showed of each member at the last glance: what a sync did not follow then, the next one need not
  /// either.
  private var shown: [MemberID: [VaultPath: UInt64]] = [:]

  package init(state: StateFolder, remote: any BlobStore, name: RemoteName) {
    file = RemoteStateFile(state: state, remote: name)
    self.remote = remote
  }

  /// Whether a sync would find heads that it does not know, or miss some that it does, and has not been told so before.
  ///
  /// - Parameter isWide: Whether it sees all members at once.
  /// - Throws: `remote` when it does not answer.
  package mutating func hasNews(isWide: Bool = false) throws(SyncError) -> Bool {
    let seen = try file.load().seen
    for member in nextMembers(among: seen.keys, limit: isWide ? .max : Self.requestLimit) {
      let folder = BlobPath("members/\(member.hex)/heads")
      let entries: [BlobEntry]
      do { entries = try remote.list(folder) } catch {
        throw .remote(error)
      }
      var found: [VaultPath: UInt64] = [:]
      for entry in entries where entry.kind == .blob {
        guard let path = DeviceID(hex: entry.name).map({ VaultPath.head(member, $0) }) else {
          continue
        }
        found[path] = entry.fingerprint
      }
      let known = seen.filter { $0.key.isHead(of: member) }.mapValues(\.fingerprint)
      let before = shown.updateValue(found, forKey: member)
      if before != found, found.mapValues({ Optional($0) }) != known { return true }
    }
    return false
  }

  /// The members whose turn it is.
  private mutating func nextMembers(
    among paths: some Sequence<VaultPath>, limit: Int
  ) -> [MemberID] {
    let all = paths.compactMap { path -> MemberID? in
      if case .memberRoot(let member) = path { member } else { nil }
    }.sorted()
    let later = all.filter { member in last.map { member > $0 } ?? true }
    let turn = (later + all).prefix(min(limit, all.count))
    last = turn.last
    return Array(turn)
  }
}

extension VaultPath {
  fileprivate func isHead(of member: MemberID) -> Bool {
    if case .head(member, _) = self { true } else { false }
  }
}
