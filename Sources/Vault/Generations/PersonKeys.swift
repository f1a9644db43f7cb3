import VaultCrypto
import VaultModel

/// What this person's master keys give, of the current generation and of all before it.
struct PersonKeys: Sendable {
  /// The current one.
  let generation: UInt32
  /// What gives and takes keys of members, and signs.
  private(set) var identities = IdentityKeys()
  private var profileKeys: [UInt32: SealingKey] = [:]
  private var auditKeys: [UInt32: SealingKey] = [:]
  /// Seals what this person's devices say of themselves.
  let profileKey: SealingKey
  /// Seals the audit log.
  let auditKey: SealingKey

  /// The keys of the master key of a generation, the identity's own if none is named. A generation before it whose
  /// master key can not be had ends the chain.
  init(
    master: borrowing MasterKey, identity: IdentityBody, generation: UInt32? = nil,
    binding: Binding
  ) {
    let generation = generation ?? identity.generation
    self.generation = generation
    profileKey = master.profileKey(binding: binding)
    auditKey = master.auditKey(binding: binding)
    let past = identity.past.filter { $0.generation < generation }
      .sorted { $0.generation > $1.generation }
    add(master, generation: generation, before: past[...], binding)
  }

  private mutating func add(
    _ master: borrowing MasterKey, generation: UInt32, before past: ArraySlice<PastGeneration>,
    _ binding: Binding
  ) {
    identities.add(master, generation: generation, binding: binding)
    profileKeys[generation] = master.profileKey(binding: binding)
    auditKeys[generation] = master.auditKey(binding: binding)
    guard let previous = past.first else { return }
    do {
      let older = try master.unwrapPrevious(previous.wrappedMasterKey, binding: binding)
      add(older, generation: previous.generation, before: past.dropFirst(), binding)
    } catch {
      // What only that generation opens stays closed, and is named where it is met.
      return
    }
  }

  /// What a device register of the generation is sealed with; nil for one that this person never had.
  func profileKey(generation: UInt32) -> SealingKey? { profileKeys[generation] }

  /// What an audit segment of the generation is sealed with; nil for one that this person never had.
  func auditKey(generation: UInt32) -> SealingKey? { auditKeys[generation] }

  /// The keys of the newest generation whose certificate of this device is here: that of the current one may still be
  /// on its way.
  ///
  /// - Throws: `thisDeviceRemoved`; `missing`, `damaged` when there is no certificate that holds.
  static func open(
    _ person: Person, device: ThisDevice, files: SignedFiles
  ) throws(VaultError) -> PersonKeys {
    if let removal = person.removal(of: device.id) { throw .thisDeviceRemoved(time: removal.time) }
    guard let certificate = person.certificates[device.id] else {
      // Says what is wrong with it.
      _ = try People.loadCertificate(device.id, identity: person.identity, files: files)
      throw .noDeviceHere(vault: files.binding.vault)
    }
    return PersonKeys(
      master: try openMaster(certificate, device: device, files: files),
      identity: person.identity, generation: certificate.generation, binding: files.binding)
  }

  /// The master key of the person's current generation.
  ///
  /// - Throws: `missing` when this device's certificate of that generation is still on its way; `damaged`.
  static func openCurrentMaster(
    of person: Person, device: ThisDevice, files: SignedFiles
  ) throws(VaultError) -> MasterKey {
    let generation = person.identity.generation
    guard let certificate = person.certificates[device.id], certificate.generation == generation
    else {
      let path = VaultPath.certificate(
        person.identity.person, generation: generation, device.id)
      throw .missing(path: path.string)
    }
    return try openMaster(certificate, device: device, files: files)
  }

  /// The master key that a certificate of this device wraps.
  ///
  /// - Throws: `damaged`.
  static func openMaster(
    _ certificate: DeviceCertificateBody, device: ThisDevice, files: SignedFiles
  ) throws(VaultError) -> MasterKey {
    do {
      return try MasterKey.unwrap(
        WrappedMasterKey(
          ephemeralPublicKey: certificate.ephemeralPublicKey,
          wrapped: certificate.wrappedMasterKey),
        for: DeviceWrapContext(
          person: certificate.person, generation: certificate.generation, device: device.id),
        agreementKey: device.agreementKey, binding: files.binding)
    } catch {
      let path = VaultPath.certificate(
        certificate.person, generation: certificate.generation, device.id)
      throw VaultError(error, path: path.string)
    }
  }
}
