import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Makes this machine a device of a person: its keys here and what unlocks them, its certificate and register in the vault.
struct DeviceEnrolment {
  let copy: VaultCopy
  let person: PersonID
  private var files: SignedFiles { copy.files }

  /// New device keys, and the key that unlocks them.
  struct Prepared: ~Copyable {
    let device: ThisDevice
    /// How this machine keeps the device's keys.
    let file: DeviceFile
    private let slot: UnlockSlots.NewSlot
    private let unlockKey: DeviceUnlockKey

    fileprivate init(
      _ keys: (device: ThisDevice, file: DeviceFile), slot: consuming UnlockSlots.NewSlot,
      unlockKey: consuming DeviceUnlockKey
    ) {
      (device, file) = keys
      self.slot = slot
      self.unlockKey = unlockKey
    }

    /// Keys for a device of somebody else that the same key unlocks.
    func keys(for other: DeviceEnrolment) -> (device: ThisDevice, file: DeviceFile) {
      other.makeKeys(for: unlockKey)
    }

    /// Makes this machine the device whose file this is, with the password slot.
    func settle(as file: DeviceFile, in copy: VaultCopy) throws(VaultError) {
      try UnlockSlots(of: copy).begin(
        as: file, with: slot, for: unlockKey, time: copy.clock.milliseconds())
    }

    consuming func takeUnlockKey() -> DeviceUnlockKey { unlockKey }
  }

  /// Makes device keys, and writes them and a password slot as those of this machine.
  func prepare(
    _ new: NewDevice, password: borrowing SecretBytes
  ) throws(VaultError) -> Prepared {
    let prepared = try prepareInMemory(new, password: password)
    try prepared.settle(as: prepared.file, in: copy)
    return prepared
  }

  /// Makes device keys and a password slot that this machine keeps once they are settled.
  func prepareInMemory(
    _ new: NewDevice, password: borrowing SecretBytes
  ) throws(VaultError) -> Prepared {
    let unlockKey = DeviceUnlockKey.random()
    var slot = UnlockSlots.NewSlot(name: UnlockSlots.passwordName)
    try slot.add(password: password, cost: new.passwordCost)
    let keys = makeKeys(for: unlockKey)
    return Prepared(keys, slot: slot, unlockKey: unlockKey)
  }

  private func makeKeys(
    for unlockKey: borrowing DeviceUnlockKey
  ) -> (device: ThisDevice, file: DeviceFile) {
    let signingSeed = SecretBytes(randomCount: 32)
    let agreementPrivate = SecretBytes(randomCount: 32)
    let device = ThisDevice(
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate)
    let sealed = unlockKey.sealingKey(binding: copy.binding).sealDeviceKeys(
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate, device: device.id)
    let file = DeviceFile(
      vault: copy.id, person: person, device: device.id, deviceKeys: sealed)
    return (device, file)
  }

  /// Writes the wrap of the generation's master key, then the certificate by which the person vouches for the device.
  ///
  /// - Parameters:
  ///   - generation: The person's open one, whose master key this is.
  ///   - approval: Who approves, and how they show that they know the eight words; nil: the 24 words do.
  ///   - sign: Signs for who approves.
  /// - Returns: The certificate's id.
  @discardableResult
  func certify(
    _ device: PublicDevice, master: borrowing MasterKey, generation: StatementID,
    approval: Approval?, sign: ([UInt8]) -> [UInt8]
  ) throws(VaultError) -> StatementID {
    guard let signingKey = VerifyingKey(device.signingPublicKey) else {
      preconditionFailure("a public key has 32 bytes")
    }
    let certificate = Certificate(
      person: person, generation: generation, signingKey: signingKey,
      agreementKey: device.agreementPublicKey, consent: device.consent,
      approver: approval?.approver, time: copy.clock.milliseconds(),
      approval: approval?.shown?.encoded() ?? [])
    let body = certificate.encoded()
    let id = copy.id.statementID(.certificate, body: body)
    try files.storeWrap(
      of: master, generation: generation, person: person, for: certificate, in: copy.store)
    try files.store(
      files.statement(.certificate, body, sign: sign), at: .certificate(person, id), in: copy.store)
    return id
  }

  /// How a device approves another one.
  struct Approval {
    /// The approving device's certificate.
    let approver: StatementID
    /// What shows the new machine that its approver knows the words that it was shown.
    var shown: Sealed?
  }

  /// Writes the device's own register, with its sealed profile.
  ///
  /// - Parameters:
  ///   - profile: What the device says of itself and its person, as of now.
  ///   - others: The person, whose other devices say what they are called.
  func writeRegister(
    of device: ThisDevice, saying profile: DeviceProfile, keys: PersonKeys,
    beside others: Person? = nil
  ) throws(VaultError) {
    try copy.state.withCommitLock { () throws(VaultError) in
      try storeRegister(of: device, saying: profile, keys: keys, beside: others)
    }
  }

  /// Writes the device's own register, for a caller who holds the commit lock.
  func storeRegister(
    of device: ThisDevice, saying profile: DeviceProfile, keys: PersonKeys,
    beside others: Person? = nil
  ) throws(VaultError) {
    var profile = profile
    profile.created = copy.clock.milliseconds()
    profile.profile.time = HybridTime(milliseconds: profile.created, counter: 0)
    // Whom they know stands in the registers of the others, as long as these are not removed. So does their name, which this one
    // says for the case that no other is left: a machine in wrong hands may have said it.
    if let known = try personName(of: others, keys) {
      (profile.profile.time, profile.profile.name) = (.zero, known)
    }
    let path = VaultPath.device(person, device.id)
    let counter: UInt64 = 1
    let sealed = files.seal(
      profile.encoded(), with: keys.profileKey, .deviceRegister, path, counter: counter)
    let body = DeviceBody(
      person: person, device: device.id, counter: counter, previous: nil,
      generation: keys.generation,
      sealed: sealed)
    let bytes = files.sign(body.encoded(), .deviceRegister, path, with: device)
    try files.store(bytes, at: path, in: copy.store)
    try copy.state.updateWatermarks(durably: true) {
      $0.raise(path, counter: counter, hash: Digest.sha256(bytes))
    }
  }
}

extension DeviceProfile {
  /// What a new device says, and whom its person knows by then.
  init(_ new: NewDevice, knowing acquaintances: [Acquaintance] = []) {
    self.init(
      deviceName: new.deviceName, deviceKind: new.deviceKind,
      profile: PersonalProfile(name: new.personName, time: .zero, people: acquaintances),
      created: 0)
  }
}

extension DeviceEnrolment {
  /// What the person is called, as their devices that count say; nil when there is none that can be read.
  private func personName(
    of person: Person?, _ keys: PersonKeys
  ) throws(VaultError) -> String? {
    var newest: (HybridTime, String)?
    for (device, certified) in person?.devices ?? [:] {
      do {
        let said = try files.loadRegister(
          of: device, person: self.person,
          signingPublicKey: certified.certificate.signingKey.bytes, keys: keys
        ).profile.profile
        // Whoever has one of the devices can have it say as much as its register holds.
        let name = String(decoding: said.name.utf8.prefix(Limits.nameBytes), as: UTF8.self)
        if let known = newest, (said.time, name) <= known { continue }
        newest = (said.time, name)
      } catch {
        // A broken register hides what that device says, no more.
        guard error.isDamage else { throw error }
      }
    }
    return newest?.1
  }
}

/// What is known to everyone of a device's keys, and that it agrees to be one of a person's.
struct PublicDevice: Sendable {
  let id: DeviceID
  let signingPublicKey: [UInt8]
  let agreementPublicKey: [UInt8]
  /// The device's signature: "I am a device of this person."
  let consent: [UInt8]

  init(_ device: ThisDevice, of person: PersonID, binding: Binding) {
    id = device.id
    signingPublicKey = device.signingKey.publicKey
    agreementPublicKey = device.agreementKey.publicKey
    consent = device.signingKey.sign(
      binding.vault.signedMessage(.device, person.bytes + device.id.bytes))
  }

  init(_ request: DeviceRequestBody) {
    id = request.device
    signingPublicKey = request.signingPublicKey
    agreementPublicKey = request.agreementPublicKey
    consent = request.consent
  }
}
