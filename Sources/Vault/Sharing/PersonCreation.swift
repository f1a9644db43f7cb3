import BlobStore
import VaultCrypto
import VaultModel

/// Makes a person with keys of their own, and this machine their first device.
struct PersonCreation {
  let vault: VaultID
  let store: any LocalStore
  let files: SignedFiles
  let state: StateFolder
  let clock: WallClock

  /// What making a person gives.
  struct Made: ~Copyable {
    let person: PersonID
    let generation: UInt32
    /// Signs as the person.
    let identityKey: SigningKey
    /// Unlocks this machine's device.
    let unlockKey: DeviceUnlockKey
  }

  /// Writes identity, certificate and device register, in this order, and this machine's slot before them: a person
  /// must never be there without a way in. Durable when it returns.
  ///
  /// - Parameter acquaintances: Whom the person knows already.
  func run(
    _ new: NewDevice, password: borrowing SecretBytes, words: borrowing RecoveryWords,
    knowing acquaintances: [Acquaintance] = []
  ) throws(VaultError) -> Made {
    let binding = files.binding
    let rootKey = words.rootSigningKey(binding: binding)
    let person = PersonID(rootPublicKey: rootKey.publicKey)
    let master = MasterKey.random()
    let generation: UInt32 = 1
    let identityKey = master.identitySigningKey(binding: binding, generation: generation)
    let identity = IdentityBody(
      person: person, counter: 1, previous: nil, rootPublicKey: rootKey.publicKey,
      generation: generation, signingPublicKey: identityKey.publicKey,
      agreementPublicKey: master.identityAgreementKey(binding: binding, generation: generation)
        .publicKey,
      recovery: try RecoverySlot(
        of: master, words: words, cost: new.recoveryCost, binding: binding),
      time: clock.milliseconds(), past: [])
    let path = VaultPath.identity(person)
    let bytes = files.sign(identity.encoded(), .identity, path, with: rootKey)

    let enrolment = DeviceEnrolment(
      vault: vault, store: store, files: files, state: state, person: person,
      generation: generation, clock: clock)
    let prepared = try enrolment.prepare(new, password: password)
    try files.store(bytes, at: path, in: store)
    let keys = PersonKeys(master: master, identity: identity, binding: binding)
    try enrolment.certify(
      PublicDevice(prepared.device), master: master, identityKey: identityKey)
    try enrolment.writeRegister(prepared.device, new, keys: keys, knowing: acquaintances)
    try state.withCommitLock { () throws(VaultError) in
      try state.updateWatermarks(durably: true) {
        $0.raise(path, counter: 1, hash: Digest.sha256(bytes), rootCount: 1)
      }
    }
    return Made(
      person: person, generation: generation, identityKey: identityKey,
      unlockKey: prepared.takeUnlockKey())
  }
}

extension RecoverySlot {
  /// The master key under the words. Takes as long as the cost says.
  init(
    of master: borrowing MasterKey, words: borrowing RecoveryWords, cost: Argon2Cost,
    binding: Binding
  ) throws(VaultError) {
    let salt = randomBytes(16)
    do {
      let seed = try words.seed(salt: salt, cost: cost)
      self.init(
        salt: salt, passes: cost.passes, memoryKiB: cost.memoryKiB,
        wrappedMasterKey: master.wrap(for: seed, binding: binding))
    } catch {
      throw .crypto(error)
    }
  }
}
