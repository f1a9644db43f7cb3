import ArgumentParser
import SystemPackage
import Vault
import VaultErrors
import VaultModel

struct UnlockRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take away one of the ways to unlock the vault on this machine.",
    discussion: """
      Asks for one of the others, so that what is left is known to unlock the vault; the last one stays. Whoever had copied this machine's state before can still use what is removed here; \
      if that may be so, remove the device: kinvault device revoke

      Example:
        kinvault unlock remove "old password"
      """)

  @Argument(help: "Its name, as \u{2018}unlock list\u{2019} shows it.") var name: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let folder = try access.folderOptions.folder()
    let slots = try UnlockSlots(of: .here(in: folder))
    guard let slot = try slots.all().slots.first(where: { $0.name == name }) else {
      throw CommandError.notFound(
        "Nothing called “\(Terminal.visible(name))” unlocks the vault here. What does: kinvault unlock list"
      )
    }
    let change = try SlotChange.begin(
      folder: folder, by: openAnother(than: slot, in: folder), access: access)
    try change.remove(slot)
    // Said first: it is so, also where it cannot be noted.
    Terminal.writeLine(
      "“\(Terminal.visible(name))” does not unlock the vault on this machine any more.")
    try change.close(detail: "unlock remove")
  }

  /// Asked for even if the vault is unlocked: who finds it so is not to lock its person out, and nobody themself.
  private func openAnother(
    than slot: UnlockSlot, in folder: FilePath
  ) throws -> UnlockSlots.OpenedSlot {
    let name = Terminal.visible(name)
    do {
      return try SlotOpening.of(folder, passwordFile: access.passwordFile, butFor: slot).run(
        question: "To take “\(name)” away, unlock with another one. Password: ")
    } catch let error as VaultError {
      switch error {
      case .wrongPassword, .passwordIsNotEnough:
        throw CommandError.wrongSecret(
          "That opens none of the others, so “\(name)” stays. It goes when another one has unlocked the vault; if none "
            + "of them does, add one first: kinvault unlock add")
      default: throw error
      }
    }
  }
}
