import BlobStore
import MachineState
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// Judges the signed files of both sides: reads what is new or changed on the remote, or not here, lays it over the folder,
/// and asks the tree that comes of it for its verdict on each file. Of the rest this machine remembers what it was.
struct SignedJudging {
  let session: SyncSession
  let sight: Sight
  /// The folder here.
  let ownTree: SignedTree

  func run() throws(SyncError) -> SignedExchange {
    // Before any register is read: one that is written meanwhile must not look like a rollback.
    let known = KnownRegisters(
      marks: try keeping(session.home.state.loadWatermarks()), shown: session.memory.seen)
    var judged = JudgedFiles(tree: ownTree)
    try judgeFilesHere(&judged)
    let changed = changed(besides: judged)
    try read(changed, &judged)
    let (here, there) = (sight.local.files, sight.look.files.keys)
    let gone = here.intersection(known.shown.keys).subtracting(there)
    judged.staying = try keeping(
      judged.tree.wrapsThatStay(
        among: here.symmetricDifference(there), here: here, isGone: gone.contains))
    try judgeFilesHereAgain(&judged)
    try judgeFilesThere(changed, &judged)
    try findChangedWraps(&judged)
    try findReplaced(&judged)
    try leaveLoose(&judged)
    let exchange = SignedExchange(session: session, sight: sight, judged: judged, known: known)
    exchange.rememberShown()
    exchange.rememberBrought()
    return exchange
  }

  // MARK: Here

  private func judgeFilesHere(_ judged: inout JudgedFiles) throws(SyncError) {
    for path in sight.local.files {
      switch try keeping(ownTree.verdictOnStored(path)) {
      case .counts(let facts): judged.here[path] = facts
      case .former: judged.former.insert(path)
      case .broken(let error):
        judged.brokenHere.insert(path)
        // Of a member that no closing lists the vault tells.
        if ownTree.isWrapOfUnknownKeys(path) || error.isOfUnlistedMember { continue }
        session.note(SyncProblem(error, here: path.string))
      case .retired, nil: break
      }
    }
  }

  /// What the remote shows may say that a device was removed, or that someone may not write any more whose heads are here.
  private func judgeFilesHereAgain(_ judged: inout JudgedFiles) throws(SyncError) {
    let tree = judged.tree
    judged.brokenHere = judged.brokenHere.filter { !tree.isRetired($0) }
    judged.here = judged.here.filter { !tree.isRetired($0.key) }
    judged.former = judged.former.filter { !tree.isRetired($0) }
    guard judged.bytes.keys.contains(where: \.isLink) else { return }
    for path in judged.here.keys where path.isHead {
      guard case .former? = try keeping(tree.verdictOnStored(path)) else { continue }
      judged.here[path] = nil
      judged.former.insert(path)
    }
  }

  /// Whoever can write to the folder can put something in the place of any file: that does not keep away what holds. But a
  /// register that its device has signed and that does not hold yet may be newer than the remote's, and wait for what
  /// another remote has.
  private func findReplaced(_ judged: inout JudgedFiles) throws(SyncError) {
    for path in judged.brokenHere {
      guard let there = judged.there[path] else { continue }
      let bytes: [UInt8]
      do {
        bytes = try session.home.store.read(
          BlobPath(path.string), limit: Limits.signedFileBytes)
      } catch {
        if case .tooLarge = error { judged.replaced.insert(path) }
        continue
      }
      let tree = judged.tree
      guard case .broken = try keeping(tree.verdict(on: path, bytes)) else { continue }
      if let counter = tree.signedCounter(of: path, bytes), counter >= there.counter { continue }
      judged.replaced.insert(path)
    }
  }

  /// A wrap for another device that is not what it was is not sent. Nor is it taken by itself where the remote still has what
  /// both had: nobody here can tell whether a program that copies has brought the right one. A person has it mended.
  private func findChangedWraps(_ judged: inout JudgedFiles) throws(SyncError) {
    for (path, hash) in try keeping(session.home.state.loadSeenWraps()).hashes {
      guard let here = judged.here[path]?.hash, here != hash, here != judged.there[path]?.hash
      else { continue }
      judged.here[path] = nil
      judged.brokenHere.insert(path)
      session.note(SyncProblem(.changedWrap(path), here: path.string))
    }
  }

  // MARK: There

  /// What the remote shows that is not known to be as it was.
  private func changed(besides judged: JudgedFiles) -> [VaultPath: BlobEntry] {
    let memory = session.memory
    return sight.look.files.filter { path, entry in
      // What is not here is read in any case: the rest may build on it. Nothing does on what a removed device has left.
      let isKnown = sight.local.files.contains(path) || isKnownAsRetired(path)
      if memory.seen[path]?.fingerprint != entry.fingerprint || !isKnown { return true }
      // Under a new mark a cache may have given what was there before.
      if session.looksEverywhere, path.registerDevice != nil, memory.seen[path]?.isRetired == false
      {
        return true
      }
      // What stands here counts for nothing any more; what is there may.
      if judged.former.contains(path) { return true }
      // Of two that differ one does not hold.
      return path.isStatement && memory.seen[path]?.state.hash != judged.here[path]?.hash
    }
  }

  private func isKnownAsRetired(_ path: VaultPath) -> Bool {
    session.memory.seen[path]?.isRetired ?? false && ownTree.isRetired(path)
  }

  /// Reads these, those first that are here as well, then the small ones, as far as they may be held unverified; and makes
  /// the tree that they would make.
  private func read(
    _ changed: [VaultPath: BlobEntry], _ judged: inout JudgedFiles
  ) throws(SyncError) {
    let known = sight.local.files
    let paths = changed.map { path, entry in
      (path: path, rank: (known.contains(path) ? 0 : 1, entry.size, path.string))
    }.sorted { $0.rank < $1.rank }.map(\.path)
    let cargo = sight.cargo
    let results = Gathered<(VaultPath, [UInt8])>()
    let (unread, unfit) = (Gathered<VaultPath>(), Gathered<VaultPath>())
    let failed = Gathered<VaultPath>()
    try session.forEach(paths) { [session] (path) throws(SyncError) in
      if let known = cargo.read[path] { return results.add((path, known)) }
      let isRead = try cargo.unverified.take { () throws(SyncError) in
        try session.readListed(path) { error in
          if case .damaged = error { unfit.add(path) }
          if path.isHead, error.isOfTheMachine { failed.add(path) }
        }
      } then: {
        results.add((path, $0))
      }
      if !isRead { unread.add(path) }
    }
    let left = Set(unread.all)
    if !left.isEmpty { session.note(.tooMuchNew(left.count, of: paths.count)) }
    judged.unread = left.union(cargo.left)
    judged.failedHeads = Set(failed.all)
    judged.bytes = Dictionary(results.all, uniquingKeysWith: { first, _ in first })
    // What could not be had just now may be one that is being written. What no device can have written is no head of this one.
    let noHeads = Set(unfit.all)
    judged.maybeNewer = Set(
      paths.filter { path in
        guard judged.bytes[path] == nil, !left.contains(path) else { return false }
        return isOfAnother(path) || isOwnHead(path) && !noHeads.contains(path)
      })
    if !judged.bytes.isEmpty { judged.tree = try keeping(ownTree.adding(judged.bytes)) }
  }

  /// What nobody stands for is as if it were not there, where there is no room for it; and it is not read again.
  private func leaveLoose(_ judged: inout JudgedFiles) throws(SyncError) {
    var news: [VaultPath: Int] = [:]
    for path in judged.facts.keys where !sight.local.files.contains(path) {
      guard let bytes = judged.bytes[path] else { continue }
      if session.home.isAwaited?(path, bytes) ?? false { continue }
      news[path] = bytes.count
    }
    let admission = LooseAdmission(session: session, sight: sight, tree: judged.tree)
    var (loose, left) = try admission.run(news)
    if left.isEmpty { return }
    let bytes = judged.bytes
    let tree = try keeping(ownTree.adding(bytes.filter { !left.contains($0.key) }))
    loose.subtract(left)
    for path in loose {
      // What it builds on may be left.
      guard let file = bytes[path], case .counts = try keeping(tree.verdict(on: path, file)) else {
        left.insert(path)
        continue
      }
    }
    judged.tree = tree
    for path in left {
      judged.facts[path] = nil
      judged.there[path] = nil
      judged.former.insert(path)
      judged.failures.updateValue(nil, forKey: path)
    }
  }

  /// Whether it is the register of another device: in this one's own nothing is lost, and the one here stands for it.
  private func isOfAnother(_ path: VaultPath) -> Bool {
    path.registerDevice.map { $0 != session.home.device } ?? false
  }

  /// Whether it is a head of this device, which may have written it before its machine was put back to an earlier state.
  private func isOwnHead(_ path: VaultPath) -> Bool {
    path.isHead && path.registerDevice == session.home.device
  }

  private func judgeFilesThere(
    _ changed: [VaultPath: BlobEntry], _ judged: inout JudgedFiles
  ) throws(SyncError) {
    let memory = session.memory
    judged.broken = Set(changed.keys)
    for (path, file) in sight.knownBroken {
      if file.finding == nil { judged.former.insert(path) } else { judged.broken.insert(path) }
    }
    for (path, entry) in sight.look.files {
      if let bytes = judged.bytes[path] {
        try judge(path, bytes, entry, &judged)
      } else if judged.tree.isRetired(path) {
        judged.broken.remove(path)
        if let seen = memory.seen[path] { noteRetired(path, entry, seen.state.hash) }
      } else if changed[path] == nil, !judged.former.contains(path) {
        judged.there[path] = memory.seen[path]?.state
      }
    }
  }

  private func judge(
    _ path: VaultPath, _ bytes: [UInt8], _ entry: BlobEntry, _ judged: inout JudgedFiles
  ) throws(SyncError) {
    switch try keeping(verdict(on: path, bytes, judged.tree)) {
    case .counts(let facts):
      judged.facts[path] = facts
      judged.there[path] = RegisterState(counter: facts.counter, hash: facts.hash)
      judged.former.remove(path)
    case .former:
      judged.former.insert(path)
      judged.failures.updateValue(nil, forKey: path)
    case .retired:
      let hash = Digest.sha256(bytes)
      let seen = session.memory.seen[path].flatMap { $0.isRetired ? $0.state.hash : nil }
      if seen == nil {
        session.note(.removedDevice(path))
      } else if seen != hash {
        session.note(.writtenAfterRemoval(path))
      }
      noteRetired(path, entry, hash)
    case .broken(let error) where error.isOfUnlistedMember:
      session.note(error, thereIn: path)
      judged.former.insert(path)
      judged.failures.updateValue(nil, forKey: path)
    case .broken(let error):
      return note(error, path, bytes, &judged)
    }
    judged.broken.remove(path)
  }

  private func note(
    _ error: VaultError, _ path: VaultPath, _ bytes: [UInt8], _ judged: inout JudgedFiles
  ) {
    var problem = SyncProblem(error, there: path.string)
    if mayBeNewer(path, bytes, error, than: judged.here[path], judged.tree) {
      judged.maybeNewer.insert(path)
      if isOwnHead(path) { problem = noteOwn(path, bytes, error, &judged) }
    }
    judged.failures[path] = problem
    session.note(problem)
  }

  /// - Returns: What is told of this device's own head, which it has signed and which cannot be judged.
  private func noteOwn(
    _ path: VaultPath, _ bytes: [UInt8], _ error: VaultError, _ judged: inout JudgedFiles
  ) -> SyncProblem {
    let place = judged.tree.place(ofHead: path, bytes)
    let wasMet = sight.look.files[path].map {
      session.memory.brokenFile(path, marked: $0.fingerprint) != nil
    }
    // What it waits for may be on its way.
    if session.looksEverywhere, wasMet ?? false { judged.ownThatStays[path] = place }
    return .ownHeadStays(path, error, partingWith: place == nil ? nil : session.nameToType)
  }

  /// Whether the device of a register that does not hold has signed it, and counted further in it than in the one here: it may
  /// wait for what another remote has. A machine that was put back gives other heads the numbers that it gave before, and what
  /// its own wait for it has had.
  private func mayBeNewer(
    _ path: VaultPath, _ bytes: [UInt8], _ error: VaultError, than here: SignedFacts?,
    _ tree: SignedTree
  ) -> Bool {
    guard isOfAnother(path) || isOwnHead(path), let here,
      let counter = tree.signedCounter(of: path, bytes)
    else { return false }
    if isOwnHead(path) || session.home.wasDevice(of: path, tree) {
      return counter >= here.counter || error.isWaiting
    }
    return counter > here.counter
  }

  private func verdict(
    on path: VaultPath, _ bytes: [UInt8], _ tree: SignedTree
  ) throws(VaultError) -> SignedVerdict {
    let isHere = sight.local.files.contains(path)
    return try isHere ? tree.verdict(on: path, bytes) : tree.verdict(onNew: path, bytes)
  }

  /// So that what is there is told once, and another file in its place is known to have come later.
  private func noteRetired(_ path: VaultPath, _ entry: BlobEntry, _ hash: FileHash) {
    let seen = RemoteMemory.Seen.retired(fingerprint: entry.fingerprint, hash: hash)
    guard session.memory.seen[path] != seen else { return }
    session.remember { $0.seen[path] = seen }
  }
}

extension VaultPath {
  var isHead: Bool { if case .head = self { true } else { false } }

  /// Whose register it is, which that device writes again and again, and counts; nil for any other file.
  var registerDevice: DeviceID? {
    switch self {
    case .head(_, let device), .device(_, let device): device
    default: nil
    }
  }

  fileprivate var isLink: Bool { if case .link = self { true } else { false } }
}

extension SignedExchange {
  /// What the remote shows counts as shown, but for what went back: of that the newest stays known.
  func rememberShown() {
    session.remember { memory in
      for (path, state) in there where plan(path).action != .compare {
        if let known = memory.seen[path], known.state.counter > state.counter { continue }
        if let known = memory.seen[path], known.state.counter == state.counter, state.counter > 0,
          known.state.hash != state.hash, !holds(path, state, insteadOf: known.state)
        {
          continue
        }
        memory.seen[path] = RemoteMemory.Seen(
          fingerprint: look.files[path]?.fingerprint, state: state)
      }
    }
  }

  /// Whether of two files of one counter, in which another device says something of itself, this is the one that holds
  /// everywhere.
  private func holds(
    _ path: VaultPath, _ state: RegisterState, insteadOf other: RegisterState
  ) -> Bool {
    guard case .device(_, let device) = path, device != session.home.device else { return false }
    return other.hash < state.hash
  }

  /// Of wraps for other devices it is remembered what they are, once both sides have the same.
  func rememberWraps() throws(SyncError) {
    if session.options.isDryRun { return }
    var wraps: [VaultPath: FileHash] = [:]
    for (path, facts) in here where session.home.isWrapOfAnother(path) {
      if there[path]?.hash == facts.hash { wraps[path] = facts.hash }
    }
    let same = wraps
    try keeping(session.home.state.remember(wraps: same))
  }

  /// Whatever is newer there than here nobody has put there from this folder, unless it has come here since this was looked at.
  func rememberBrought() {
    let news = there.filter { path, state in
      guard let device = path.registerDevice, device != session.home.device else { return false }
      if let known = here[path] {
        guard state.counter > known.counter else { return false }
      } else if local.files.contains(path) {
        return false
      }
      return !hasComeHere(path, state.counter)
    }
    if news.isEmpty { return }
    session.remember { memory in
      for (path, state) in news {
        memory.brought[path] = max(memory.brought[path] ?? 0, state.counter)
      }
    }
  }

  /// Whether the register stands here by now with this counter, or a higher one: a program that copies has brought it, or its
  /// device works in this folder. So it is where that cannot be told.
  private func hasComeHere(_ path: VaultPath, _ counter: UInt64) -> Bool {
    let bytes: [UInt8]
    do {
      bytes = try session.home.store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return false }
      return true
    }
    guard let here = tree.signedCounter(of: path, bytes) else { return true }
    return here >= counter
  }
}
