import BlobStore
import Vault
import VaultModel

/// Looks at both sides and has judged what they show.
///
/// The remote is listed once in a sync. A second look is at what changed here, and at what of the remote was not looked
/// for at first.
struct SyncLooking {
  private let session: SyncSession
  /// The folder here, if it was listed and not judged yet.
  private var local: LocalLook?
  /// What the remote has shown so far, strangers' files included; nil before it was listed.
  private var shown: RemoteLook?
  /// Whether the listing alone said something that a person should know, or showed what is to be removed.
  private var hasToldOfListing = false
  private var judged: SignedExchange?

  /// - Parameter seen: What another sync has listed just now.
  init(session: SyncSession, seen: RemoteSight? = nil) {
    self.session = session
    shown = seen?.look
  }

  /// What is here, listed now, or since the last look.
  mutating func lookHere() throws(SyncError) -> LocalLook {
    if let local { return local }
    let listed = try LocalLook.ofFolder(session.home.store)
    local = listed
    return listed
  }

  mutating func look() throws(SyncError) -> SignedExchange {
    let local = try lookHere()
    self.local = nil
    let tree = try session.home.tree()
    let basis = try tree.basis(of: local)
    let known = session.knownBroken(try lookThere(besides: local), besides: local, basis: basis)
    var (exchange, passed) = (try judge(local, tree, passing: known), known)
    if !known.isEmpty, exchange.hasNewStatements {
      // What did not hold may build on these.
      (exchange, passed) = (try judge(local, tree, passing: [:]), [:])
    }
    if let shown {
      session.rememberBroken(exchange.judged.failures, known: passed, shown, basis: basis)
    }
    judged = exchange
    return exchange
  }

  /// Judges what the remote shows, but for what is left of strangers and what is known not to hold.
  private mutating func judge(
    _ local: LocalLook, _ tree: SignedTree, passing known: [VaultPath: RemoteMemory.Broken]
  ) throws(SyncError) -> SignedExchange {
    var look = try lookThere(besides: local).without(Set(known.keys), besides: local)
    var cargo = try CargoJudgement(session: session, look: look, local: local, tree: tree).run()
    if !cargo.missed.isEmpty {
      // Somebody has let them in since.
      session.remember { for owner in cargo.missed { $0.leftCargo[owner] = nil } }
      shown = nil
      look = try lookThere(besides: local).without(Set(known.keys), besides: local)
      cargo = try CargoJudgement(session: session, look: look, local: local, tree: tree).run()
    }
    let sight = Sight(
      look: look.without(cargo.left, besides: local), local: local, cargo: cargo,
      knownBroken: known)
    return try SignedJudging(session: session, sight: sight, ownTree: tree).run()
  }

  private mutating func lookThere(besides local: LocalLook) throws(SyncError) -> RemoteLook {
    let looking = RemoteLooking(session: session, local: local)
    let look: RemoteLook
    if let shown {
      look = try looking.look(again: shown)
    } else {
      let problemCount = session.report.problems.count
      look = try looking.look()
      // What a second listing says again is not counted again.
      if session.report.problems.count > problemCount || session.hasLeftOver {
        hasToldOfListing = true
      }
    }
    session.remember { $0.lastCargoLook = look.lastTurn ?? $0.lastCargoLook }
    session.change { $0.listedFolders.formUnion(look.listedFolders) }
    shown = look
    return look
  }

  /// What was seen of the remote, for a sync that follows at once; nil if nothing was, or if it was remarkable.
  ///
  /// - Parameters:
  ///   - memory: What was remembered of the remote before it was looked at.
  ///   - time: When this sync began; milliseconds since 1970.
  func sight(besides memory: RemoteMemory, at time: UInt64) -> RemoteSight? {
    guard let shown, let judged, shown.hasDescription, !hasToldOfListing else { return nil }
    return RemoteSight(
      look: shown, bytes: judged.cargo.read.merging(judged.judged.bytes) { _, read in read },
      circumstances: RemoteSight.Circumstances(
        memory: memory, vouched: session.home.vouching?.fingerprint, time: time))
  }
}

extension RemoteLook {
  /// The folders that it shows something of.
  fileprivate var listedFolders: Set<String> {
    var folders = Set(files.keys.compactMap { BlobPath($0.string).parent?.string })
    if !members.isEmpty { folders.insert("members") }
    if !isPeopleCut { folders.insert("people") }
    return folders
  }
}
