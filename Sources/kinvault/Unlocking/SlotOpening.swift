import SystemPackage
import Tokens
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// Opens one of the ways in which this machine unlocks a vault, asking the person for what it needs.
struct SlotOpening {
  let folder: FilePath
  let slots: UnlockSlots
  let source: PasswordSource
  /// A slot that is not tried.
  private let left: UnlockSlot?
  private let parts: SlotParts

  private init(folder: FilePath, slots: UnlockSlots, source: PasswordSource, left: UnlockSlot?) {
    self.folder = folder
    self.slots = slots
    self.source = source
    self.left = left
    parts = SlotParts(slots: slots)
  }

  /// Of the vault in a folder, with a password from where the person has said, else from the terminal.
  ///
  /// - Parameter left: A slot that is not tried.
  /// - Throws: `notAVault`, `unsupported`, `permission`, `io`.
  static func of(
    _ folder: FilePath, passwordFile: String?, butFor left: UnlockSlot? = nil
  ) throws(VaultError) -> SlotOpening {
    SlotOpening(
      folder: folder, slots: UnlockSlots(of: try .here(in: folder)),
      source: .configured(passwordFile: passwordFile), left: left)
  }

  /// The slot that was opened, and the key in it.
  ///
  /// What nobody has to be asked for comes first, then what is plugged in, then passwords. A password that comes from a
  /// file or a command is meant, and is tried alone.
  ///
  /// - Parameter question: What to ask for the password with.
  /// - Throws: `noDeviceHere`, `damagedSlot` and the like, before anything is asked that no answer could mend;
  ///   `wrongPassword`, after three tries at a terminal; `lastSlot` when there is only the one that is not tried.
  func run(question: String? = nil) throws -> UnlockSlots.OpenedSlot {
    let known = try slots.all().slots.filter { $0.id != left?.id }
    if known.isEmpty, left != nil { throw VaultError.lastSlot }
    if case .terminal = source, let opened = openWithoutPassword(known) { return opened }
    return try openByPassword(known, question ?? self.question)
  }

  /// The slot that opens without anybody being asked: with what is at hand, or a password from a file or a command. Nil where
  /// there is none.
  ///
  /// - Throws: `wrongPassword` and the like, for a password that is meant.
  func runWithoutAsking() throws -> UnlockSlots.OpenedSlot? {
    let known = try slots.all().slots
    guard case .terminal = source else { return try openByPassword(known, question) }
    return openWithoutPassword(known.filter { SlotParts.effort(of: $0) <= SlotParts.silentEffort })
  }

  /// The slot that opens with this password, where no PIN has to be asked for.
  ///
  /// - Throws: `wrongPassword`, which is noted; `passwordIsNotEnough`, `damagedSlot` and the like.
  func run(password: borrowing SecretBytes) throws -> UnlockSlots.OpenedSlot {
    do {
      return try open(try slots.all().slots, password: password) { _ in
        throw VaultError.passwordIsNotEnough
      }
    } catch {
      SignInNotes.refused(error, of: slots.vault)
      throw error
    }
  }

  /// The slots that want something of the person besides a password alone, and for which all seems to be here. Asks nobody.
  func slotsAtHand() throws -> [UnlockSlot] {
    try slots.all().slots.filter { slot in
      slot.parts.contains { $0.kind != .password }
        && SlotParts.effort(of: slot) > SlotParts.silentEffort && parts.isAtHand(slot)
    }
  }

  /// Opens one of them with what somebody has typed for it.
  ///
  /// - Throws: `TokenError`, `wrongPassword`: what was wrong is noted.
  func run(
    _ slot: UnlockSlot, password: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws -> UnlockSlots.OpenedSlot {
    do {
      let secret = try parts.secret(of: slot) { part in
        try slots.stretch(password, for: part, of: slot)
      } pin: { _ in
        pin.copy()
      }
      return UnlockSlots.OpenedSlot(slot: slot, key: try slots.open(slot, with: secret))
    } catch {
      SignInNotes.refused(error, of: slots.vault)
      throw error
    }
  }

  private var question: String {
    "Password of the vault \(Terminal.visible(folder.lastComponent?.string ?? folder.string)): "
  }

  /// The first slot that opens with what is at hand; nil if none does, which is told where the person took part in it.
  private func openWithoutPassword(_ known: [UnlockSlot]) -> UnlockSlots.OpenedSlot? {
    let ranked = known.filter { !$0.parts.contains { $0.kind == .password } }
      .sorted { SlotParts.effort(of: $0) < SlotParts.effort(of: $1) }
    for slot in ranked where parts.isAtHand(slot) {
      do {
        let secret = try parts.secret(of: slot) { _ in
          preconditionFailure("these slots have no password")
        }
        return UnlockSlots.OpenedSlot(slot: slot, key: try slots.open(slot, with: secret))
      } catch {
        SignInNotes.refused(error, of: slots.vault)
        Terminal.note("kinvault: “\(Terminal.visible(slot.name))”: \(FailureReport(error).message)")
      }
    }
    return nil
  }

  private func openByPassword(
    _ known: [UnlockSlot], _ question: String
  ) throws -> UnlockSlots.OpenedSlot {
    guard case .terminal = source else {
      let password = try source.current(question)
      do { return try open(known, password: password) } catch {
        SignInNotes.refused(error, of: slots.vault)
        throw error
      }
    }
    for attempt in 1... {
      let password = try source.current(question)
      do { return try open(known, password: password) } catch let error as VaultError {
        SignInNotes.refused(error, of: slots.vault)
        guard case .wrongPassword = error, attempt < 3 else { throw error }
        Terminal.note("That is not it. Try again.")
      }
    }
    preconditionFailure("the loop has no end")
  }

  /// Slots that want nothing but a password, else those that want something besides.
  private func open(
    _ known: [UnlockSlot], password: borrowing SecretBytes,
    pin: (_ name: String) throws -> SecretBytes = SlotParts.pin(of:)
  ) throws -> UnlockSlots.OpenedSlot {
    do { return try slots.open(password: password, butFor: left) } catch {
      guard case .passwordIsNotEnough = error else { throw error }
    }
    let both = known.filter { $0.parts.count > 1 && $0.parts.contains { $0.kind == .password } }
    guard let slot = both.first(where: parts.isAtHand) ?? both.first else {
      // A password was set up for programs that run by themselves, and what is left needs none.
      let silent = known.filter { SlotParts.effort(of: $0) <= SlotParts.silentEffort }
      if let opened = openWithoutPassword(silent) { return opened }
      throw VaultError.passwordIsNotEnough
    }
    let secret = try parts.secret(
      of: slot, password: { try slots.stretch(password, for: $0, of: slot) }, pin: pin)
    return UnlockSlots.OpenedSlot(slot: slot, key: try slots.open(slot, with: secret))
  }
}
