import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// The ways in which this machine unlocks one vault: any one of its slots does. Docs/Format.md, section 14, "Slots".
///
/// What a slot asks for besides a password (a token, a keyring) is somebody else's to fetch: a slot is opened, and made,
/// with what its parts gave.
package struct UnlockSlots: Sendable {
  /// What the slot is called that a vault begins with.
  package static let passwordName = "password"

  package let vault: VaultID
  private let state: StateFolder
  private let binding: Binding

  package init(of copy: VaultCopy) { self.init(vault: copy.id, state: copy.state) }

  init(vault: VaultID, state: StateFolder) {
    self.vault = vault
    self.state = state
    binding = Binding(vault: vault)
  }

  /// Every slot, the oldest first, and what is wrong with files that are no whole slot.
  ///
  /// - Throws: `noDeviceHere`, `damagedSlot` when this machine's device file is damaged, `io`.
  package func all() throws(VaultError) -> (slots: [UnlockSlot], damaged: [VaultError]) {
    _ = try state.loadDevice(vault: vault)
    return try state.loadSlots(vault: vault)
  }

  /// The key in a slot, for what its parts gave.
  ///
  /// - Throws: `wrongPassword` when that is not what it was made with.
  package func open(
    _ slot: UnlockSlot, with secret: borrowing SlotSecret
  ) throws(VaultError) -> DeviceUnlockKey {
    let key: DeviceUnlockKey
    do {
      key = try DeviceUnlockKey.unwrap(
        slot.wrappedUnlockKey, under: secret.kek(of: slot.id, binding: binding))
    } catch {
      // The checksum was right, so the slot is as it was written: it is what was given.
      throw .wrongPassword
    }
    // A slot may be left of a device that this machine was before it was made one anew.
    guard try opensDevice(key) else { throw .wrongPassword }
    return key
  }

  /// The key that a password alone opens.
  ///
  /// Takes as long as the Argon2id costs of the slots say that hold a password and nothing else.
  ///
  /// - Parameter left: A slot that is not tried.
  /// - Throws: `wrongPassword`, `damagedSlot`, `noDeviceHere`; `passwordIsNotEnough` where no slot is opened by a
  ///   password alone.
  package func open(
    password: borrowing SecretBytes, butFor left: UnlockSlot? = nil
  ) throws(VaultError) -> OpenedSlot {
    let (slots, damaged) = try all()
    var isAsked = false
    for slot in slots where slot.id != left?.id && slot.parts.map(\.kind) == [.password] {
      isAsked = true
      do {
        let secret = try stretch(password, for: slot)
        return OpenedSlot(slot: slot, key: try open(slot, with: secret))
      } catch {
        guard case .wrongPassword = error else { throw error }
      }
    }
    // Maybe it is one of these that the password opens.
    if let first = damaged.first { throw first }
    throw isAsked ? .wrongPassword : .passwordIsNotEnough
  }

  /// A slot, and the key that was in it.
  package struct OpenedSlot: ~Copyable {
    package let slot: UnlockSlot
    package let key: DeviceUnlockKey

    package init(slot: UnlockSlot, key: consuming DeviceUnlockKey) {
      self.slot = slot
      self.key = key
    }

    package consuming func takeKey() -> DeviceUnlockKey { key }
  }

  private func stretch(
    _ password: borrowing SecretBytes, for slot: UnlockSlot
  ) throws(VaultError) -> SlotSecret {
    var secret = SlotSecret()
    for part in slot.parts {
      secret.append(try stretch(password, for: part, of: slot), of: part.kind)
    }
    return secret
  }

  /// What a password gives for the part of a slot that asks for one.
  ///
  /// - Throws: `damagedSlot` when its costs are out of range.
  package func stretch(
    _ password: borrowing SecretBytes, for part: UnlockPart, of slot: UnlockSlot
  ) throws(VaultError) -> SecretBytes {
    guard case .password(let salt, let passes, let memoryKiB) = part else {
      preconditionFailure("a password is for a password's part")
    }
    do {
      return try PasswordHash.stretch(
        password, salt: salt, cost: Argon2Cost(passes: passes, memoryKiB: memoryKiB))
    } catch {
      if case .costOutOfRange = error {
        throw .damagedSlot(path: state.describeSlot(slot.id), reason: "\(error)")
      }
      throw .crypto(error)
    }
  }

  /// Whether the key opens this machine's private keys.
  ///
  /// - Throws: `noDeviceHere`, `damagedSlot` when the device file is damaged.
  package func opensDevice(_ key: borrowing DeviceUnlockKey) throws(VaultError) -> Bool {
    let device = try state.loadDevice(vault: vault)
    do {
      _ = try key.sealingKey(binding: binding).openDeviceKeys(
        of: device, path: state.describe(StateFolder.devicePath))
      return true
    } catch {
      // What unlocks it is asked for then, and says what is wrong.
      return false
    }
  }
}

// MARK: Changing them

extension UnlockSlots {
  /// What a new slot is called, and the parts that open it with what these gave, in the same order.
  package struct NewSlot: ~Copyable {
    package let name: String
    /// Random; what is kept elsewhere for it stands under this.
    package let id = UnlockSlotID.random()
    private(set) var parts: [UnlockPart] = []
    private(set) var secret = SlotSecret()

    package init(name: String) { self.name = name }

    /// Traps unless `secret` has 32 bytes.
    package mutating func add(_ part: UnlockPart, giving secret: borrowing SecretBytes) {
      parts.append(part)
      self.secret.append(secret, of: part.kind)
    }

    /// Adds a new password, stretched at this cost.
    package mutating func add(
      password: borrowing SecretBytes, cost: Argon2Cost
    ) throws(VaultError) {
      let salt = randomBytes(PasswordHash.saltSize)
      do {
        let secret = try PasswordHash.stretch(password, salt: salt, cost: cost)
        add(
          .password(salt: salt, passes: cost.passes, memoryKiB: cost.memoryKiB), giving: secret)
      } catch {
        throw .crypto(error)
      }
    }
  }

  /// Adds a slot for the key; on disk when this returns.
  ///
  /// - Parameter replaced: A slot that goes when the new one is there, with what a change that was cut short has left of its name.
  /// - Throws: `damagedSlot` when the key is not this machine's; `alreadyExists` when another slot has the name.
  @discardableResult
  package func add(
    _ new: borrowing NewSlot, for key: borrowing DeviceUnlockKey, inPlaceOf replaced: UnlockSlot?,
    clock: WallClock = .system
  ) throws(VaultError) -> UnlockSlot {
    guard try opensDevice(key) else {
      throw .damagedSlot(
        path: state.describe(StateFolder.devicePath), reason: "the key does not open it")
    }
    return try state.withLock("slots-lock") { () throws(VaultError) in
      let slots = try state.loadSlots(vault: vault).slots
      guard !slots.contains(where: { $0.name == new.name && $0.name != replaced?.name }) else {
        throw .alreadyExists(what: "a way to unlock that is called “\(new.name)”")
      }
      let slot = try store(new, for: key, time: clock.milliseconds())
      for old in slots where old.name == replaced?.name { try state.removeSlot(old.id) }
      return slot
    }
  }

  /// Removes a slot.
  ///
  /// - Parameter other: One that was opened or made just now. That there is another one says nothing: it may be left of
  ///   a device that this machine was before, and open nothing.
  /// - Throws: `lastSlot` when the other one is the same, or not there any more.
  package func remove(_ slot: UnlockSlot, leaving other: UnlockSlot) throws(VaultError) {
    try state.withLock("slots-lock") { () throws(VaultError) in
      let isThere = try state.loadSlots(vault: vault).slots.contains { $0.id == other.id }
      guard isThere, other.id != slot.id else { throw .lastSlot }
      try state.removeSlot(slot.id)
    }
  }

  /// Makes this machine the device, opened by the new slot alone.
  ///
  /// Cut short anywhere, either the device and the slots that were here before are, or the new ones. A slot that is left
  /// of the others opens nothing.
  func begin(
    as device: DeviceFile, with new: borrowing NewSlot, for key: borrowing DeviceUnlockKey,
    time: UInt64
  ) throws(VaultError) {
    try state.withLock("slots-lock") { () throws(VaultError) in
      let slot = try store(new, for: key, time: time)
      try state.storeDevice(device)
      for other in try state.loadSlots(vault: vault).slots where other.id != slot.id {
        try state.removeSlot(other.id)
      }
      // It was sealed with the device unlock key that nobody has any more.
      try state.removeDerived()
    }
  }

  private func store(
    _ new: borrowing NewSlot, for key: borrowing DeviceUnlockKey, time: UInt64
  ) throws(VaultError) -> UnlockSlot {
    let slot = UnlockSlot(
      vault: vault, id: new.id, name: new.name, created: time,
      wrappedUnlockKey: key.wrap(under: new.secret.kek(of: new.id, binding: binding)),
      parts: new.parts)
    try state.storeSlot(slot)
    return slot
  }
}
