import BlobStore
import VaultCrypto
import VaultModel

/// Makes this machine a device of a person: its slot here, its certificate and register in the vault.
struct DeviceEnrolment {
  let vault: VaultID
  let store: any BlobStore
  let files: SignedFiles
  let state: StateFolder
  let person: PersonID
  let generation: UInt32
  let clock: WallClock

  /// New device keys, and the key that unlocks them.
  struct Prepared: ~Copyable {
    let device: ThisDevice
    private let unlockKey: DeviceUnlockKey

    init(device: ThisDevice, unlockKey: consuming DeviceUnlockKey) {
      self.device = device
      self.unlockKey = unlockKey
    }

    consuming func takeUnlockKey() -> DeviceUnlockKey { unlockKey }
  }

  /// Makes device keys and writes this machine's slot for them.
  func prepare(
    _ new: NewDevice, password: borrowing SecretBytes
  ) throws(VaultError) -> Prepared {
    let signingSeed = SecretBytes(randomCount: 32)
    let agreementPrivate = SecretBytes(randomCount: 32)
    let device = ThisDevice(
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate, generation: generation)
    let unlockKey = DeviceUnlockKey.random()
    let sealed = unlockKey.sealingKey(files.binding).sealDeviceKeys(
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate, device: device.id,
      binding: files.binding)
    let slot = try PasswordSlots.make(
      vault: vault, person: person, device: device.id, deviceKeys: sealed, unlockKey: unlockKey,
      password: password, cost: new.passwordCost, binding: files.binding)
    try state.storeSlot(slot)
    return Prepared(device: device, unlockKey: unlockKey)
  }

  /// Writes the certificate by which the person vouches for the device.
  func certify(
    _ device: ThisDevice, master: borrowing MasterKey, identityKey: borrowing SigningKey
  ) throws(VaultError) {
    let wrapped: (ephemeralPublicKey: [UInt8], wrappedKey: [UInt8])
    do {
      wrapped = try master.wrap(
        forDevice: device.agreementKey.publicKey, person: person, generation: generation,
        device: device.id, binding: files.binding)
    } catch {
      throw .crypto(error)
    }
    let body = DeviceCertificateBody(
      person: person, generation: generation, device: device.id,
      signingPublicKey: device.signingKey.publicKey,
      agreementPublicKey: device.agreementKey.publicKey,
      ephemeralPublicKey: wrapped.ephemeralPublicKey, wrappedMasterKey: wrapped.wrappedKey,
      time: clock.milliseconds())
    let path = VaultPath.certificate(person, generation, device.id)
    try files.store(files.sign(body.encoded(), .certificate, path, with: identityKey), at: path)
  }

  /// Writes the device's own register, with its sealed name.
  func writeRegister(
    _ device: ThisDevice, _ new: NewDevice, master: borrowing MasterKey
  ) throws(VaultError) {
    let time = clock.milliseconds()
    let profile = DeviceProfile(
      deviceName: new.deviceName, deviceKind: new.deviceKind,
      profile: PersonalProfile(name: new.personName, time: HybridTime(milliseconds: time, counter: 0)),
      created: time)
    let path = VaultPath.device(person, device.id)
    let counter: UInt64 = 1
    let sealed = files.seal(
      profile.encoded(), with: master.profileKey(files.binding), .device, path, counter: counter)
    let body = DeviceBody(
      person: person, device: device.id, counter: counter, previous: nil, generation: generation,
      sealed: sealed)
    let bytes = files.sign(body.encoded(), .device, path, with: device)
    try files.store(bytes, at: path)
    try state.withCommitLock { () throws(VaultError) in
      try state.updateWatermarks {
        $0.raise(path.string, counter: counter, hash: Digest.sha256(bytes))
      }
    }
  }
}

extension ThisDevice {
  /// The device that these private keys make.
  convenience init(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes,
    generation: UInt32
  ) {
    let signing = SigningKey(seed: signingSeed.copy())
    let agreement = AgreementKey(privateKey: agreementPrivateKey.copy())
    let id = DeviceID(
      signingPublicKey: signing.publicKey, agreementPublicKey: agreement.publicKey)
    self.init(id: id, generation: generation, signingKey: signing, agreementKey: agreement)
  }
}

extension SealingKey {
  private static let label = "device-keys"
  private static let path = "slot"

  /// The device's private keys, sealed for this machine's slot.
  func sealDeviceKeys(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes,
    device: DeviceID, binding: Binding
  ) -> Sealed {
    var plain = signingSeed.withUnsafeBytes { Array($0) }
    plain += agreementPrivateKey.withUnsafeBytes { Array($0) }
    defer { wipe(&plain) }
    return seal(
      plain, label: Self.label, path: Self.path + "/" + device.hex, counter: 0, binding: binding)
  }

  /// The device whose private keys the slot seals.
  func openDeviceKeys(
    _ sealed: Sealed, device: DeviceID, generation: UInt32, binding: Binding
  ) throws(CryptoError) -> ThisDevice {
    var plain = try open(
      sealed, label: Self.label, path: Self.path + "/" + device.hex, counter: 0, binding: binding)
    defer { wipe(&plain) }
    guard plain.count == 64 else { throw .authenticationFailed }
    let seed = SecretBytes(copying: Array(plain[0..<32]))
    let agreement = SecretBytes(copying: Array(plain[32..<64]))
    return ThisDevice(
      signingSeed: seed, agreementPrivateKey: agreement, generation: generation)
  }
}
