import BlobStore
import Vault
import VaultModel

/// Takes what a remote has of people, and of who may do what, while the vault is locked: heads that are fetched may build on
/// it. It is verified as ever, and stays beside the folder until a sync with the keys takes it.
struct LockedStatements {
  let session: SyncSession
  let exchange: SignedExchange

  func run() throws(SyncError) {
    guard let name = session.name else { return }
    let news = try StatementSync(session: session, exchange: exchange).news()
    if news.isEmpty { return }
    let incoming = IncomingFolder(session.home, remote: name)
    let isCarried = try carried()
    let room = CargoRoom(try saving(try incoming.room()))
    for file in news {
      // What strangers have there waits for a sync that can put it in place.
      guard CargoOwner(file.path).map(isCarried) ?? true else { continue }
      try exchange.save(file.path, (file.bytes, file.facts), into: incoming, room)
    }
    if room.isUsedUp { session.note(.tooManyStatementsWhileLocked) }
  }

  private func carried() throws(SyncError) -> (CargoOwner) -> Bool {
    guard !session.options.takesStrangers, let known = session.home.vouching else {
      return { _ in true }
    }
    let (tree, members) = (exchange.tree, exchange.look.members.union(exchange.local.members))
    let vouching = try keeping(tree.extending(known, by: members))
    return { vouching.carries($0) }
  }
}
