import BlobStore
import VaultCrypto
import VaultModel

/// New generations of this person's keys. Docs/Format.md, "Generations".
extension Vault {
  /// Removes devices of this person: what is written or re-encrypted from here on is not for them.
  ///
  /// What they have written stands in this device's heads before they are removed. Durable when it returns; a crash
  /// before that leaves the generation that was, and its devices. The members' keys are another step: their owners
  /// begin new epochs.
  ///
  /// - Parameter words: This person's.
  /// - Throws: `wrongWords`, `replacedWords`; `notFound` for a device that is none of this person's; `readOnly`, `noSpace`,
  ///   `io`; what reading and writing the members throws.
  package func beginGeneration(
    removing devices: Set<DeviceID>, words: borrowing RecoveryWords
  ) throws(VaultError) {
    precondition(!devices.contains(device), "a device does not remove itself")
    try beginGeneration(removing: devices, rootKey: words, words: words, isNew: false)
  }

  /// Replaces this person's words: the old ones open nothing that is written or re-encrypted from here on, and sign
  /// nothing that anyone takes who has seen the new ones.
  ///
  /// - Throws: As `beginGeneration(removing:words:)`.
  package func replaceWords(
    _ old: borrowing RecoveryWords, with new: borrowing RecoveryWords
  ) throws(VaultError) {
    try beginGeneration(removing: [], rootKey: old, words: new, isNew: true)
  }

  /// - Parameters:
  ///   - old: The words whose root key is the newest now.
  ///   - words: The words of the generation.
  ///   - isNew: Whether they are others.
  private func beginGeneration(
    removing devices: Set<DeviceID>, rootKey old: borrowing RecoveryWords,
    words: borrowing RecoveryWords, isNew: Bool
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    if let removal = context.removal { throw removal }
    guard let own = context.people[person] else {
      throw .missing(path: VaultPath.identity(person).string)
    }
    let oldKey = old.rootSigningKey(binding: context.binding)
    try own.identity.requireNewest(oldKey.publicKey)
    guard devices.isSubset(of: own.certificates.keys) else {
      throw .notFound(what: "a device of yours among those to remove")
    }
    try keepWhatWasLearned()
    let master = MasterKey.random()
    let generation = try nextGeneration(after: own.identity)
    let enrolment = DeviceEnrolment(
      vault: id, store: context.store, files: context.signedFiles, state: context.state,
      person: person, generation: generation, clock: context.clock)
    let identityKey = master.identitySigningKey(binding: context.binding, generation: generation)
    for (device, certificate) in own.certificates where !devices.contains(device) {
      try enrolment.certify(
        PublicDevice(certificate), master: master, identityKey: identityKey)
    }
    var identity = own.identity
    try advance(&identity, from: own, to: generation, master: master, words: words)
    let now = context.clock.milliseconds()
    identity.removed += devices.sorted().map { RemovedDevice(device: $0, time: now) }
    let newKey = words.rootSigningKey(binding: context.binding)
    if isNew { identity.append(newKey.publicKey, signedWith: oldKey, context.binding, time: now) }
    try put(identity, replacing: own, signedWith: newKey)
    try context.reloadPeople()
    try renewRegister()
  }

  /// Writes this device's register anew, for those only who have the keys of the newest generation.
  ///
  /// Invitations of before are withdrawn: whoever was removed knows their secrets.
  func renewRegister() throws(VaultError) {
    let began = context.people[person]?.identity.time ?? 0
    try changePersonalProfile { profile in
      for open in profile.invitations where open.secret != nil && open.created <= began {
        var withdrawn = open
        (withdrawn.secret, withdrawn.time) = (nil, max(began, Limits.time(after: open.time)))
        profile.note(withdrawn)
      }
    }
  }

  /// The next number of which nothing is there, not even of an interrupted attempt. What stands far above was put there
  /// by somebody else, and changes nothing.
  private func nextGeneration(after identity: IdentityBody) throws(VaultError) -> UInt32 {
    let folder = BlobPath("people/\(person.hex)/generations")
    let entries = try storing { () throws(BlobStoreError) in try context.store.list(folder) }
    let taken = Set(entries.compactMap { UInt32($0.name) })
    var next = identity.generation
    repeat {
      let (following, overflow) = next.addingReportingOverflow(1)
      guard !overflow else {
        throw .limit(what: "the number of generations", found: Int(next) + 1, limit: Int(next))
      }
      next = following
    } while taken.contains(next)
    return next
  }

  /// Makes the identity the one after `own`, of the generation whose master key this is.
  private func advance(
    _ identity: inout IdentityBody, from own: Person, to generation: UInt32,
    master: borrowing MasterKey, words: borrowing RecoveryWords
  ) throws(VaultError) {
    let binding = context.binding
    let ending = try PersonKeys.openCurrentMaster(
      of: own, device: context.device, files: context.signedFiles)
    identity.past.append(
      PastGeneration(
        generation: own.identity.generation, signingPublicKey: own.identity.signingPublicKey,
        agreementPublicKey: own.identity.agreementPublicKey,
        wrappedMasterKey: master.wrapPrevious(ending, binding: binding)))
    let mark = try context.state.loadWatermarks()[.identity(person)]
    identity.counter = max(identity.counter, mark.map { max($0.counter, $0.floor) } ?? 0) + 1
    identity.previous = own.hash
    identity.generation = generation
    identity.signingPublicKey =
      master.identitySigningKey(binding: binding, generation: generation).publicKey
    identity.agreementPublicKey =
      master.identityAgreementKey(binding: binding, generation: generation).publicKey
    let slot = identity.recovery
    identity.recovery = try RecoverySlot(
      of: master, words: words,
      cost: Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB), binding: binding)
    identity.time = context.clock.milliseconds()
  }

  /// Puts the identity in place, from where on the generation counts.
  ///
  /// - Throws: `alreadyExists` when another process has begun one meanwhile.
  private func put(
    _ identity: IdentityBody, replacing own: Person, signedWith key: borrowing SigningKey
  ) throws(VaultError) {
    let path = VaultPath.identity(person)
    let files = context.signedFiles
    let bytes = files.sign(identity.encoded(), .identity, path, with: key)
    try context.state.withCommitLock { () throws(VaultError) in
      guard try files.load(path).hash == own.hash else {
        throw .alreadyExists(what: "a newer generation of your keys")
      }
      try files.store(bytes, at: path, in: context.store)
      try context.state.updateWatermarks(durably: true) {
        $0.raise(
          path, counter: identity.counter, hash: Digest.sha256(bytes),
          rootCount: identity.rootKeys.count)
      }
    }
  }
}

extension IdentityBody {
  /// Appends a root key, which takes the place of the one that signs for it.
  fileprivate mutating func append(
    _ publicKey: [UInt8], signedWith key: borrowing SigningKey, _ binding: Binding, time: UInt64
  ) {
    let body = RootSuccessor.signedBody(number: successors.count + 1, publicKey)
    let signature = key.sign(
      label: .successor, binding: binding, path: VaultPath.identity(person).string, body: body)
    successors.append(
      RootSuccessor(rootPublicKey: publicKey, signature: signature, time: time))
  }
}
