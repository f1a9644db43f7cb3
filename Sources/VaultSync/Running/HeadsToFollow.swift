import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// A head of the remote that is to be followed.
struct IncomingHead {
  var head: OpenedHead
  var bytes: [UInt8]
  /// What its segments say of the heads before it.
  var lineages: [ContentDigest: SegmentLineage] = [:]
  /// The records that it knows and that are not known here.
  var entries: [RecordEntry] = []
}

/// Which of a remote's heads of one member are followed, and what they know that is news here.
struct HeadsToFollow {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: Vault
  /// As the remote's statements make it.
  let member: Member
  /// Devices whose late head is said to be taken over, without proof: it is asked for all the same, and nothing is told where
  /// what it names is gone.
  private(set) var doubted: Set<DeviceID> = []

  init(session: SyncSession, exchange: SignedExchange, vault: Vault, member: Member) {
    (self.session, self.exchange, self.vault, self.member) = (session, exchange, vault, member)
  }

  /// As it shows here, where it does already.
  private var shown: Member { vault.member(member.id) ?? member }

  // MARK: Which open

  /// - Returns: Those that open; and which head another machine has written under this one's key, if the key that opens it
  ///   never comes here.
  func open(
    _ devices: [DeviceID]
  ) throws(SyncError) -> (incoming: [IncomingHead], unopened: HeadMark?) {
    var incoming: [IncomingHead] = []
    var unopened: HeadMark?
    var refused: [(device: DeviceID, file: Fetched, error: VaultError)] = []
    for device in devices {
      let path = VaultPath.head(member.id, device)
      guard let file = try exchange.fetched(path) else {
        if let listed = exchange.there[path] { session.noteUnread(listed.hash) }
        session.change { $0.untakenHeadCount += 1 }
        continue
      }
      // Another device has all of it, and what opens it may be gone.
      if shown.isRetold(device, counter: file.facts.counter, hash: file.facts.hash) { continue }
      // An older one of this device, which is read for what the newer one may lack. It says nothing of whose line it is: its key
      // may be over, and others may have taken it over.
      let isRest = shown.mayLackRest(
        of: device, counter: file.facts.counter, hash: file.facts.hash)
      do {
        let head = try member.openHead(device, bytes: file.bytes, in: exchange.tree)
        if isRest, head.isLate { continue }
        incoming.append(IncomingHead(head: head, bytes: file.bytes))
      } catch {
        if isRest {
          if error.isOfTheMachine { session.noteUnread(file.facts.hash) }
          continue
        }
        if case .branched = error {
          unopened = HeadMark(counter: file.facts.counter, hash: file.facts.hash)
        } else {
          refused.append((device, file, error))
        }
      }
    }
    // What others say of these, all of which are open by now.
    for (device, file, error) in refused { try tell(error, of: device, file, incoming.map(\.head)) }
    return (incoming, unopened)
  }

  private typealias Fetched = (bytes: [UInt8], facts: SignedFacts)

  /// Tells of a head that does not open, unless it is known that nothing of it is needed.
  private func tell(
    _ error: VaultError, of device: DeviceID, _ file: Fetched,
    _ others: [OpenedHead]
  ) throws(SyncError) {
    let path = VaultPath.head(member.id, device)
    let isTakenOver = try keeping(
      shown.isClosedAndTakenOver(
        device, counter: file.facts.counter, file.bytes, in: exchange.tree, besides: others))
    if isTakenOver { return }
    guard try isClosed(path, file.bytes) else { return notTaken(error, path) }
    session.note(.closed(path))
    session.change { $0.untakenHeadCount += 1 }
  }

  /// The head of another machine under this one's key, of which nothing is needed any more: what it names may be gone, and
  /// with it what it goes on from.
  private func unknownOwn(among takenOver: [IncomingHead]) -> HeadMark? {
    guard let own = takenOver.first(where: { $0.head.device == session.home.device }) else {
      return nil
    }
    let mark = HeadMark(counter: own.head.counter, hash: own.head.hash)
    return shown.isOfOwnLine(mark) ? nil : mark
  }

  func noteCopy(_ unopened: HeadMark, seenBy others: [IncomingHead]) {
    let above = shown.lastShared(
      with: unopened, by: others.map { ($0.head, Array($0.lineages.values)) })
    session.noteCopy(.head(member.id, session.home.device), above: above)
  }

  private func isClosed(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) -> Bool {
    try keeping(member.isClosed(path, bytes, in: exchange.tree))
  }

  /// The late heads that others have taken over, which may be late themselves: what they name may be gone.
  mutating func takenOver(_ incoming: [IncomingHead]) -> [IncomingHead] {
    let heads = incoming.map(\.head)
    var certain: [IncomingHead] = []
    for one in incoming where one.head.isLate {
      switch shown.takeover(of: one.head, besides: heads) {
      case .certain: certain.append(one)
      case .unproven: doubted.insert(one.head.device)
      case .none, .apart: break
      }
    }
    return certain
  }

  private func notTaken(_ error: VaultError, _ path: VaultPath) {
    session.note(SyncProblem(error, there: path.string))
    session.change { $0.untakenHeadCount += 1 }
  }

  // MARK: What the heads know

  /// Those of the heads that go on from what is followed here, with what is news in them.
  ///
  /// - Parameters:
  ///   - takenOver: Late heads of which nothing is needed.
  ///   - unopened: A head that another machine has written under this one's key, and that opens nowhere any more.
  func followed(
    _ incoming: [IncomingHead], besides takenOver: [IncomingHead], unopened: HeadMark?,
    _ transfers: PullTransfers
  ) throws(SyncError) -> [IncomingHead] {
    let others = incoming.filter { one in
      !takenOver.contains { $0.head.device == one.head.device }
    }
    let loaded = try loadEntries(others, transfers)
    if let unopened = unopened ?? unknownOwn(among: takenOver) {
      noteCopy(unopened, seenBy: loaded)
    }
    try compareLines(of: takenOver, transfers)
    return try followed(loaded)
  }

  /// Finds those of the late heads that others have taken over which are of another line than an earlier one that this device has
  /// taken over: whoever names them is not followed. Of those whose segments are gone nobody can tell.
  private func compareLines(
    of takenOver: [IncomingHead], _ transfers: PullTransfers
  ) throws(SyncError) {
    for one in takenOver where shown.hasTakenOverEarlier(than: one.head) {
      let found: IncomingHead
      do throws(TransferFailure) {
        found = try loadEntries(of: one, transfers[one.head])
      } catch {
        switch error {
        case .object: continue
        case .fatal(let error): throw error
        }
      }
      try keeping { () throws(VaultError) in
        try shown.noteIfStray(found.head, segments: found.lineages)
      }
    }
  }

  /// Brings the segments of every head, and finds what is news in them.
  ///
  /// - Returns: The heads whose segments are whole.
  private func loadEntries(
    _ incoming: [IncomingHead], _ transfers: PullTransfers
  ) throws(SyncError) -> [IncomingHead] {
    var result: [IncomingHead] = []
    for one in incoming {
      let path = VaultPath.head(member.id, one.head.device)
      do {
        result.append(try loadEntries(of: one, transfers[one.head]))
      } catch {
        switch error {
        case .object(.missing) where doubted.contains(one.head.device): continue
        case .object(let error):
          session.note(SyncProblem(error, there: error.file ?? path.string))
          session.note(.notTaken(path, count: 1))
          if error.isOfTheMachine { session.noteUnread(one.head.hash) }
          session.change { $0.untakenHeadCount += 1 }
        case .fatal(let error): throw error
        }
      }
    }
    return result
  }

  private func loadEntries(
    of one: IncomingHead, _ transfer: PullTransfer
  ) throws(TransferFailure) -> IncomingHead {
    var manifest = Manifest()
    var found = one
    found.lineages = [:]
    let known = member.segments(in: one.head.epoch)
    for name in one.head.segments where !known.contains(name) {
      guard let bytes = try transfer.bring(name, kind: .segment) else { continue }
      do {
        let segment = try Segment(decoding: bytes)
        found.lineages[name] = segment.lineage
        for entry in segment.entries { _ = manifest.apply(entry) }
      } catch {
        throw .object(VaultError(error, path: member.sealedObjects.vaultPath(of: name).string))
      }
    }
    if let name = one.head.head.announcement {
      _ = try transfer.bring(name, kind: .announcement)
    }
    let lists = member.authoredLists(in: one.head.epoch)
    for list in one.head.head.authored where !lists.contains(list) {
      _ = try transfer.bring(list, kind: .authored)
    }
    found.entries = news(in: manifest, of: one.head)
    return found
  }

  /// The heads that go on from what is followed here. Docs/Sync.md, "Put back or copied".
  private func followed(_ incoming: [IncomingHead]) throws(SyncError) -> [IncomingHead] {
    let known = shown
    var result: [IncomingHead] = []
    for (one, kinship) in try zip(incoming, kinships(of: incoming)) {
      let path = VaultPath.head(member.id, one.head.device)
      switch kinship {
      // What it names may be lost here.
      case .known where known.mayLackRest(of: one.head): result.append(one)
      case .known: continue
      case .followed:
        let here = known.knownCounters[one.head.device]
        if one.head.device == session.home.device, let here, here < one.head.counter {
          session.note(
            SyncProblem(
              .ownIsNewerThere(here: here, there: one.head.counter), path: path, action: .take))
        }
        result.append(one)
      case .ownCopy(let device, let above):
        session.noteCopy(.head(member.id, device), above: above)
      case .stray(let device):
        let isOfItself = device == one.head.device
        session.note(.stray(path, lineOf: isOfItself ? nil : vault.name(of: device)))
        // It is met with every sync, until its machine has gone on as another device.
        session.remember { $0.seen[path] = nil }
        session.change { $0.untakenHeadCount += 1 }
      }
    }
    return result
  }

  /// What each of the heads is to what is here. Where one of them is a stray, those that go on from it show only once it is
  /// known: so they are asked again.
  private func kinships(of incoming: [IncomingHead]) throws(SyncError) -> [Member.Kinship] {
    let known = shown
    func kinship(of one: IncomingHead) throws(SyncError) -> Member.Kinship {
      try keeping(known.kinship(of: one.head, segments: one.lineages, entries: one.entries))
    }
    var kinships: [Member.Kinship] = []
    for one in incoming { kinships.append(try kinship(of: one)) }
    let hasStray = kinships.contains { if case .stray = $0 { true } else { false } }
    guard hasStray else { return kinships }
    for (number, one) in incoming.enumerated() where kinships[number] == .followed {
      kinships[number] = try kinship(of: one)
    }
    return kinships
  }

  /// Whether this very version shows here; it may have to be put under other keys all the same.
  func isKnown(_ entry: RecordEntry) -> Bool {
    shown.entry(entry.record)?.revision == entry.revision
  }

  /// What is not known here, and nothing that is known here replaces; and what is not here under the keys in use.
  private func news(in manifest: Manifest, of head: OpenedHead) -> [RecordEntry] {
    let all = manifest.entries + manifest.conflicts.values.joined()
    var seen: Set<ContentDigest> = []
    return all.filter { entry in
      guard seen.insert(entry.revision).inserted else { return false }
      guard let known = member.entry(entry.record) else { return true }
      if known.revision == entry.revision { return !member.isUnderKeysInUse(entry) }
      return member.isNews(entry, from: head.isLate ? head.epoch : nil)
    }
  }
}

extension OpenedHead {
  /// Whether it is late, and one of these brings all that it does.
  func isTakenOver(by heads: [OpenedHead]) -> Bool {
    isLate && heads.contains { $0.takesOver(self) }
  }
}
