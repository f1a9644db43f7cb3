import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// How this machine becomes a device of its own, when another one has written under its key. Docs/Format.md, "Lines".
extension VaultContext {
  /// Goes on as a device of its own, unless another process of this machine has begun so; what this machine wrote of
  /// the member above a counter is to be written anew by it, and its next writer does so.
  ///
  /// Cut short anywhere, this machine is the device that it was, and does it again with the same new keys, or is the
  /// new one and whole. The caller holds the commit lock.
  ///
  /// - Throws: `missing` when the wrap of the open generation has not come yet; `keysDivided` while there is none;
  ///   `noSpace`, `io`.
  func part(
    from device: DeviceID, in member: MemberID, above: UInt64
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    if let removal { throw removal }
    try Parting(from: device, above: above).store(of: member, state: state)
    let old = self.device
    // In another member, it has become one already.
    guard old.id == device else { return }
    try reloadPeople()
    let approver = try ownCertificate()
    let own = try ownPerson()
    guard let generation = own.generation else { throw .keysDivided(person: person) }
    let master = try signedFiles.openMaster(
      generation, of: own, device: old, state.loadPeopleMemory())
    let next = try nextDevice()
    let new = try slotKey.openDeviceKeys(
      next.keys, of: next.device, path: state.describe("next-device"))
    let enrolment = DeviceEnrolment(copy: copy, person: person)
    if own.anyCertificate(of: new.id) == nil {
      try enrolment.certify(
        PublicDevice(new, of: person, binding: binding), master: master, generation: generation,
        approval: DeviceEnrolment.Approval(approver: approver.id)
      ) { old.signingKey.sign($0) }
      try reloadPeople()
    }
    let name = try storeRegister(of: new, after: old, beside: own)
    try AuditLog(context: self).handOver(to: new, called: name)
    var file = try state.loadDevice(vault: binding.vault)
    file.device = new.id
    file.deviceKeys = next.keys
    try state.storeDevice(file)
    try NextDevice.remove(state: state)
    // Before anybody can tell it, and a mount in the background has nobody to tell.
    try state.notePartedUntold()
    try goOn(as: new)
    noteParting(name)
  }

  /// Writes the new device's register, unless it is there.
  ///
  /// - Returns: What the new device is called.
  private func storeRegister(
    of new: ThisDevice, after old: ThisDevice, beside own: Person
  ) throws(VaultError) -> String {
    if let known = profile(of: new.id) { return known.deviceName }
    let former = profile(of: old.id)
    let name = nextName(after: former?.deviceName ?? "")
    let said = former.map { goesOnBeingSaid(of: $0.profile) } ?? .blank
    try DeviceEnrolment(copy: copy, person: person).storeRegister(
      of: new,
      saying: DeviceProfile(
        deviceName: name, deviceKind: former?.deviceKind ?? "", profile: said, created: 0),
      keys: keys, beside: own)
    return name
  }

  /// Whom this machine has said to know as the device that it was, whose register is another machine's from now on, and whom it
  /// has invited; no more than what is taken over of a device that is removed, as that machine may have written it. What it
  /// calls members it tells itself.
  private func goesOnBeingSaid(of profile: PersonalProfile) -> PersonalProfile {
    let now = clock.milliseconds()
    var room = PassedOnRoom(beside: .blank)
    let people = room.take(profile.people.filter { $0.time <= now })
    // Those that were withdrawn or answered as well: another device may have said before that they are open.
    let invitations = room.take(
      profile.invitations.filter { max($0.created, $0.time) <= now && now < $0.until })
    return PersonalProfile(
      name: "", time: .zero, people: people.sorted { $0.person < $1.person },
      invitations: invitations.sorted { $0.id < $1.id })
  }

  /// Holds the commit lock for whoever writes what only this device may: its register, its log, heads. Where another process
  /// has made this machine another device meanwhile, it is that one.
  func whileThisDevice<Value>(
    _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    try state.withCommitLock { () throws(VaultError) in
      try followDeviceFile()
      return try body()
    }
  }

  /// Becomes the device that another process of this machine has become. The caller holds the commit lock.
  func followDeviceFile() throws(VaultError) {
    let file = try state.loadDevice(vault: binding.vault)
    guard file.device != device.id else { return }
    let new: ThisDevice
    do {
      new = try slotKey.openDeviceKeys(of: file, path: state.describe(StateFolder.devicePath))
    } catch {
      // Made with the 24 words since: that is another device's.
      if case .damagedSlot = error { return }
      throw error
    }
    try goOn(as: new)
  }

  private func goOn(as new: ThisDevice) throws(VaultError) {
    change(device: new)
    try reloadPeople()
  }

  private func nextDevice() throws(VaultError) -> NextDevice {
    // One that it has become already may be left.
    if let begun = try NextDevice.load(state: state), begun.device != device.id { return begun }
    let signingSeed = SecretBytes(randomCount: 32)
    let agreementPrivate = SecretBytes(randomCount: 32)
    let device = ThisDevice(signingSeed: signingSeed, agreementPrivateKey: agreementPrivate)
    let next = NextDevice(
      device: device.id,
      keys: slotKey.sealDeviceKeys(
        signingSeed: signingSeed, agreementPrivateKey: agreementPrivate, device: device.id))
    try next.store(state: state)
    return next
  }

  /// The name that this device is to take, if it has become one of its own and another device of the person has the same name:
  /// two copies of a machine that do so before they meet choose one. The one with the smallest id keeps it, so that all come to
  /// the same. Nil if this one does.
  func nameBesideCopy() -> String? {
    guard !isReadOnly, let own = people[person], Self.hasBecomeAnother(device.id, own),
      let name = profile(of: device.id)?.deviceName, Self.numberedBase(of: name) != nil
    else { return nil }
    let isTaken = own.devices.keys.contains { other in
      other != device.id && profile(of: other)?.deviceName == name
        && (other < device.id || !Self.hasBecomeAnother(other, own))
    }
    return isTaken ? nextName(after: name) : nil
  }

  /// Whether the device's machine was another one before: that has approved its certificate, without an `approval`.
  private static func hasBecomeAnother(_ device: DeviceID, _ person: Person) -> Bool {
    (person.certificates[device] ?? []).contains {
      $0.certificate.approval.isEmpty && $0.certificate.approver != nil
    }
  }

  /// What stands before the number of a device's name; nil where it has none.
  private static func numberedBase(of name: String) -> Substring? {
    guard let hyphen = name.lastIndex(of: "-"), UInt32(name[hyphen...].dropFirst()) != nil else {
      return nil
    }
    return name[..<hyphen]
  }

  /// The name with the next number that none of the person's devices has: desk, desk-2, desk-3.
  private func nextName(after name: String) -> String {
    let base = Self.numberedBase(of: name) ?? Substring(name)
    let known = people[person]?.devices.keys.compactMap { profile(of: $0)?.deviceName } ?? []
    var number = 2
    while known.contains("\(base)-\(number)") { number += 1 }
    return "\(base)-\(number)"
  }

  private func profile(of device: DeviceID) -> DeviceProfile? {
    guard let certified = people[person]?.devices[device] else { return nil }
    do {
      return try loadRegister(
        of: device, signingPublicKey: certified.certificate.signingKey.bytes
      ).profile
    } catch {
      // Only its name is wanted, for another one.
      return nil
    }
  }
}
