import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// A device's head, verified and opened.
package struct OpenedHead: Sendable {
  package let device: DeviceID
  package let counter: UInt64
  package let hash: FileHash
  /// Whether it is of another epoch than the one in use.
  package let isLate: Bool
  /// The link that began its epoch.
  package let epoch: StatementID
  /// The other links that its writer knew as the last ones.
  let follows: [StatementID]
  package let head: Head

  /// Every segment that the head names.
  package var segments: [ContentDigest] { head.segments }
}

/// What a sync asks of a member and does to it.
extension Member {
  /// The objects as the files that they are, by their names: for a sync, which carries these between copies of the vault.
  /// Whoever wants contents has the methods of `Member+Objects`.
  package var sealedObjects: ObjectStore { objects }

  /// The heads that count here.
  package var openedHeads: [OpenedHead] {
    heads.withLock { heads in
      heads.loaded.values.map(OpenedHead.init).sorted { $0.device < $1.device }
    }
  }

  /// The late heads that were taken over: nothing that they name is needed.
  package var headsTakenOver: [OpenedHead] {
    heads.withLock { heads in
      heads.takenOver.values.map(OpenedHead.init).sorted { $0.device < $1.device }
    }
  }

  /// The counters of all heads that count here, late ones that were taken over included.
  package var knownCounters: [DeviceID: UInt64] {
    heads.withLock { heads in
      heads.loaded.mapValues(\.counter)
        .merging(heads.takenOver.mapValues(\.counter), uniquingKeysWith: max)
    }
  }

  /// The segments that heads of an epoch here name: these are here under its keys, and all that they hold is known.
  package func segments(in epoch: StatementID) -> Set<ContentDigest> {
    heads.withLock { heads in
      Set(heads.loaded.values.lazy.filter { $0.body.epoch == epoch }.flatMap(\.head.segments))
    }
  }

  /// The lists that heads of an epoch here name.
  package func authoredLists(in epoch: StatementID) -> Set<ContentDigest> {
    heads.withLock { heads in
      Set(heads.loaded.values.lazy.filter { $0.body.epoch == epoch }.flatMap(\.head.authored))
    }
  }

  /// The object for want of which the head that is here of another device does not count yet: it is missing or damaged. Nil
  /// where the head counts, or something else keeps it from counting.
  ///
  /// - Parameter hash: Of its file.
  package func awaitedPart(
    of device: DeviceID, _ hash: FileHash
  ) throws(VaultError) -> ObjectName? {
    if heads.withLock({ $0.last(of: device)?.hash == hash }) { return nil }
    _ = try refresh()
    guard let path = heads.withLock({ $0.waiting[device]?.object }),
      case .object(_, let name) = VaultPath(parsing: path.string)
    else { return nil }
    return name
  }

  /// Whether the entry's revision is here under the keys in use.
  package func isUnderKeysInUse(_ entry: RecordEntry) -> Bool {
    if register.keys.others.isEmpty { return true }
    // What keeps it from being told is told to whoever reads the revision.
    return (try? objects.isPresentNow(entry.revision)) ?? true
  }

  /// Whether the link that began the head's epoch is here, and all others that its writer knew: without one of them it does
  /// not count here.
  package func knowsLinks(of head: OpenedHead) -> Bool {
    ([head.epoch] + head.follows).allSatisfy { register.links.history.link($0) != nil }
  }

  /// The wraps by which this person opens the epochs of these heads. Nobody carries those of an epoch that is over by
  /// themselves; whoever brings a head that needs one brings it too.
  package func wraps(for heads: [OpenedHead]) -> [VaultPath] {
    let epochs = Set(heads.map(\.epoch))
    return register.links.history.wraps(for: context.person)
      .filter { epochs.contains($0.epoch) }
      .map { .epochWrap(id, $0.wrap.file) }
  }

  /// Whether this person's key of the head's epoch is here.
  package func hasKey(for head: OpenedHead) -> Bool { register.keys.epoch(head.epoch) != nil }

  /// Why the member may not be written, nor what is here of it be carried on; nil when it is whole, or has been mended since it was
  /// opened: by another process, or by words that have joined keys.
  package func standstill() -> VaultError? {
    guard damageReason != nil else { return nil }
    do { _ = try refresh() } catch { return damageReason ?? error }
    return damageReason
  }

  /// A head from elsewhere, verified against `tree` and opened.
  ///
  /// - Throws: `damaged` when it does not count by the people and links of the tree.
  package func openHead(
    _ device: DeviceID, bytes: [UInt8], in tree: SignedTree
  ) throws(VaultError) -> OpenedHead {
    let path = register.path(of: device)
    return OpenedHead(
      try register.load(
        device, files: tree.holding(path, bytes), people: tree.people, links: tree.links(of: id)))
  }

  /// Whether a head is sealed with a key that this person was not given: its epoch was begun by somebody who did not know
  /// that they have access.
  package func isClosed(
    _ path: VaultPath, _ bytes: [UInt8], in tree: SignedTree
  ) throws(VaultError) -> Bool {
    guard let epoch = tree.epoch(ofHead: path, bytes), register.keys.epoch(epoch) == nil else {
      return false
    }
    let unwrapped = try tree.links(of: id).trust.epochs.unwrapped[epoch] ?? []
    return unwrapped.contains(context.person)
  }

  /// Whether a head is of an epoch of which no key is here, and one of the epoch in use whose word proves it says that all it
  /// brings was taken over: nobody waits for that key, whose wraps may be gone. Docs/Format.md, "What becomes of wraps".
  ///
  /// - Parameter others: Heads of elsewhere that count beside those that are here.
  package func isClosedAndTakenOver(
    _ device: DeviceID, counter: UInt64, _ bytes: [UInt8], in tree: SignedTree,
    besides others: [OpenedHead]
  ) throws(VaultError) -> Bool {
    guard let epoch = tree.epoch(ofHead: .head(id, device), bytes),
      register.keys.epoch(epoch) == nil
    else { return false }
    let witnesses = Witnesses(
      own: context.device.id, people: tree.people, links: try tree.links(of: id))
    let known = heads.withLock { $0.loaded.values.map(OpenedHead.init) }
    return (known + others).contains {
      !$0.isLate && witnesses.proves($0.device, of: device)
        && $0.head.takesOver(device, upTo: counter)
    }
  }

  /// Puts verified heads in place, as the files they are, after everything that was placed before, and before them
  /// the links and wraps of the epochs that they begin, and the wraps that open theirs: no program of this machine sees
  /// those without heads, nor heads without the key that opens them.
  ///
  /// A head here that is newer by now stays; where one of them was read here before, and something else stands in its place
  /// now, it is put back. On disk when this returns; the watermarks know them.
  ///
  /// - Parameter failures: How many barriers had failed before what they name began to be written (`Vault.failedBarriers`).
  /// - Returns: The devices whose heads were put in place.
  @discardableResult
  package func place(
    heads new: [(head: OpenedHead, bytes: [UInt8])],
    links: [(path: VaultPath, bytes: [UInt8])] = [], since failures: UInt64
  ) throws(VaultError) -> Set<DeviceID> {
    guard !new.isEmpty else { return [] }
    guard !context.isReadOnly else { throw .readOnly }
    let store = context.store
    return try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        _ = try mayWrite ? catchUpOrPart(&heads) : catchUp(&heads)
        var newer: [(head: OpenedHead, bytes: [UInt8])] = []
        for (head, bytes) in new where try isToBePlaced(head, heads) { newer.append((head, bytes)) }
        if newer.isEmpty, links.isEmpty { return [] }
        if !links.isEmpty {
          // Once they are there everybody reads what stands under the keys of those epochs.
          try context.barrier(since: failures)
          try storing { () throws(BlobStoreError) in
            for link in links {
              try store.replace(BlobPath(link.path.string), link.bytes, durably: true)
            }
          }
        }
        try replaceFiles(of: newer, since: failures)
        try context.state.updateWatermarks(durably: true) { marks in
          for (head, _) in newer {
            marks.raise(
              register.path(of: head.device), counter: head.counter, hash: head.hash)
          }
        }
        if !links.isEmpty {
          try context.reloadPeople()
          try loadLinks()
        }
        return Set(newer.map(\.head.device))
      }
    }
  }

  /// Each is on disk when this returns, and all objects that were placed before.
  private func replaceFiles(
    of heads: [(head: OpenedHead, bytes: [UInt8])], since failures: UInt64
  ) throws(VaultError) {
    func arriving(_ device: DeviceID) -> BlobPath {
      register.folder.appending(".\(device.hex).new")
    }
    let store = context.store
    try storing { () throws(BlobStoreError) in
      for (head, bytes) in heads {
        try store.remove(arriving(head.device))
        try store.create(arriving(head.device), bytes)
      }
    }
    try context.barrier(since: failures)
    try storing { () throws(BlobStoreError) in
      for (head, _) in heads {
        try store.renameDurably(
          arriving(head.device), to: BlobPath(register.path(of: head.device).string))
      }
    }
  }

  private func isToBePlaced(
    _ head: OpenedHead, _ heads: HeadsState
  ) throws(VaultError) -> Bool {
    guard let known = heads.last(of: head.device) else { return true }
    if head.mark != known.mark { return head.counter > known.counter }
    return try ifWhole(register.fileHash(of: head.device))
      != head.hash
  }

  /// Goes on as a device of its own: a head of this device that was found elsewhere is of another line than the one here.
  package func part(from device: DeviceID, above: UInt64) throws(VaultError) {
    try requireWritable()
    try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        _ = try catchUpOrPart(&heads)
        try keepOwnHeadDurably(heads)
        try context.part(from: device, in: id, above: above)
        _ = try catchUpOrPart(&heads)
      }
    }
  }
}

extension OpenedHead {
  init(_ loaded: LoadedHead) {
    self.init(
      device: loaded.device, counter: loaded.counter, hash: loaded.hash,
      isLate: loaded.late != nil, epoch: loaded.body.epoch, follows: loaded.body.follows,
      head: loaded.head)
  }
}
