import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Makes a person with keys of their own, and this machine their first device.
struct PersonCreation {
  let copy: VaultCopy

  /// What making a person gives.
  struct Made: ~Copyable {
    let person: PersonID
    let device: ThisDevice
    /// Of the device.
    let certificate: StatementID
    /// Unlocks this machine's device.
    let unlockKey: DeviceUnlockKey
  }

  /// Writes the first closing, wrap, certificate and device register, in this order, and this machine's slot before
  /// them: a person must never be there without a way in. Durable when it returns.
  ///
  /// - Parameter acquaintances: Whom the person knows already.
  func run(
    _ new: NewDevice, password: borrowing SecretBytes, words: borrowing RecoveryWords,
    knowing acquaintances: [Acquaintance] = []
  ) throws(VaultError) -> Made {
    let (files, binding) = (copy.files, copy.binding)
    let key = words.rootSigningKey(binding: binding)
    guard let rootKey = VerifyingKey(key.publicKey) else {
      preconditionFailure("a public key has 32 bytes")
    }
    let person = PersonID(rootPublicKey: key.publicKey)
    let master = MasterKey.random()
    let closing = Closing(
      person: person, rootKey: rootKey,
      agreementKey: master.agreementKey(binding: binding).publicKey,
      recovery: try RecoverySlot(
        of: master, words: words, cost: new.recoveryCost, binding: binding
      ).encoded(), time: copy.clock.milliseconds())
    let body = closing.encoded()
    let generation = copy.id.statementID(.closing, body: body)
    let enrolment = DeviceEnrolment(copy: copy, person: person)
    let prepared = try enrolment.prepare(new, password: password)
    try files.store(
      files.statement(.closing, body) { key.sign($0) }, at: .closing(person, generation),
      in: copy.store)
    let certificate = try enrolment.certify(
      PublicDevice(prepared.device, of: person, binding: binding), master: master,
      generation: generation, approval: nil
    ) { key.sign($0) }
    let keys = PersonKeys(
      master: master, generation: generation, in: [generation: closing], binding: binding)
    try enrolment.writeRegister(
      of: prepared.device, saying: DeviceProfile(new, knowing: acquaintances), keys: keys)
    let device = prepared.device
    return Made(
      person: person, device: device, certificate: certificate,
      unlockKey: prepared.takeUnlockKey())
  }
}
