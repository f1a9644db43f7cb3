import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// This machine, which has asked to become a device of a person and waits to be approved.
package struct PendingDevice: ~Copyable {
  private let copy: VaultCopy
  private let person: PersonID
  private let key: SealingKey
  private let new: NewDevice
  private let prepared: DeviceEnrolment.Prepared
  /// The request, for a store that a folder is not carried to by itself.
  package let request: (path: VaultPath, bytes: [UInt8])

  private init(
    _ copy: VaultCopy, _ person: PersonID, _ key: SealingKey, _ new: NewDevice,
    _ prepared: consuming DeviceEnrolment.Prepared, request: (path: VaultPath, bytes: [UInt8])
  ) {
    (self.copy, self.person, self.key, self.new) = (copy, person, key, new)
    self.prepared = prepared
    self.request = request
  }

  /// Makes device keys and a slot for them here, and writes the request into the folder, which holds the vault's people.
  ///
  /// - Throws: `wrongWords` when they are for nobody of this vault; `alreadyExists` when this machine has a device of the
  ///   vault; `crypto`, `noSpace`, `io`.
  package static func begin(
    _ copy: VaultCopy, words: borrowing ApprovalWords, device new: NewDevice,
    password: borrowing SecretBytes
  ) throws(VaultError) -> PendingDevice {
    let person = try owner(of: words, in: copy)
    let key: SealingKey
    do { key = try words.sealingKey(for: person, binding: copy.binding) } catch {
      throw .crypto(error)
    }
    let prepared = try DeviceEnrolment(copy: copy, person: person).prepare(new, password: password)
    let device = prepared.device
    let path = VaultPath.deviceRequest(person, device.id)
    let said = DeviceRequest(deviceName: new.deviceName, deviceKind: new.deviceKind)
    let body = DeviceRequestBody(
      person: person, device: device.id, signingPublicKey: device.signingKey.publicKey,
      agreementPublicKey: device.agreementKey.publicKey,
      consent: PublicDevice(device, of: person, binding: copy.binding).consent,
      time: copy.clock.milliseconds(),
      sealed: copy.files.seal(said.encoded(), with: key, .request, path, counter: 0))
    let bytes = copy.files.sign(body.encoded(), .request, path, with: device)
    try copy.files.store(bytes, at: path, in: copy.store)
    return PendingDevice(copy, person, key, new, prepared, request: (path, bytes))
  }

  /// Whom the words are for.
  ///
  /// - Throws: `wrongWords` when that is nobody of this vault; `alreadyExists` when this machine has a device of it.
  private static func owner(
    of words: borrowing ApprovalWords, in copy: VaultCopy
  ) throws(VaultError) -> PersonID {
    // One that was never approved is replaced.
    guard try !copy.hasDevice() else { throw .alreadyExists(what: "a device of this machine") }
    let people = try People.load(
      store: copy.store, files: copy.files, memory: copy.state.loadPeopleMemory())
    for person in people.persons.keys.sorted() where words.mayBe(for: person) { return person }
    throw .wrongWords
  }

  /// The new device, as the one that approves it shows it.
  package var id: DeviceID { prepared.device.id }

  /// Looks into the folder whether the device was approved, and if so, makes it one.
  ///
  /// - Returns: False as long as it was not.
  /// - Throws: `damaged` when a certificate is there that the one who knows the words has not given.
  package func finish() throws(VaultError) -> Bool {
    let memory = try copy.state.loadPeopleMemory()
    let people = try People.load(store: copy.store, files: copy.files, memory: memory)
    guard let own = people[person], own.devices[id] != nil else { return false }
    try requireApproval(people)
    let device = prepared.device
    let keys: PersonKeys
    do {
      keys = try PersonKeys.open(own, device: device, files: copy.files, memory: memory)
    } catch {
      // The wrap may come after the certificate.
      if case .missing = error { return false }
      throw error
    }
    try DeviceEnrolment(copy: copy, person: person).writeRegister(
      of: device, saying: DeviceProfile(new), keys: keys, beside: own)
    return true
  }

  /// - Throws: `damaged` unless whoever gave one of the device's certificates knows the words.
  private func requireApproval(_ people: People) throws(VaultError) {
    var failure: VaultError?
    for (statement, certificate) in people.trust.statements.certificates
    where certificate.person == person && certificate.device == id {
      guard people.trust.device(statement) == .counts else { continue }
      let path = VaultPath.certificate(person, statement).string
      let approval: Sealed
      do { approval = try Sealed(decoding: certificate.approval) } catch {
        failure = .damaged(path: path, reason: "whoever gave it does not know the eight words")
        continue
      }
      do {
        return try copy.files.openApproval(approval, with: key, person, id)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// What unlocks the device, once it is one.
  package consuming func takeUnlockKey() -> DeviceUnlockKey { prepared.takeUnlockKey() }
}

extension SignedFiles {
  /// What shows a new device that its approver knows the eight words. Docs/Format.md, "Adding a device without the words".
  func sealApproval(with key: SealingKey, _ person: PersonID, _ device: DeviceID) -> Sealed {
    seal([], with: key, .certificate, .deviceRequest(person, device), counter: 0)
  }

  /// - Throws: `damaged` when it was not sealed with this key.
  func openApproval(
    _ approval: Sealed, with key: SealingKey, _ person: PersonID, _ device: DeviceID
  ) throws(VaultError) {
    _ = try open(approval, with: key, .certificate, .deviceRequest(person, device), counter: 0)
  }
}
