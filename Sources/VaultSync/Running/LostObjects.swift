import Vault
import VaultModel

/// Sees by comparing lists whether a remote still has every object that it took, and puts back what is here: a disk, or
/// a person who tidied up, may have lost some under heads that are whole.
struct LostObjects {
  let session: SyncSession
  let exchange: SignedExchange
  let member: Member

  /// Costs a list of all objects of the member, here and there, and more only when some are missing.
  func putBack() throws(SyncError) {
    let here = try keeping { () throws(VaultError) in try member.objects.listed() }
    let there = try ObjectListing.load(member.id, session: session)
    let missing = here.filter { there[$0.name] != $0.byteCount }.map(\.name)
    // A lazy vault may need what is on the remote only.
    if missing.isEmpty, !member.objects.isLazy { return }
    let needed = self.needed
    noteGone(needed.subtracting(here.map(\.name)).subtracting(there.keys))
    let lost = missing.filter(needed.contains)
    let transfer = PushTransfer(session: session, objects: member.objects, coverage: Coverage())
    let damaged = Gathered<VaultError>()
    try session.forEach(lost) { (name) throws(SyncError) in
      do throws(TransferFailure) { try transfer.send(name, kind: nil) } catch {
        switch error {
        case .object(let error): damaged.add(error)
        case .fatal(let error): throw error
        }
      }
    }
    for error in damaged.all {
      session.note(SyncProblem(error, here: error.file ?? "members/\(member.id.hex)"))
    }
    if lost.count > damaged.all.count {
      session.note(.putBack(lost.count - damaged.all.count, of: member.id))
    }
  }

  private var needed: Set<ObjectName> {
    var needed = Set(member.neededObjects(where: { _ in true }).map(\.name))
    for head in member.openedHeads {
      needed.formUnion(head.segments)
      if let announcement = head.head.announcement { needed.insert(announcement) }
    }
    return needed
  }

  /// - Parameter names: Objects that are neither here nor there.
  private func noteGone(_ names: Set<ObjectName>) {
    guard member.objects.isLazy else { return }
    for name in names.sorted() {
      session.note(
        SyncProblem(
          .missing(path: member.objects.vaultPath(of: name).string),
          there: member.objects.vaultPath(of: name).string))
    }
  }
}
