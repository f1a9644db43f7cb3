import ArgumentParser
import BlobStore
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultModel
import VaultMount

struct LeaveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave",
    abstract: "Give up your access to a member, or to the whole vault.",
    discussion: """
      This machine shows the member no more. With the next sync of an owner's device the member gets a new key, which \
      you do not have. What your other devices have not synced by now is not taken over, so sync them first. The only \
      owner of a member cannot leave it: hand it over first. A member cannot be removed; one that was made by mistake, \
      and is empty, is there for whoever is next (kinvault member rename).

      Without a member: leaves every member, but for empty ones that nobody else has, syncs with the remotes, and \
      removes your keys for this vault from this machine. The folder of encrypted files stays; with your 24 words you can \
      come back to it, but to no member unless an owner shares it again.

      Examples:
        kinvault leave Emma
        kinvault leave
      """)

  @Argument(
    help: "The member; the whole vault when none is named.", completion: MemberCompletion.kind)
  var member: String?

  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let folder = try access.folderOptions.folder()
    try requireNotMounted(folder)
    guard let member else { return try leaveVault(folder) }
    try access.withVault(.writing) { vault in
      let member = try RecordLookup(vault: vault).member(named: member)
      try requireUsed(member)
      try requireOthers(for: [member], in: vault)
      try requireNothingUnsaved(vault, of: member)
      let name = Terminal.visible(member.name.string)
      try Confirmation.require(
        "Give up your access to \(name)? Only an owner can give it to you again.", isGiven: yes)
      try vault.leave(member)
      Terminal.writeLine(
        "You have left \(name). Sync, so that the others see it: an owner's next sync changes its key."
      )
    }
  }

  private func leaveVault(_ folder: FilePath) throws {
    let id = try access.withVaultAndKey(.writing) { vault, key in
      // What is empty, and nobody else has, nobody misses.
      let members = try vault.members.filter { try !$0.isUnused }
      try requireOthers(for: members, in: vault)
      try requireNothingUnsaved(vault)
      let names = members.map { Terminal.visible($0.name.string) }.joined(separator: ", ")
      try Confirmation.require(
        "Give up \(names.isEmpty ? "" : "your access to \(names), and ")your keys on this machine?",
        isGiven: yes)
      let remotes = try access.remotes(of: vault, key: key)
      // Only while the members are open a sync sees whether what it sends of them is whole.
      try requireSynced(
        remotes, vault,
        "Not everything has been synced, so you have left nothing yet, and this machine keeps its keys."
      )
      for member in members { try vault.leave(member) }
      try requireSynced(
        remotes, vault,
        "You have left the members, but the remotes may not know it yet, so this machine keeps its keys."
      )
      return vault.id
    }
    try SessionKeys.remove(vault: id)
    try StateFolder.remove(root: Environment.stateRoot, vault: id)
    Terminal.writeLine(
      """
      You have left the vault. This machine has no keys for it any more.
      What is in \(Terminal.visible(folder.string)) is encrypted, and may be deleted once the others have it: your leaving \
      stands in it too.
      """)
  }

  /// Without what this machine keeps nobody could tell them any more.
  ///
  /// - Parameter state: What is so where a sync is not complete.
  private func requireSynced(
    _ remotes: [KnownRemote], _ vault: Vault, _ state: String
  ) throws(CommandError) {
    let failures = remotes.syncAll(vault, showsProgress: true)
    if failures.isEmpty { return }
    failures.forEach { Terminal.note("kinvault: \($0)") }
    throw .refused("\(state) When “kinvault sync” has nothing more to tell: kinvault leave")
  }

  /// Opening the vault has brought in what it could of what was saved before a crash. The rest can never come in once the person
  /// has left.
  ///
  /// - Parameter member: The one that is left; nil for the whole vault.
  private func requireNothingUnsaved(_ vault: Vault, of member: Member? = nil) throws {
    let files = try vault.state.redoFilesLeft().filter { file in
      member.map { file.name == $0.id.hex } ?? true
    }
    if files.isEmpty { return }
    let names = files.map { Terminal.visible(vault.state.describe($0)) }.joined(separator: ", ")
    throw CommandError.refused(
      "What was saved last before a crash is not in the vault yet, and could not be brought in once you have left, so you "
        + "have left nothing yet. It is in \(names). The next command that changes something tries again to bring it in. If "
        + "nobody needs it, remove what is named here. Then: kinvault leave"
        + (member.map { " \(ShellWord.quoted($0.name.string))" } ?? ""))
  }

  private func requireNotMounted(_ folder: FilePath) throws {
    let id = try Vault.describe(folder: folder).vault
    let mounts = try MountRegistry.runningMounts(
      stateFolder: Environment.stateRoot.appending(id.hex))
    guard let mount = mounts.first else { return }
    throw CommandError.refused(
      "The vault is mounted at \(mount.mountpoint). First: kinvault unmount \(ShellWord.quoted(mount.mountpoint.string))"
    )
  }

  private func requireUsed(_ member: Member) throws {
    guard try member.isUnused else { return }
    let name = Terminal.visible(member.name.string)
    throw CommandError.refused(
      "You are the only owner of \(name), and nothing stands in it. A member cannot be removed, since others may have it: "
        + "give it to whoever is next: kinvault member rename \(ShellWord.quoted(member.name.string)) NAME"
    )
  }

  private func requireOthers(for members: [Member], in vault: Vault) throws {
    let wanted = Set(members.map(\.id))
    let alone = try vault.membersOwnedAlone().filter { wanted.contains($0.id) }
    guard let first = alone.first else { return }
    let names = alone.map { Terminal.visible($0.name.string) }.joined(separator: ", ")
    throw CommandError.refused(
      "You are the only owner of \(names): nobody else could share the records. First hand over: kinvault hand-over "
        + "\(ShellWord.quoted(first.name.string)) --to PERSON")
  }
}
