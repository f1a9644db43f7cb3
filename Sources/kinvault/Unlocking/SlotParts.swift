import Glibc
import Tokens
import Vault
import VaultCrypto
import VaultModel

/// What the parts of slots give: fetched from where they are, with a word to the person where they have something to do.
struct SlotParts {
  let slots: UnlockSlots

  /// The effort up to which nobody has to do anything.
  static let silentEffort = 1

  /// How much a person has to do for a slot without a password, the least first.
  static func effort(of slot: UnlockSlot) -> Int {
    slot.parts.map { part in
      switch part {
      case .keyring: 0
      case .tpm(_, _, let asksForPIN): asksForPIN ? 3 : 1
      case .token(_, _, let asksForPIN): asksForPIN ? 4 : 2
      case .password: 5
      }
    }.max() ?? 0
  }

  /// Whether everything but a password that the slot needs seems to be here. Asks nobody, and needs no touch.
  func isAtHand(_ slot: UnlockSlot) -> Bool {
    slot.parts.allSatisfy { part in
      switch part {
      case .password: true
      // Whether it answers shows when it is asked.
      case .keyring: Environment.value("DBUS_SESSION_BUS_ADDRESS") != nil
      case .tpm: TPM.isHere
      case .token(let credential, _, _): token(with: credential) != nil
      }
    }
  }

  /// The plugged-in token that made the credential.
  private func token(with credential: [UInt8]) -> SecurityToken? {
    SecurityToken.all().first { token in
      // One that cannot be asked is not the one.
      do throws(TokenError) { return try token.knows(credential) } catch { return false }
    }
  }

  /// What the parts of a slot give together.
  ///
  /// - Parameters:
  ///   - password: What the password gives for the part that asks for one.
  ///   - pin: The PIN of what is called so.
  /// - Throws: `TokenError`, `VaultError`, `CommandError` where nobody can be asked for a PIN.
  func secret(
    of slot: UnlockSlot, password: (UnlockPart) throws -> SecretBytes,
    pin: (_ name: String) throws -> SecretBytes = Self.pin(of:)
  ) throws -> SlotSecret {
    var secret = SlotSecret()
    for part in slot.parts {
      switch part {
      case .password:
        secret.append(try password(part), of: .password)
      case .keyring:
        secret.append(try DesktopKeyring.load(vault: slots.vault, slot: slot.id), of: .keyring)
      case .tpm(let publicArea, let privateArea, let asksForPIN):
        let answer = asksForPIN ? try pin("“\(Terminal.visible(slot.name))” (TPM)") : nil
        secret.append(
          try TPM.here.unseal(publicArea: publicArea, privateArea: privateArea, pin: answer),
          of: .tpm)
      case .token(let credential, let salt, let asksForPIN):
        guard let token = token(with: credential) else {
          throw TokenError.noneHere("the token of “\(slot.name)” is not plugged in")
        }
        let answer = asksForPIN ? try pin(token.name) : nil
        Terminal.note("Touch the token “\(Terminal.visible(token.name))”.")
        secret.append(
          try token.secret(of: credential, salt: salt, pin: answer), of: .token)
      }
    }
    return secret
  }

  /// Forgets what is kept for a slot outside of the vault's state.
  func forget(_ slot: UnlockSlot) throws(TokenError) {
    guard slot.parts.contains(.keyring) else { return }
    try DesktopKeyring.remove(vault: slots.vault, slot: slot.id)
  }

  static func pin(of name: String) throws(CommandError) -> SecretBytes {
    guard let prompt = TerminalPrompt() else {
      throw .locked("\(name) asks for a PIN, and there is no terminal to ask at.")
    }
    return try prompt.secret("PIN of \(Terminal.visible(name)): ")
  }
}

extension UnlockPart {
  var asksForPIN: Bool {
    switch self {
    case .token(_, _, let asksForPIN), .tpm(_, _, let asksForPIN): asksForPIN
    case .password, .keyring: false
    }
  }
}

extension TPM {
  /// The one of this machine, or the one that `KINVAULT_TPM` names in the words of the TCG's software stack.
  static var here: TPM {
    Environment.value("KINVAULT_TPM").map { TPM(connection: $0) } ?? TPM()
  }

  /// Whether there seems to be one.
  static var isHere: Bool {
    Environment.value("KINVAULT_TPM") != nil || access("/dev/tpmrm0", R_OK | W_OK) == 0
  }
}
