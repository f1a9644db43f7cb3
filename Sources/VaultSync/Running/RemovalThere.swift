import BlobStore
import Vault
import VaultCrypto
import VaultModel

/// Removes from a remote what was removed here, because nothing names it any more: what `collect` found, and what older
/// epochs left. Docs/Format.md, "Removing objects".
struct RemovalThere {
  let session: SyncSession
  let exchange: SignedExchange
  let member: Member

  /// So many are removed before the heads there are looked at again.
  private static let batchSize = 1000

  /// Does nothing while a head there is not known here, or names something that was not joined: then the next sync does
  /// it. One that is interrupted is gone on with.
  func run() throws(SyncError) {
    guard let name = session.name, !session.options.isDryRun else { return }
    try removeWraps()
    let list = RemoteRemovals(of: member.id, on: name, state: session.home.state)
    let names = try keeping(list.load())
    // What was put or came again since is named by something.
    guard !names.isEmpty, isWholeThere,
      let gone = try keeping(member.unneeded(names))
    else { return }
    try forget(Set(names).subtracting(gone).sorted(), list)
    if !gone.isEmpty { try removePacks() }
    for start in stride(from: 0, to: gone.count, by: Self.batchSize) {
      // Someone may put a head there at this moment that names one of them again.
      guard try areHeadsAsSeen() else { return }
      let batch = Array(gone[start..<min(start + Self.batchSize, gone.count)])
      try session.forEach(batch) { [self] (name) throws(SyncError) in
        let path = BlobPath(VaultPath.object(member.id, name).string)
        try asking(session.remote.remove(path))
      }
      try forget(batch, list)
    }
  }

  /// Wraps that nobody needs, and that went from here before this sync.
  private func removeWraps() throws(SyncError) {
    let gone = member.unneededWraps.filter {
      exchange.look.files[$0] != nil && !exchange.local.files.contains($0)
    }
    guard !gone.isEmpty, isWholeThere, try areHeadsAsSeen() else { return }
    try session.forEach(gone.sorted { $0.string < $1.string }) { (path) throws(SyncError) in
      try asking(session.remote.remove(BlobPath(path.string)))
    }
  }

  /// A pack may hold what is removed, and nothing needs one.
  private func removePacks() throws(SyncError) {
    let folder = PackWriter.folder(of: member.id)
    let entries = try asking(session.remote.list(folder))
    for entry in entries where entry.kind == .blob && FileHash(hex: entry.name) != nil {
      let path = folder.appending(entry.name)
      if session.hasPutPack(path) { continue }
      try asking(session.remote.remove(path))
    }
  }

  private func forget(_ names: [ObjectName], _ list: RemoteRemovals) throws(SyncError) {
    if names.isEmpty { return }
    try keeping(list.remove(names))
  }

  /// Whether every head on the remote that counts is of the current epoch and joined here, or a late one that was taken over
  /// here, and nothing here waits that may need what is there.
  private var isWholeThere: Bool {
    guard !member.hasLateHeads, !member.hasLinesApart, !member.hasHiddenVersions else {
      return false
    }
    let opened = Dictionary(
      member.openedHeads.map { ($0.device, $0) }, uniquingKeysWith: { first, _ in first })
    var isOneCurrent = false
    for path in exchange.heads(of: member.id) {
      guard case .head(_, let device) = path else { continue }
      guard let there = shown(path) else {
        // One that does not hold may be damaged only.
        if exchange.broken.contains(path) { return false }
        continue
      }
      if let head = opened[device], head.hash == there.hash {
        isOneCurrent = true
      } else if opened[device] != nil
        || !member.hasTakenOver(device, counter: there.counter, hash: there.hash)
      {
        return false
      }
    }
    return isOneCurrent
  }

  /// What the remote shows by now.
  private func shown(_ path: VaultPath) -> RegisterState? {
    session.wasPut(path) ? session.memory.seen[path]?.state : exchange.there[path]
  }

  /// Whether the heads on the remote are those that were judged, and no others.
  private func areHeadsAsSeen() throws(SyncError) -> Bool {
    let folder = BlobPath("members/\(member.id.hex)/heads")
    let entries = try asking(session.remote.list(folder))
    let own = VaultPath.head(member.id, session.home.device)
    for entry in entries {
      guard let path = VaultPath(parsing: folder.appending(entry.name).string), path != own,
        !exchange.isRetired(path), !exchange.former.contains(path)
      else { continue }
      if session.wasPut(path) {
        guard let bytes = try session.readSigned(path),
          Digest.sha256(bytes) == shown(path)?.hash
        else { return false }
      } else if exchange.look.files[path]?.fingerprint != entry.fingerprint {
        return false
      }
    }
    return true
  }
}
