import Vault
import VaultModel

/// What is left to be put on a remote of one member, and which heads nobody shows.
struct PendingCount {
  let session: SyncSession
  let exchange: SignedExchange
  let member: MemberHeads

  /// Adds the commits that are here and not there to the report.
  func run() {
    let seen = session.memory.seen
    var there: [DeviceID: UInt64] = [:]
    var here: [DeviceID: UInt64] = [:]
    for head in member.heads {
      let path = VaultPath.head(member.id, head.device)
      here[head.device] = head.counter
      // What the remote took, not what it showed before it went back.
      let state = session.wasPut(path) ? seen[path]?.state : exchange.there[path]
      there[head.device] = state?.counter
    }
    let missing = Coverage(there).missingCommits(of: here)
    session.change { $0.pendingCommitCount += missing }
    for path in exchange.heads(of: member.id) {
      guard case .head(_, let device) = path, there[device] == nil else { continue }
      there[device] = exchange.there[path]?.counter
    }
    let shown = here.merging(there, uniquingKeysWith: max)
    noteWithheld(shown: shown.merging(member.knownCounters, uniquingKeysWith: max))
  }

  private func noteWithheld(shown: [DeviceID: UInt64]) {
    let heads = member.heads.filter { !$0.isLate }.map { (device: $0.device, cover: $0.head.cover) }
    for head in WithheldHead.find(heads: heads, shown: shown) {
      session.note(.withheld(head, of: member.id))
    }
  }
}
