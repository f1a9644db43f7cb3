import Vault
import VaultModel

/// The transfers that bring what heads of one member name: heads of one epoch share one.
final class PullTransfers {
  /// What is here under the current keys.
  let coverage: Coverage
  private let member: Member
  private let session: SyncSession
  private let opened: OpenedContents
  /// What may come of a stranger's member; nil for any other.
  private let room: CargoRoom?
  private var transfers: [Kind: PullTransfer] = [:]

  init(of member: Member, session: SyncSession, opened: OpenedContents, room: CargoRoom?) {
    (self.member, self.session, self.opened, self.room) = (member, session, opened, room)
    coverage = Coverage(
      Dictionary(
        member.openedHeads.filter { !$0.isLate }.map { ($0.device, $0.counter) },
        uniquingKeysWith: { first, _ in first }))
  }

  /// Which heads may be brought by one transfer.
  private struct Kind: Hashable {
    let epoch: StatementID
    /// What is here under the current keys says nothing about objects under others; nor do the counters of a head that does not
    /// go on from the one that is brought.
    let isCovered: Bool
  }

  subscript(head: OpenedHead) -> PullTransfer {
    let isCovered = !head.isLate && !member.mustRetell(head) && !member.mayLackRest(of: head)
    let kind = Kind(epoch: head.epoch, isCovered: isCovered)
    if let known = transfers[kind] { return known }
    let transfer = PullTransfer(
      session: session,
      NamedObjects(
        objects: member.sealedObjects, epoch: kind.epoch,
        coverage: kind.isCovered ? coverage : Coverage()),
      opened: opened, room: room)
    transfers[kind] = transfer
    return transfer
  }

  /// What the revisions say that were opened on the way.
  var read: ReadRevisions {
    transfers.values.reduce(into: ReadRevisions()) { $0.formUnion($1.read) }
  }
}
