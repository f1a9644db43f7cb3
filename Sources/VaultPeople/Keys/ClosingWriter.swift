import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// Closes what is open of a person's keys, with their words, and opens a new generation. Docs/Format.md, "Changing keys".
///
/// The closing follows all that count and that none follows, so it joins what two machines have closed beside each other.
package struct ClosingWriter {
  private let files: SignedFiles
  private let folder: any LocalStore
  private let clock: WallClock
  private let person: Person
  private let device: ThisDevice?
  private let memory: PeopleMemory

  /// - Parameters:
  ///   - folder: The vault's, into which wraps are written.
  ///   - device: What opens the wraps of the generations that end; nil where only the words do.
  package init(
    _ files: SignedFiles, in folder: any LocalStore, clock: WallClock, person: Person,
    device: ThisDevice?, memory: PeopleMemory
  ) {
    (self.files, self.folder, self.clock) = (files, folder, clock)
    (self.person, self.device, self.memory) = (person, device, memory)
  }

  /// What a closing says besides who signs it.
  package struct Content {
    /// Devices that are left out.
    var removing: Set<DeviceID>
    /// Those of them for which no closing has room that lets them stay.
    var withoutRoom: Set<DeviceID>
    /// Statements of those devices that go on counting: first what devices without room have signed.
    package var counted: [StatementID]
    /// The lists of what those devices had signed in records, in the same order.
    package var authored: [ContentDigest]
    /// Leavings of the person that they take back: as many as there is room for. Each part has them.
    package var retracted: [StatementID]

    package init(
      removing: Set<DeviceID> = [], withoutRoom: Set<DeviceID> = [], counted: [StatementID] = [],
      authored: [ContentDigest] = [], retracted: [StatementID] = []
    ) {
      (self.removing, self.withoutRoom) = (removing, withoutRoom)
      (self.counted, self.authored, self.retracted) = (counted, authored, retracted)
    }

    /// As many closings, one after the other, as it takes to list everything: whoever has a device's key signs without end, and
    /// what one closing lists counts for good. The last one leaves the devices out, so that nothing falls where they are cut short
    /// but what devices without room have signed and the first one, with which these go, does not list.
    package func parts(countedLimit: Int = ClosingWriter.countedLimit) -> [Content] {
      let listLimit = Limits.headLists
      let count = max(
        1, (counted.count + countedLimit - 1) / countedLimit,
        (authored.count + listLimit - 1) / listLimit)
      return (1...count).map { number in
        let before = number - 1
        return Content(
          removing: number == count ? removing : withoutRoom,
          counted: Array(counted.dropFirst(before * countedLimit).prefix(countedLimit)),
          authored: Array(authored.dropFirst(before * listLimit).prefix(listLimit)),
          retracted: retracted)
      }
    }
  }

  /// Writes the wraps for the devices that stay, then the closing, from where on it counts. Durable when it returns.
  ///
  /// - Parameters:
  ///   - words: Those that sign, and open the generation that begins.
  ///   - old: The words that these take over from: the person's last ones, where new ones replace them. The same if there
  ///     are none.
  ///   - commit: Puts the file in place, unless another process has closed meanwhile.
  /// - Throws: `wrongWords` when they do not open what they are to; `limit`.
  package func run(
    _ content: Content, signedWith words: borrowing RecoveryWords,
    endorsedBy old: borrowing RecoveryWords,
    commit: (VaultPath, [UInt8]) throws(VaultError) -> Void
  ) throws(VaultError) -> StatementID {
    let binding = files.binding
    let oldKey = old.rootSigningKey(binding: binding)
    let key = words.rootSigningKey(binding: binding)
    guard let rootKey = VerifyingKey(key.publicKey), let oldRootKey = VerifyingKey(oldKey.publicKey)
    else { preconditionFailure("a public key has 32 bytes") }
    let tips = person.history.tips
    let master = MasterKey.random()
    var closing = Closing(
      person: person.id, follows: tips, rootKey: rootKey,
      agreementKey: master.agreementKey(binding: binding).publicKey,
      recovery: try RecoverySlot(of: master, words: words, cost: try cost(), binding: binding)
        .encoded(),
      stay: staying(without: content.removing).map(\.id), counted: content.counted,
      authored: content.authored, retracted: Array(content.retracted.prefix(Self.listLimit)),
      past: try past(under: master, words: words, rootKey, old: old),
      time: clock.milliseconds())
    if rootKey != oldRootKey {
      closing.endorsements = [endorsement(of: rootKey, by: oldKey, oldRootKey)]
    }
    try requireLimits(of: closing)
    let body = closing.encoded()
    let id = binding.vault.statementID(.closing, body: body)
    // One whose key is none could not open anything; whoever approved it is not to keep the person from new keys by it.
    for device in stayingDevices(without: content.removing)
    where AgreementKey.isPublicKey(device.certificate.agreementKey) {
      try files.storeWrap(
        of: master, generation: id, person: person.id, for: device.certificate, in: folder)
    }
    try commit(.closing(person.id, id), files.statement(.closing, body) { key.sign($0) })
    return id
  }

  private func endorsement(
    of rootKey: VerifyingKey, by oldKey: borrowing SigningKey, _ oldRootKey: VerifyingKey
  ) -> Closing.Endorsement {
    let body = Closing.endorsementBody(person: person.id, from: oldRootKey, to: rootKey)
    return Closing.Endorsement(
      rootKey: oldRootKey,
      signature: oldKey.sign(files.binding.vault.signedMessage(.successor, body)))
  }

  static let listLimit = 1_024
  static let countedLimit = 16_384

  /// Nobody could read one that lists more. `Content.parts` and `Person.requireRoom` see to it that none does.
  private func requireLimits(of closing: Closing) throws(VaultError) {
    let lists = [
      (closing.stay.count, Self.listLimit), (closing.counted.count, Self.countedLimit),
      (closing.authored.count, Limits.headLists),
    ]
    for (found, limit) in lists where found > limit {
      throw .limit(what: "what a change of keys lists", found: found, limit: limit)
    }
  }

  /// The certificates of the devices that stay: all that count, and those that wait for this closing. What a device signed is
  /// judged by the certificate that it named then; so none of its certificates falls because it has another one.
  ///
  /// Whoever has a device's key can certify the others any number of times: what there is no room for is of those whom a device
  /// that goes has certified once more.
  private func staying(without removed: Set<DeviceID>) -> [CertifiedDevice] {
    let devices = stayingDevices(without: removed)
    let first = Set(devices.map(\.id))
    let departing = Set(removed.flatMap { person.certificates[$0] ?? [] }.map(\.id))
    func isGivenByDeparting(_ certified: CertifiedDevice) -> Bool {
      certified.certificate.approver.map(departing.contains) ?? false
    }
    let others = person.certificates.filter { !removed.contains($0.key) }.values.joined()
      .filter { !first.contains($0.id) && person.mayStay($0) }
      .sorted { $0.id < $1.id }
    let ranked = others.filter { !isGivenByDeparting($0) } + others.filter(isGivenByDeparting)
    return devices + ranked.prefix(max(0, Self.listLimit - devices.count))
  }

  /// The devices that stay, each with one certificate.
  private func stayingDevices(without removed: Set<DeviceID>) -> [CertifiedDevice] {
    (Array(person.devices.values) + person.waiting.values.filter(person.mayStay))
      .filter { !removed.contains($0.certificate.device) }
  }

  private func cost() throws(VaultError) -> Argon2Cost {
    guard let tip = person.history.tips.first else {
      throw .missing(path: BlobPath("people/\(person.id.hex)/closings").string)
    }
    let slot = try person.recoverySlot(of: tip)
    return Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
  }

  /// The master keys of the generations that end, under the new one.
  private func past(
    under master: borrowing MasterKey, words: borrowing RecoveryWords, _ rootKey: VerifyingKey,
    old: borrowing RecoveryWords
  ) throws(VaultError) -> [[UInt8]] {
    var past: [[UInt8]] = []
    for tip in person.history.tips {
      let ending =
        person.history.valid[tip]?.rootKey == rootKey
        ? try openMaster(tip, words: words) : try openMaster(tip, words: old)
      past.append(master.wrapPrevious(ending, binding: files.binding))
    }
    return past
  }

  private func openMaster(
    _ tip: StatementID, words: borrowing RecoveryWords
  ) throws(VaultError) -> MasterKey {
    if let device {
      do { return try files.openMaster(tip, of: person, device: device, memory) } catch {
        // Closed on a machine that does not know this device: the words open it as well.
        guard error.isDamage else { throw error }
      }
    }
    return try person.openRecoverySlot(of: tip, words: words, binding: files.binding)
  }
}

extension SignedFiles {
  /// The file of a statement with this body. Docs/Format.md, "Statements".
  package func statement(
    _ label: SignedLabel, _ body: [UInt8], sign: ([UInt8]) -> [UInt8]
  ) -> [UInt8] {
    SignedFile(body: body, signature: sign(binding.vault.signedMessage(label, body))).encoded()
  }

  /// Writes a generation's master key for a device; on disk when this returns.
  package func storeWrap(
    of master: borrowing MasterKey, generation: StatementID, person: PersonID,
    for certificate: Certificate, in folder: any LocalStore
  ) throws(VaultError) {
    let device = certificate.device
    let wrap: [UInt8]
    do {
      wrap = try master.wrap(
        for: DeviceWrapContext(person: person, generation: generation, device: device),
        agreementPublicKey: certificate.agreementKey, binding: binding)
    } catch {
      throw .crypto(error)
    }
    try store(wrap, at: .wrap(person, generation, device), in: folder)
  }
}
