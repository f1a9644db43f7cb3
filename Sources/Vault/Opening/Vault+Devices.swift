import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A device of the vault's people that counts.
package struct KnownDevice: Sendable {
  package var id: DeviceID
  package var person: PersonID
  /// What it calls itself; nil when that is sealed for someone else, or its register is missing.
  package var profile: DeviceProfile?
  /// When it last wrote anything, by its own clock, in milliseconds since 1970; nil if it never did.
  package var lastWrite: UInt64?
  /// True for the device that asks.
  package var isThisOne: Bool
}

extension Vault {
  /// Every certified device, this one first, then by name.
  ///
  /// - Throws: What reading the vault folder throws. A device whose register is broken has no profile.
  package func devices() throws(VaultError) -> [KnownDevice] {
    try context.reloadPeople()
    var writes = lastWrites()
    let silent = context.people.persons.values.flatMap(\.devices.keys).filter { writes[$0] == nil }
    if !silent.isEmpty { writes.merge(lastRecords(of: Set(silent))) { known, _ in known } }
    var devices: [KnownDevice] = []
    for (person, known) in context.people.persons {
      for (device, certified) in known.devices {
        devices.append(
          KnownDevice(
            id: device, person: person,
            profile: person == self.person ? profile(of: device, certified) : nil,
            lastWrite: writes[device]?.milliseconds, isThisOne: device == self.device))
      }
    }
    return devices.sorted { left, right in
      if left.isThisOne != right.isThisOne { return left.isThisOne }
      let names = (left.profile?.deviceName ?? "", right.profile?.deviceName ?? "")
      return names.0 == names.1 ? left.id < right.id : names.0 < names.1
    }
  }

  /// What a device of this person calls itself, removed ones too, for messages: its name, else the first digits of its
  /// id.
  package func name(of device: DeviceID) -> String {
    guard let certified = context.people[person]?.anyCertificate(of: device),
      let name = profile(of: device, certified)?.deviceName, !name.isEmpty
    else { return device.shortHex }
    return name
  }

  /// Whose device it is, a removed one too; nil where nobody here says so, or several do.
  package func owner(of device: DeviceID) -> PersonID? {
    let owners = context.people.persons.filter { $0.value.anyCertificate(of: device) != nil }
    return owners.count == 1 ? owners.first?.key : nil
  }

  /// How far the writes of other devices are ahead of this machine's clock, where that is more than ten minutes:
  /// one of the two clocks is wrong. In milliseconds.
  ///
  /// This device's own writes are never earlier than what it has seen of others, so they say nothing of its clock.
  package func clocksAhead() -> [DeviceID: UInt64] {
    let now = context.clock.milliseconds()
    return lastWrites().filter { $0.key != device }.compactMapValues { time in
      context.clock.believes(time) ? nil : time.milliseconds - min(now, time.milliseconds)
    }
  }

  private func lastWrites() -> [DeviceID: HybridTime] {
    members.reduce(into: [:]) { latest, member in
      for head in member.heads.withLock({ Array($0.loaded.values) }) {
        latest[head.device] = max(latest[head.device] ?? .zero, head.head.time)
      }
    }
  }

  /// When devices without a head that is followed last wrote one of the records as they are: the machine of such a one has gone
  /// on as another device.
  private func lastRecords(of devices: Set<DeviceID>) -> [DeviceID: HybridTime] {
    members.reduce(into: [:]) { latest, member in
      let entries = member.state.withLock { $0.manifest.entries }
      for entry in entries where devices.contains(entry.device) {
        latest[entry.device] = max(latest[entry.device] ?? .zero, entry.time)
      }
    }
  }

  /// Nil when the register is missing or does not hold; `check` says which.
  func profile(
    of device: DeviceID, _ certified: CertifiedDevice
  ) -> DeviceProfile? {
    do {
      return try context.loadRegister(
        of: device, signingPublicKey: certified.certificate.signingKey.bytes
      ).profile
    } catch {
      return nil
    }
  }

  /// Gives this device another name. Durable when it returns.
  ///
  /// - Throws: `readOnly`; `noSpace`, `io`; `damaged` when the device's register is.
  package func renameDevice(to name: String) throws(VaultError) {
    try changeProfile { $0.deviceName = name }
  }

  /// Gives this device, which has become one of its own, another name where another one of its person has the same.
  ///
  /// - Returns: The new name; nil if it keeps the one that it has.
  /// - Throws: As `renameDevice`.
  package func renameBesideCopy() throws(VaultError) -> String? {
    guard context.nameBesideCopy() != nil else { return nil }
    return try context.whileThisDevice { () throws(VaultError) -> String? in
      guard let name = context.nameBesideCopy() else { return nil }
      try context.changeProfile { $0.deviceName = name }
      // What this process notes from now on is noted under this name.
      if context.parted != nil { context.noteParting(name) }
      return name
    }
  }

  /// Writes this device's register anew as it is, with a counter that none before had, nor most likely the one that a copy of
  /// this machine writes at the same time: two that went on by one each would meet again, for ever. Durable when it returns.
  ///
  /// - Throws: As `renameDevice`.
  package func rewriteRegister() throws(VaultError) {
    let further = UInt64(randomBytes(1).first ?? 0)
    try context.whileThisDevice { () throws(VaultError) in
      try context.changeRegister(logEnd: nil, skipping: further)
    }
  }

  /// Writes this device's register anew. Durable when it returns.
  ///
  /// - Throws: As `renameDevice`.
  func changeProfile(_ change: (inout DeviceProfile) -> Void) throws(VaultError) {
    try context.whileThisDevice { () throws(VaultError) in
      try context.changeProfile(change)
    }
  }
}

extension VaultContext {
  /// Writes this device's register anew. Durable when it returns. The caller holds the commit lock.
  ///
  /// - Throws: As `Vault.renameDevice`.
  func changeProfile(_ change: (inout DeviceProfile) -> Void) throws(VaultError) {
    try changeRegister(logEnd: nil, change)
  }

  /// Writes this device's register anew, with the end of the log as it is now; nil leaves that as it was. Where nothing but
  /// the end of the log is another one, the register says since when that is so.
  ///
  /// - Parameter skipping: So many counters are left out.
  func changeRegister(
    logEnd: LogEnd?, skipping skipped: UInt64 = 0,
    _ change: (inout DeviceProfile) -> Void = { _ in }
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    if let removal { throw removal }
    let (keys, device) = (keys, device)
    let path = VaultPath.device(person, device.id)
    let (old, _) = try signedFiles.loadRegisterBody(
      of: device.id, person: person, signingPublicKey: device.signingKey.publicKey)
    var (profile, counter, hash) = try loadRegister(
      of: device.id, signingPublicKey: device.signingKey.publicKey)
    let marks = try state.loadWatermarks()
    let last = max(counter, marks[path].map { max($0.counter, $0.floor) } ?? 0)
    counter = last + 1 + skipped
    let before = profile.encoded()
    change(&profile)
    try tellNames.withLock { $0 }?(&profile.profile)
    let after = profile.encoded()
    let saysMore = logEnd == nil || after != before || keys.generation != old.generation
    // A first register says nothing of one before it.
    let since = old.unchangedSince == 0 ? old.counter : old.unchangedSince
    let sealed = signedFiles.seal(
      after, with: keys.profileKey, .deviceRegister, path, counter: counter)
    let body = DeviceBody(
      person: person, device: device.id, counter: counter, previous: hash,
      generation: keys.generation, sealed: sealed, logEnd: logEnd ?? old.logEnd,
      unchangedSince: saysMore ? counter : since)
    let bytes = signedFiles.sign(body.encoded(), .deviceRegister, path, with: device)
    // Nobody could read it, this device neither.
    guard bytes.count <= Limits.signedFileBytes else {
      throw .limit(
        what: "bytes of a device's register", found: bytes.count, limit: Limits.signedFileBytes)
    }
    try signedFiles.store(bytes, at: path, in: store)
    try state.updateWatermarks(durably: true) {
      $0.raise(path, counter: counter, hash: Digest.sha256(bytes))
    }
    if after != before { noteAccessChange() }
  }

  /// What a device of this person says of itself.
  ///
  /// - Throws: `missing`, `damaged` of its register.
  func loadRegister(
    of device: DeviceID, signingPublicKey: [UInt8]
  ) throws(VaultError) -> (profile: DeviceProfile, counter: UInt64, hash: FileHash) {
    try signedFiles.loadRegister(
      of: device, person: person, signingPublicKey: signingPublicKey, keys: keys)
  }
}
