import ArgumentParser
import Vault
import VaultCrypto
import VaultModel

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlock the vault for a while, and choose what unlocks it.",
    discussion: """
      Asks for the password once and keeps the key in the kernel's keyring, for your processes only, until \
      the vault was not used for some time, until \u{2018}kinvault lock\u{2019}, or until you log out for good. Every command unlocks in \
      this way when it has to ask for the password; this one also chooses the time.

      This machine may have several ways to unlock the vault: any one of them will do, and the 24 words always make a new one.

      Examples:
        kinvault unlock --timeout 30m
        kinvault unlock list
      """,
    subcommands: [UnlockListCommand.self, UnlockAddCommand.self, UnlockRemoveCommand.self])

  @OptionGroup var access: AccessOptions

  @Option(
    help: ArgumentHelp("Lock after this time without use: 90s, 10m, 2h.", valueName: "time"))
  var timeout: TimeArgument = TimeArgument(seconds: 300)

  @Flag(help: "Use only what asks nobody: the desktop's keyring, or the TPM without a PIN.")
  var withoutAsking = false

  func run() throws {
    let folder = try access.folderOptions.folder()
    let id = try Vault.describe(folder: folder).vault
    guard SessionKeyring.isAvailable else { throw SessionKeyringError.unavailable(errno: 0) }
    let unlocked = UnlockedKey(try open(.of(folder, passwordFile: access.passwordFile)))
    // Before the key is kept: a vault that does not open is not unlocked.
    let vault = try access.open(folder, key: unlocked.key, use: .reading)
    vault.audit.note(.unlock, detail: unlocked.way ?? "")
    try AccessOptions.tellWhatWasNoted(in: vault, Terminal.note)
    try vault.close()
    try SessionKeys.store(unlocked.key, vault: id, timeout: timeout.duration)
    Terminal.writeLine(
      "Unlocked. It locks itself after \(DateText.duration(seconds: timeout.seconds)) without use.")
  }

  private func open(_ opening: SlotOpening) throws -> UnlockSlots.OpenedSlot {
    guard withoutAsking else { return try opening.run() }
    guard let opened = try opening.runWithoutAsking() else {
      throw CommandError.locked("Nothing here unlocks this vault without asking you.")
    }
    return opened
  }
}
