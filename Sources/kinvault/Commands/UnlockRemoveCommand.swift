import ArgumentParser
import Vault
import VaultModel

struct UnlockRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take away one of the ways to unlock the vault on this machine.",
    discussion: """
      The last one stays. Whoever had copied this machine's state before can still use what is removed here; \
      if that may be so, remove the device: kinvault device revoke

      Example:
        kinvault unlock remove "old password"
      """)

  @Argument(help: "Its name, as \u{2018}unlock list\u{2019} shows it.") var name: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let folder = try access.folderOptions.folder()
    let slots = try UnlockSlots.find(folder: folder, stateRoot: Environment.stateRoot)
    guard let slot = try slots.all().slots.first(where: { $0.name == name }) else {
      throw CommandError.notFound(
        "Nothing called “\(Terminal.visible(name))” unlocks the vault here. What does: kinvault unlock list"
      )
    }
    // Asked for even if the vault is unlocked: who finds it so is not to lock its person out.
    let key = try SlotOpening.of(folder, passwordFile: access.passwordFile).run().takeKey()
    let change = try SlotChange.begin(folder: folder, key: key, access: access)
    try change.remove(slot)
    try change.close(detail: "unlock remove")
    Terminal.writeLine(
      "“\(Terminal.visible(name))” does not unlock the vault on this machine any more.")
  }
}
