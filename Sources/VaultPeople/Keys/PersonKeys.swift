import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// What this person's master keys give, of all generations that could be had.
package struct PersonKeys: Sendable {
  /// The closing that opened the one which is written under: the person's open generation, as far as its key is here.
  package let generation: StatementID
  /// What gives and takes keys of members.
  package private(set) var identities = IdentityKeys()
  private var profileKeys: [StatementID: SealingKey] = [:]
  private var auditKeys: [StatementID: SealingKey] = [:]
  /// The wraps that were opened on the way, for this machine to remember.
  package private(set) var wraps: [VaultPath: [UInt8]] = [:]

  /// Seals what this person's devices say of themselves.
  package var profileKey: SealingKey { key(of: profileKeys) }
  /// Seals the audit log.
  package var auditKey: SealingKey { key(of: auditKeys) }

  /// The keys of one generation, and of those before it that its history opens.
  package init(
    master: borrowing MasterKey, generation: StatementID,
    in closings: [StatementID: Closing], binding: Binding
  ) {
    self.generation = generation
    add(master, generation, closings, binding)
  }

  private init(generation: StatementID) { self.generation = generation }

  private func key(of keys: [StatementID: SealingKey]) -> SealingKey {
    guard let key = keys[generation] else {
      preconditionFailure("keys are made with those of their generation")
    }
    return key
  }

  private mutating func add(
    _ master: borrowing MasterKey, _ generation: StatementID, _ closings: [StatementID: Closing],
    _ binding: Binding
  ) {
    guard let closing = closings[generation], identities[generation] == nil else { return }
    let agreementKey = master.agreementKey(binding: binding)
    // Of another key than the closing's, which nobody could have meant.
    guard agreementKey.publicKey == closing.agreementKey else { return }
    identities.add(agreementKey, generation: generation)
    profileKeys[generation] = master.profileKey(binding: binding)
    auditKeys[generation] = master.auditKey(binding: binding)
    for (followed, wrapped) in zip(closing.follows, closing.past) {
      do {
        let older = try master.unwrapPrevious(wrapped, binding: binding)
        add(older, followed, closings, binding)
      } catch {
        // What only that generation opens stays closed, and is named where it is met.
        continue
      }
    }
  }

  /// What a device register of the generation is sealed with; nil for one that this person never had.
  package func profileKey(generation: StatementID) -> SealingKey? { profileKeys[generation] }

  /// What an audit segment of the generation is sealed with; nil for one that this person never had.
  package func auditKey(generation: StatementID) -> SealingKey? { auditKeys[generation] }

  /// Whether these are all that the person's closings promise: nothing newer is to be looked for.
  package func isCurrent(for person: Person) -> Bool {
    person.history.tips.allSatisfy { identities[$0] != nil }
      && generation == (person.generation ?? person.history.tips.first ?? generation)
  }

  /// The keys of every generation that is wrapped for this device: the wrap of the newest may still be on its way.
  ///
  /// - Throws: `thisDeviceRemoved`; `noDeviceHere` when nobody of the person's has certified it; `missing`, `damaged`
  ///   when there is no wrap that holds.
  package static func open(
    _ person: Person, device: ThisDevice, files: SignedFiles, memory: PeopleMemory
  ) throws(VaultError) -> PersonKeys {
    if let time = person.removal(of: device.id) { throw .thisDeviceRemoved(time: time) }
    guard person.anyCertificate(of: device.id) != nil else {
      throw .noDeviceHere(vault: files.binding.vault)
    }
    let history = person.history
    // The tips first, then what they follow: what a newer generation's history opens needs no wrap.
    var open = history.tips
    var seen = Set(open)
    var keys: PersonKeys?
    var failure: VaultError?
    while !open.isEmpty {
      var next: [StatementID] = []
      for generation in open {
        guard keys?.identities[generation] == nil else { continue }
        do throws(VaultError) {
          let wrap = try files.loadWrap(of: generation, of: person, for: device, memory)
          let master = try wrap.openUnchecked(binding: files.binding)
          var opened = keys ?? PersonKeys(generation: generation)
          opened.add(master, generation, history.valid, files.binding)
          guard opened.identities[generation] != nil else { throw wrap.isAnotherGenerations }
          opened.wraps[wrap.path] = wrap.bytes
          keys = opened
        } catch {
          guard error.isDamage else { throw error }
          failure = failure ?? error
          next += (history.valid[generation]?.follows ?? []).filter { seen.insert($0).inserted }
        }
      }
      open = next
    }
    guard let keys else {
      throw failure ?? .noDeviceHere(vault: files.binding.vault)
    }
    return keys
  }
}

/// The master key of a generation, as it is wrapped for this device.
struct DeviceWrap {
  let generation: StatementID
  let person: Person
  let device: ThisDevice
  let bytes: [UInt8]

  var path: VaultPath { .wrap(person.id, generation, device.id) }

  /// - Throws: `damaged`, also when it is another generation's.
  func open(binding: Binding) throws(VaultError) -> MasterKey {
    let master = try openUnchecked(binding: binding)
    let publicKey = master.agreementKey(binding: binding).publicKey
    guard publicKey == person.history.valid[generation]?.agreementKey else {
      throw isAnotherGenerations
    }
    return master
  }

  /// What is wrapped, whether or not it is the generation's.
  fileprivate func openUnchecked(binding: Binding) throws(VaultError) -> MasterKey {
    do {
      return try MasterKey.unwrap(
        bytes,
        for: DeviceWrapContext(person: person.id, generation: generation, device: device.id),
        agreementKey: device.agreementKey, binding: binding)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  fileprivate var isAnotherGenerations: VaultError {
    .damaged(path: path.string, reason: "it holds other keys of its person than its name says")
  }
}

extension SignedFiles {
  /// The bytes of a wrap, which has no signature: whether it is right shows when it is opened.
  package func loadWrap(_ path: VaultPath, _ memory: PeopleMemory) throws(VaultError) -> [UInt8] {
    if let known = memory.files[path] { return known }
    return try storing(store.read(BlobPath(path.string), limit: DeviceWrapContext.fileLimit))
  }

  fileprivate func loadWrap(
    of generation: StatementID, of person: Person, for device: ThisDevice, _ memory: PeopleMemory
  ) throws(VaultError) -> DeviceWrap {
    let bytes = try loadWrap(.wrap(person.id, generation, device.id), memory)
    return DeviceWrap(generation: generation, person: person, device: device, bytes: bytes)
  }

  /// The master key of a generation, by its wrap for this device.
  ///
  /// - Throws: `missing`; `damaged`, also when the wrap gives another key.
  package func openMaster(
    _ generation: StatementID, of person: Person, device: ThisDevice, _ memory: PeopleMemory
  ) throws(VaultError) -> MasterKey {
    try loadWrap(of: generation, of: person, for: device, memory).open(binding: binding)
  }
}
