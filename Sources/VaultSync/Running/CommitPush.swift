import Vault
import VaultModel

/// Puts on a remote what was committed here since it took the heads that it shows, and nothing else.
struct CommitPush {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: VaultHeads

  private struct Waiting {
    var push: MemberPush
    var heads: [OpenedHead]
  }

  /// - Parameter news: Heads here that are newer than what the remote shows; all else is the same on both sides.
  /// - Returns: False when that was not possible, and a whole sync is needed; no head was put there then.
  func run(_ news: Set<VaultPath>) throws(SyncError) -> Bool {
    var waiting: [Waiting] = []
    for member in exchange.local.members.sorted() {
      let paths = exchange.heads(of: member)
      guard paths.contains(where: news.contains) else { continue }
      guard let one = try prepare(member, paths, news) else { return false }
      waiting.append(one)
    }
    for one in waiting where try one.push.bringObjects(one.heads).count < one.heads.count {
      // Something here is broken, which the whole sync tells.
      return false
    }
    // So that no loss of power leaves a head without what it names.
    try session.flush()
    for one in waiting { try one.push.put(one.heads) }
    for one in waiting {
      PendingCount(session: session, exchange: exchange, member: one.push.member).run()
    }
    return true
  }

  private func prepare(
    _ id: MemberID, _ paths: [VaultPath], _ news: Set<VaultPath>
  ) throws(SyncError) -> Waiting? {
    guard exchange.isWholeHere(id) else { return nil }
    let devices = paths.compactMap { path -> DeviceID? in
      guard case .head(_, let device) = path, exchange.here[path] != nil else { return nil }
      return device
    }
    let opened = try keeping(vault.member(id, devices: devices))
    guard let member = opened else { return nil }
    let heads = member.heads.filter { news.contains(.head(id, $0.device)) }
    // A late head that waits to be carried on has others to be compared with.
    guard heads.count == paths.count(where: news.contains) else { return nil }
    // What is there may be of another line: the whole sync finds out.
    for head in heads {
      guard let there = exchange.there[.head(id, head.device)] else { continue }
      let goesOn = try keeping(member.goesOn(head, from: there.counter, there.hash))
      guard goesOn else { return nil }
    }
    return Waiting(
      push: MemberPush(session: session, exchange: exchange, member: member, isRepair: false),
      heads: heads)
  }
}
