import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// This machine, which has asked to become a device of a person and waits to be approved. Until then it keeps nothing.
///
/// The words say of their person two bytes, and may be for somebody else by chance: so it asks each of them, with other
/// keys, since what it says to one of them is nobody else's to use.
package struct PendingDevice: ~Copyable {
  /// Somebody for whom the words may be, and the device that asks to be theirs.
  private struct Candidate {
    let person: PersonID
    let key: SealingKey
    let device: ThisDevice
    /// How this machine keeps the device's keys, once it is the one.
    let file: DeviceFile

    func request(calling new: NewDevice, in copy: VaultCopy) -> (path: VaultPath, bytes: [UInt8]) {
      let path = VaultPath.deviceRequest(person, device.id)
      let said = DeviceRequest(deviceName: new.deviceName, deviceKind: new.deviceKind)
      let body = DeviceRequestBody(
        person: person, device: device.id, signingPublicKey: device.signingKey.publicKey,
        agreementPublicKey: device.agreementKey.publicKey,
        consent: PublicDevice(device, of: person, binding: copy.binding).consent,
        time: copy.clock.milliseconds(),
        sealed: copy.files.seal(said.encoded(), with: key, .request, path, counter: 0))
      return (path, copy.files.sign(body.encoded(), .request, path, with: device))
    }
  }

  /// So many people are asked. Some two million would have to be made up until the words may be for as many.
  private static let limit = 64

  private let copy: VaultCopy
  private let new: NewDevice
  private let prepared: DeviceEnrolment.Prepared
  private let candidates: [Candidate]
  /// The requests, for a store that a folder is not carried to by itself.
  package let requests: [(path: VaultPath, bytes: [UInt8])]

  private init(
    _ copy: VaultCopy, _ new: NewDevice, _ prepared: consuming DeviceEnrolment.Prepared,
    _ candidates: [Candidate]
  ) {
    (self.copy, self.new) = (copy, new)
    self.prepared = prepared
    self.candidates = candidates
    requests = candidates.map { $0.request(calling: new, in: copy) }
  }

  /// Makes device keys and what unlocks them, and writes the requests into the folder, which holds the vault's people.
  ///
  /// - Throws: `wrongWords` when they are for nobody of this vault; `alreadyExists` when this machine has a device of the
  ///   vault; `crypto`, `noSpace`, `io`.
  package static func begin(
    _ copy: VaultCopy, words: borrowing ApprovalWords, device new: NewDevice,
    password: borrowing SecretBytes
  ) throws(VaultError) -> PendingDevice {
    let people = try Self.people(for: words, in: copy)
    let keys: [SealingKey]
    do { keys = try words.sealingKeys(for: people, binding: copy.binding) } catch {
      throw .crypto(error)
    }
    let prepared = try DeviceEnrolment(copy: copy, person: people[0])
      .prepareInMemory(new, password: password)
    var candidates: [Candidate] = []
    for (person, key) in zip(people, keys) {
      var (device, file) = (prepared.device, prepared.file)
      if !candidates.isEmpty {
        (device, file) = prepared.keys(for: DeviceEnrolment(copy: copy, person: person))
      }
      candidates.append(Candidate(person: person, key: key, device: device, file: file))
    }
    let pending = PendingDevice(copy, new, prepared, candidates)
    for (path, bytes) in pending.requests {
      try copy.files.store(bytes, at: path, in: copy.store)
    }
    return pending
  }

  /// For whom the words may be.
  ///
  /// - Throws: `wrongWords` when that is nobody of this vault; `alreadyExists` when this machine has a device of it.
  private static func people(
    for words: borrowing ApprovalWords, in copy: VaultCopy
  ) throws(VaultError) -> [PersonID] {
    // One that was never approved is replaced.
    guard try !copy.hasDevice() else { throw .alreadyExists(what: "a device of this machine") }
    let people = try People.load(
      store: copy.store, files: copy.files, memory: copy.state.loadPeopleMemory())
    var found: [PersonID] = []
    for person in people.persons.keys.sorted() where words.mayBe(for: person) {
      if found.count < limit { found.append(person) }
    }
    if found.isEmpty { throw .wrongWords }
    return found
  }

  /// The new device, as the one that approves it shows it; one of several, where several people are asked.
  package var ids: [DeviceID] { candidates.map(\.device.id) }

  /// Looks into the folder whether the device was approved, and if so, makes it one.
  ///
  /// - Returns: False as long as it was not.
  /// - Throws: `damaged` when everyone who was asked has given a certificate, and none of them knows the words.
  package func finish() throws(VaultError) -> Bool {
    let memory = try copy.state.loadPeopleMemory()
    let people = try People.load(store: copy.store, files: copy.files, memory: memory)
    var failures: [VaultError] = []
    for candidate in candidates {
      guard let own = people[candidate.person], own.devices[candidate.device.id] != nil else {
        continue
      }
      do {
        try requireApproval(of: candidate, people)
      } catch {
        failures.append(error)
        continue
      }
      if try become(candidate, own, memory) { return true }
    }
    if failures.count == candidates.count, let failure = failures.first { throw failure }
    return false
  }

  /// - Returns: False while the wrap of the person's keys is not here.
  private func become(
    _ candidate: Candidate, _ own: Person, _ memory: PeopleMemory
  ) throws(VaultError) -> Bool {
    let device = candidate.device
    let keys: PersonKeys
    do {
      keys = try PersonKeys.open(own, device: device, files: copy.files, memory: memory)
    } catch {
      // The wrap may come after the certificate.
      if case .missing = error { return false }
      throw error
    }
    try prepared.settle(as: candidate.file, in: copy)
    try DeviceEnrolment(copy: copy, person: candidate.person).writeRegister(
      of: device, saying: DeviceProfile(new), keys: keys, beside: own)
    return true
  }

  /// - Throws: `damaged` unless whoever gave one of the device's certificates knows the words.
  private func requireApproval(
    of candidate: Candidate, _ people: People
  ) throws(VaultError) {
    let (person, id) = (candidate.person, candidate.device.id)
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
        return try copy.files.openApproval(approval, with: candidate.key, person, id)
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
