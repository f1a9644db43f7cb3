import BlobStore
import VaultCrypto
import VaultModel

/// Makes this machine a device of a person: its slot here, its certificate and register in the vault.
struct DeviceEnrolment {
  let vault: VaultID
  let store: any LocalStore
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
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate)
    let unlockKey = DeviceUnlockKey.random()
    let sealed = unlockKey.sealingKey(binding: files.binding).sealDeviceKeys(
      signingSeed: signingSeed, agreementPrivateKey: agreementPrivate, device: device.id)
    let slot = try PasswordSlots.make(
      vault: vault, person: person, device: device.id, deviceKeys: sealed, unlockKey: unlockKey,
      password: password, cost: new.passwordCost, binding: files.binding)
    try state.storeSlot(slot)
    return Prepared(device: device, unlockKey: unlockKey)
  }

  /// Writes the certificate by which the person vouches for the device.
  ///
  /// - Parameter approvalKey: Of the words that the device was approved by.
  func certify(
    _ device: PublicDevice, master: borrowing MasterKey, identityKey: borrowing SigningKey,
    approvedWith approvalKey: SealingKey? = nil
  ) throws(VaultError) {
    let path = VaultPath.certificate(person, generation: generation, device.id)
    let wrapped: WrappedMasterKey
    do throws(CryptoError) {
      wrapped = try master.wrap(
        for: DeviceWrapContext(person: person, generation: generation, device: device.id),
        agreementPublicKey: device.agreementPublicKey, binding: files.binding)
    } catch {
      throw .crypto(error)
    }
    let body = DeviceCertificateBody(
      person: person, generation: generation, device: device.id,
      signingPublicKey: device.signingPublicKey, agreementPublicKey: device.agreementPublicKey,
      ephemeralPublicKey: wrapped.ephemeralPublicKey, wrappedMasterKey: wrapped.wrapped,
      time: clock.milliseconds(),
      approval: approvalKey.map { files.seal([], with: $0, .certificate, path, counter: 0) })
    try files.store(
      files.sign(body.encoded(), .certificate, path, with: identityKey), at: path, in: store)
  }

  /// Writes the device's own register, with its sealed name.
  func writeRegister(
    _ device: ThisDevice, _ new: NewDevice, keys: PersonKeys,
    knowing acquaintances: [Acquaintance] = []
  ) throws(VaultError) {
    try state.withCommitLock { () throws(VaultError) in
      try storeRegister(device, new, keys: keys, knowing: acquaintances)
    }
  }

  /// The same for who holds the commit lock.
  func storeRegister(
    _ device: ThisDevice, _ new: NewDevice, keys: PersonKeys,
    knowing acquaintances: [Acquaintance] = []
  ) throws(VaultError) {
    let time = clock.milliseconds()
    // What the person said on another device stays.
    let known = try personalProfile(keys)
    let profile = DeviceProfile(
      deviceName: new.deviceName, deviceKind: new.deviceKind,
      profile: known
        ?? PersonalProfile(
          name: new.personName, time: HybridTime(milliseconds: time, counter: 0),
          people: acquaintances),
      created: time)
    let path = VaultPath.device(person, device.id)
    let counter: UInt64 = 1
    let sealed = files.seal(
      profile.encoded(), with: keys.profileKey, .device, path, counter: counter)
    let body = DeviceBody(
      person: person, device: device.id, counter: counter, previous: nil, generation: generation,
      sealed: sealed)
    let bytes = files.sign(body.encoded(), .device, path, with: device)
    try files.store(bytes, at: path, in: store)
    try state.updateWatermarks(durably: true) {
      $0.raise(path, counter: counter, hash: Digest.sha256(bytes))
    }
  }
}

extension DeviceEnrolment {
  /// What the person's devices know together; nil when there is none that can be read.
  private func personalProfile(_ keys: PersonKeys) throws(VaultError) -> PersonalProfile? {
    let folder = BlobPath("people/\(person.hex)/devices")
    let entries = try storing { () throws(BlobStoreError) in try store.list(folder) }
    var joined: PersonalProfile?
    for entry in entries {
      guard let other = DeviceID(hex: entry.name) else { continue }
      let path = VaultPath.device(person, other)
      do throws(VaultError) {
        let body = try files.load(path).decode(DeviceBody.init(decoding:))
        guard let key = keys.profileKey(generation: body.generation) else { continue }
        // Sealed with a key that only this person has, so it is theirs whoever signed the file.
        let plain = try files.open(body.sealed, with: key, .device, path, counter: body.counter)
        do {
          let profile = try DeviceProfile(decoding: plain).profile
          var both = joined ?? profile
          both.join(profile)
          joined = both
        } catch {
          continue
        }
      } catch {
        // A broken register hides what that device says, no more.
        continue
      }
    }
    return joined
  }
}

/// What is known to everyone of a device's keys.
struct PublicDevice: Sendable {
  let id: DeviceID
  let signingPublicKey: [UInt8]
  let agreementPublicKey: [UInt8]

  init(_ device: ThisDevice) {
    id = device.id
    signingPublicKey = device.signingKey.publicKey
    agreementPublicKey = device.agreementKey.publicKey
  }

  init(_ request: DeviceRequestBody) {
    id = request.device
    signingPublicKey = request.signingPublicKey
    agreementPublicKey = request.agreementPublicKey
  }

  init(_ certificate: DeviceCertificateBody) {
    id = certificate.device
    signingPublicKey = certificate.signingPublicKey
    agreementPublicKey = certificate.agreementPublicKey
  }
}

extension ThisDevice {
  /// The device that these private keys make.
  convenience init(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes
  ) {
    let signing = SigningKey(seed: signingSeed.copy())
    let agreement = AgreementKey(privateKey: agreementPrivateKey.copy())
    let id = DeviceID(
      signingPublicKey: signing.publicKey, agreementPublicKey: agreement.publicKey)
    self.init(id: id, signingKey: signing, agreementKey: agreement)
  }
}

extension SealingKey {
  /// The device's private keys, sealed for this machine's slot.
  func sealDeviceKeys(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes,
    device: DeviceID
  ) -> Sealed {
    var plain = [UInt8](repeating: 0, count: DeviceKeys.encodedByteCount)
    defer { wipe(&plain) }
    plain.withUnsafeMutableBytes { output in
      signingSeed.withUnsafeBytes { seed in
        agreementPrivateKey.withUnsafeBytes { key in
          DeviceKeys.encode(signingSeed: seed, agreementPrivateKey: key, into: output)
        }
      }
    }
    return Sealed(seal(plain, label: .slot, path: "slot/\(device.hex)", counter: 0))
  }

  /// The device whose private keys the slot seals.
  ///
  /// - Throws: `damagedSlot`, with `path` as the slot's, when they do not open or are another device's.
  func openDeviceKeys(
    of slot: PasswordSlot, path: String
  ) throws(VaultError) -> ThisDevice {
    try openDeviceKeys(slot.deviceKeys, of: slot.device, path: path)
  }

  /// The same of keys that wait to come into the slot.
  func openDeviceKeys(
    _ keys: Sealed, of expected: DeviceID, path: String
  ) throws(VaultError) -> ThisDevice {
    let failure = VaultError.damagedSlot(path: path, reason: "its device keys do not open")
    var plain: [UInt8]
    do {
      plain = try open(
        SealedValue(keys), label: .slot, path: "slot/\(expected.hex)", counter: 0)
    } catch {
      throw failure
    }
    defer { wipe(&plain) }
    let device = try plain.withBytes { (bytes) throws(VaultError) -> ThisDevice in
      do {
        let keys = try DeviceKeys.decode(bytes)
        return ThisDevice(
          signingSeed: SecretBytes(copying: keys.signingSeed),
          agreementPrivateKey: SecretBytes(copying: keys.agreementPrivateKey))
      } catch {
        throw failure
      }
    }
    guard device.id == expected else {
      throw .damagedSlot(path: path, reason: "its device keys are another's")
    }
    return device
  }
}
