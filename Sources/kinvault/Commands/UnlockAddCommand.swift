import ArgumentParser
import Tokens
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct UnlockAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add another way to unlock the vault on this machine.",
    discussion: """
      What:
        password   another password
        keyring    the desktop's keyring, which opens with your session: nothing to type, and any program of your \
      session can read it
        token      a FIDO2 token: a touch, and its PIN if it has one
        tpm        this machine's TPM with a PIN, which locks for a while after wrong ones

      Any one of them opens the vault. With --require-both the new one and a password are needed together, and no password \
      opens it alone any more. The 24 words always make a new password: kinvault recover

      Examples:
        kinvault unlock add token --name "my key ring"
        kinvault unlock add tpm
        kinvault unlock add token --require-both
      """)

  @Argument(help: "password, keyring, token or tpm.") var kind: UnlockKind

  @Option(help: ArgumentHelp("What you call it. Default: what it is.", valueName: "name"))
  var name: String?

  @Flag(help: "Need a password as well, each time.") var requireBoth = false
  @Flag(help: "Use the TPM without a PIN: whoever has this machine can unlock.") var noPin = false

  @Option(
    help: ArgumentHelp("Take the PIN from this file.", valueName: "file"), completion: .file())
  var pinFile: String?

  @Option(
    help: ArgumentHelp("Take the new password from this file.", valueName: "file"),
    completion: .file())
  var newPasswordFile: String?

  @Flag(help: "Do not ask.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let slot = try SlotName(name ?? kind.rawValue)
    guard !(requireBoth && kind == .password) else {
      throw CommandError.usage("--require-both is for something that is needed besides a password.")
    }
    guard !noPin || kind == .tpm else { throw CommandError.usage("--no-pin is for a TPM.") }
    let folder = try access.folderOptions.folder()
    // Asked for even if the vault is unlocked: who finds it so is not to come back by a way of their own.
    let way = try SlotOpening.of(folder, passwordFile: access.passwordFile).run()
    let change = try SlotChange.begin(folder: folder, by: way, access: access)
    let alone = try requireBoth ? change.openedByPasswordAlone() : []
    let others = try requireBoth ? change.openedOtherwise() : []
    if requireBoth { try Confirmation.require(question(besides: others), isGiven: yes) }
    var new = UnlockSlots.NewSlot(name: slot.text)
    if requireBoth || kind == .password { try addPassword(to: &new) }
    try addPart(to: &new, vault: change.vault)
    let added: UnlockSlot
    do { added = try change.add(new) } catch {
      if kind == .keyring { try DesktopKeyring.remove(vault: change.vault, slot: new.id) }
      throw error
    }
    for slot in alone where slot.id != added.id { try change.remove(slot, leaving: added) }
    // Said first: it is so, also where it cannot be noted.
    Terminal.writeLine(
      "Added “\(Terminal.visible(slot.text))”: \(Self.says(added)) unlocks the vault here.")
    for warning in [Self.warning(about: added), Self.warning(besides: others)].compactMap({ $0 }) {
      Terminal.note("kinvault: \(warning)")
    }
    try change.close(detail: "unlock add \(kind.rawValue)")
  }

  /// - Parameter others: What goes on unlocking the vault here.
  private func question(besides others: [UnlockSlot]) -> String {
    if let warning = Self.warning(besides: others) {
      return "From then on no password alone unlocks the vault here. But \(warning) Go on?"
    }
    return
      "From then on it takes both to unlock the vault here; without \(kind) there are only the 24 words. Go on?"
  }
}

extension UnlockAddCommand {
  private func addPassword(to new: inout UnlockSlots.NewSlot) throws {
    let source = newPasswordFile.map { PasswordSource.file($0) } ?? .terminal
    try new.add(password: source.new(), cost: PasswordTime.cost())
  }

  private func addPart(to new: inout UnlockSlots.NewSlot, vault: VaultID) throws {
    switch kind {
    case .password: return
    case .keyring:
      let secret = SecretBytes(randomCount: SlotSecret.partSize)
      try DesktopKeyring.store(
        secret, vault: vault, slot: new.id, label: "Kinvault: \(new.name)")
      new.add(.keyring, giving: secret)
    case .tpm:
      let secret = SecretBytes(randomCount: SlotSecret.partSize)
      let pin = try noPin ? nil : NewPIN.get(file: pinFile)
      new.add(try TPM.here.seal(secret, pin: pin), giving: secret)
    case .token: try addToken(to: &new)
    }
  }

  private func addToken(to new: inout UnlockSlots.NewSlot) throws {
    let tokens = SecurityToken.all()
    guard let token = tokens.first else {
      throw TokenError.noneHere("no FIDO2 token is plugged in")
    }
    guard tokens.count == 1 else {
      throw CommandError.refused("Several tokens are plugged in. Leave the one in that is meant.")
    }
    let pin = try token.hasPIN() ? currentPIN(of: token.name) : nil
    let asksForPIN = pin != nil
    Terminal.note("Touch the token “\(Terminal.visible(token.name))”, to make a credential on it.")
    let credential = try token.makeCredential(user: new.id.bytes, pin: pin)
    let salt = randomBytes(UnlockPart.tokenSaltSize)
    Terminal.note("Touch it once more, to use it.")
    let secret = try token.secret(of: credential, salt: salt, pin: pin)
    new.add(.token(credential: credential, salt: salt, asksForPIN: asksForPIN), giving: secret)
  }

  private func currentPIN(of name: String) throws -> SecretBytes {
    if let pinFile { return try SecretInput.read(path: pinFile) }
    return try SlotParts.pin(of: name)
  }

  private static func says(_ slot: UnlockSlot) -> String {
    slot.parts.map { UnlockKind($0).description }.joined(separator: " and ")
  }

  private static func warning(besides others: [UnlockSlot]) -> String? {
    if others.isEmpty { return nil }
    let names = others.map { "“\(Terminal.visible($0.name))”" }.joined(separator: ", ")
    return "\(names) unlocks it as before. To take one away: kinvault unlock remove NAME."
  }

  private static func warning(about slot: UnlockSlot) -> String? {
    guard slot.parts.count == 1 else { return nil }
    return switch slot.parts[0] {
    case .token(_, _, asksForPIN: false):
      "Take the token out when you leave: as long as it is plugged in, whoever is at this machine needs only to touch it."
    case .tpm(_, _, asksForPIN: false):
      "Whoever has this machine can unlock the vault now; only a disk that is taken out of it is of no use."
    case .keyring:
      "Any program of your session can unlock the vault now, and “kinvault lock” keeps nobody out who is at it."
    default: nil
    }
  }
}
