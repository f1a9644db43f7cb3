import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// What a sync asks of a vault and does to it, besides its members.
extension Vault {
  /// What it was opened from.
  package var copy: VaultCopy { context.copy }
  /// The vault's own folder, to read from.
  package var store: any BlobStore { context.store }
  package var state: StateFolder { context.state }
  package var clock: WallClock { context.clock }
  package var wrapOpener: WrapOpener {
    WrapOpener(person: person, binding: context.binding) { [context] in
      (context.device, context.keys.wraps)
    }
  }

  /// Puts verified statements and registers of people, and statements of members, in place: durable, one by one,
  /// when this returns; then knows them.
  ///
  /// Statements that are here stay. The caller holds no register here for newer than the given one; where another process
  /// has placed a newer one since, that stays. What was learned from devices that these files remove stands in this
  /// device's own heads before.
  package func place(
    _ files: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)]
  ) throws(VaultError) {
    guard !files.isEmpty else { return }
    guard !isReadOnly else { throw .readOnly }
    let store = context.store
    if try removesDevices(files) { try keepWhatWasLearned() }
    try context.state.withCommitLock { () throws(VaultError) in
      let marks = try context.state.loadWatermarks()
      var wanted: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)] = []
      for file in files where try isToBePlaced(file.path, file.facts, marks) { wanted.append(file) }
      for file in wanted {
        try storing(store.replace(BlobPath(file.path.string), file.bytes, durably: true))
      }
      try context.state.updateWatermarks(durably: true) { marks in
        for file in wanted where file.facts.counter > 0 {
          marks.raise(
            file.path, counter: file.facts.counter, hash: file.facts.hash)
        }
      }
    }
    try context.reloadPeople()
    // What they make of one member, as where a key has not come yet, keeps nothing else from going on.
    for id in Set(files.compactMap(\.path.memberOfAccess)).sorted() {
      guard let member = member(id) else { continue }
      try noting(member) { () throws(VaultError) in _ = try reloadLinks(of: member) }
    }
  }

  /// What is wrong with one member is told, and the others go on.
  private func noting(
    _ member: Member, _ body: () throws(VaultError) -> Void
  ) throws(VaultError) {
    do { try body() } catch {
      guard error.concernsOneMember else { throw error }
      note(Problem(error, path: "members/\(member.id.hex)"))
    }
  }

  /// Whether the file is still what is to stand here: the caller decided that before it held the commit lock. Whoever has
  /// placed a newer register since has marked it.
  private func isToBePlaced(
    _ path: VaultPath, _ facts: SignedFacts, _ marks: Watermarks
  ) throws(VaultError) -> Bool {
    switch path {
    case .head, .device:
      guard let mark = marks[path], mark.counter >= facts.counter, mark.hash != facts.hash else {
        return true
      }
      // Of what a device says of itself twice with one counter, the one with the greater hash holds everywhere.
      if case .device = path, mark.counter == facts.counter, mark.hash < facts.hash { return true }
      return try hashHere(of: path) != mark.hash
    case .auditSegment(let device, let first):
      // It is written once: one that has come since stays, if it holds.
      let (files, people) = (context.signedFiles, context.people)
      return try ifWhole(
        AuditSegmentBody.load(device, first: first, files: files, people: people)) == nil
    default: return true
    }
  }

  /// Of the file that stands here, whatever it is; nil when none does.
  private func hashHere(of path: VaultPath) throws(VaultError) -> FileHash? {
    let store = context.store
    return try ifWhole { () throws(VaultError) in
      try storing { () throws(BlobStoreError) in
        Digest.sha256(try store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
      }
    }
  }

  /// Whether a closing among the files leaves out other devices than are known to be out.
  private func removesDevices(
    _ files: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)]
  ) throws(VaultError) -> Bool {
    let people = context.people
    for file in files {
      guard case .closing(let person, let id) = file.path, let known = people[person],
        known.history.valid[id] == nil
      else { continue }
      let closing: Closing
      do {
        closing = try Closing(decoding: SignedFile(decoding: file.bytes).body)
      } catch {
        throw VaultError(error, path: file.path.string)
      }
      let stay = Set(closing.stay)
      if known.devices.contains(where: { $0.key != device && !stay.contains($0.value.id) }) {
        return true
      }
    }
    return false
  }

  /// Writes heads of the members that this person writes, in which stands all that is known here: of others' devices
  /// too, which may soon be heard no more.
  func keepWhatWasLearned() throws(VaultError) {
    for member in members where member.isWritten {
      try noting(member) { () throws(VaultError) in
        guard try reloadLinks(of: member) else { return }
        _ = try member.commitNothingIfPossible()
      }
    }
  }

  /// Puts verified heads of a member in place whose keys this person has not: what they name was put in place before.
  ///
  /// - Parameter failures: How many barriers had failed before that (`failedBarriers`).
  package func placeSealedHeads(
    _ heads: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)], since failures: UInt64
  ) throws(VaultError) {
    guard !heads.isEmpty else { return }
    try context.barrier(since: failures)
    try place(heads)
  }

  /// How many barriers have failed so far in the vault's folder: to be asked before what heads name is put in place.
  package var failedBarriers: UInt64 { context.failedBarriers }

  /// Returns when whatever is done from now on in the vault's folder reaches the disk only after what was put in place before:
  /// for heads that stand there already, and count once that is there.
  ///
  /// - Parameter failures: `failedBarriers`, from before that.
  package func barrier(since failures: UInt64) throws(VaultError) {
    try context.barrier(since: failures)
  }

  /// Whether what this process has put in the object's place may be on no disk.
  package func isDoubtful(_ name: ObjectName) -> Bool {
    context.staging?.isDoubtful(name) ?? false
  }

  /// A member as the statements in `tree` make it, whose heads may not be here yet, for receiving its objects: one
  /// that is open here, unless the tree has an epoch that it does not know, current or begun at the same time.
  ///
  /// - Throws: `noAccess` when this person has no key for it.
  package func receivingMember(_ id: MemberID, in tree: SignedTree) throws(VaultError) -> Member {
    if let member = member(id),
      try tree.epochs(of: id).isSubset(of: member.register.links.trust.epochs.ranking)
    {
      return member
    }
    return try open(id, in: tree)
  }

  /// Puts an object in place that nobody here can open, over one that stands there.
  ///
  /// Only its form is known to be right.
  package func placeSealed(
    _ name: ObjectName, of member: MemberID, file: [UInt8]
  ) throws(VaultError) {
    guard let staging = context.staging else { throw .readOnly }
    let path = VaultPath.object(member, name)
    guard ObjectStore.hasForm(file) else {
      throw .damaged(path: path.string, reason: "\(file.count) bytes is no size of an object")
    }
    try staging.place(name, of: member, file: file)
  }
}

extension VaultPath {
  /// The member of which it says who may do what.
  fileprivate var memberOfAccess: MemberID? {
    switch self {
    case .link(let member, _), .epochWrap(let member, _): member
    default: nil
    }
  }
}
