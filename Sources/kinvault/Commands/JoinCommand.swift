import ArgumentParser
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultModel

struct JoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a vault that someone invited you to.",
    discussion: """
      Makes keys of your own, with a password for this machine and 24 words on paper. Where the invitation names a \
      remote, you are shown its address and asked; then the vault is fetched from there into a new folder, your answer is put there, and the remote is added as one \
      of yours. Otherwise name a copy of the vault's folder, or an empty folder that you then exchange with the other \
      one's. You see nothing until someone shares a member with you.

      The invitation is asked for, or comes from a file: it is a secret, so it is never an argument.

      Examples:
        kinvault join --vault ~/Family
        kinvault join --vault ~/Family --user ben
        kinvault join --vault ~/Family --invitation-file I --name Ben --password-file F --words-out W --yes
      """)

  @OptionGroup var folderOptions: FolderOptions

  @Option(
    help: ArgumentHelp(
      "Take the invitation from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var invitationFile: String?

  @OptionGroup var person: NewPersonOptions

  @Option(
    help: ArgumentHelp("What the invitation's remote is called from now on.", valueName: "name"))
  var remoteName = "origin"

  @OptionGroup var login: LoginOptions

  @Flag(help: "Do without the invitation's remote: the folder is exchanged by other means.")
  var noRemote = false

  @Flag(
    help: "Do not ask whether the invitation's address is the right one, nor for some of the words."
  )
  var yes = false

  func run() throws {
    guard let path = folderOptions.vault ?? Environment.value("KINVAULT_VAULT") else {
      throw CommandError.usage("Say where the vault is, or is to be: kinvault join --vault FOLDER")
    }
    let folder = VaultLocation.absolute(path)
    let invitation = try readInvitation()
    let remote = try invitedRemote(invitation, folder: folder)
    let password = try person.deviceOptions.newPassword()
    let joined = try person.wordsOptions.teach(.random(), isShort: yes) { words in
      let machine = try person.deviceOptions.machine(of: person.name?.text)
      let copy = try VaultCopy.findOrMake(
        invitation.vault, in: folder, stateRoot: Environment.stateRoot)
      return try Vault.join(
        invitation, in: copy, device: machine, password: password, words: words)
    }
    person.deviceOptions.keepUnlocked(joined.unlockKey, vault: joined.id)
    try remote?.add(unlockKey: joined.unlockKey)
    farewell(folder, invitation, try remote?.answer(folder: folder, unlockKey: joined.unlockKey))
  }

  /// The remote that the invitation names, with the vault's people fetched from it if the folder has none yet.
  private func invitedRemote(
    _ invitation: Invitation, folder: FilePath
  ) throws -> InvitedRemote? {
    if invitation.remote.isEmpty || noRemote { return nil }
    guard let name = RemoteName(remoteName) else {
      throw CommandError.usage("A remote's name is 1 to 64 of a-z, 0-9, - and _.")
    }
    let remote = try InvitedRemote.ask(
      invitation, name: name, place: login.place, folder: folder, isConfirmed: yes)
    try remote.fetchPeople(into: folder)
    return remote
  }

  private func readInvitation() throws -> Invitation {
    if let invitationFile {
      let text = try SecretInput.read(path: invitationFile).withUnsafeBytes {
        String(decoding: $0, as: UTF8.self)
      }
      return try Invitation(parsing: text)
    }
    guard let prompt = TerminalPrompt() else {
      throw CommandError.usage(
        "There is no terminal to ask for the invitation. Use --invitation-file.")
    }
    return try Invitation(parsing: prompt.line("Invitation: "))
  }

  /// - Parameter answer: What came of telling the invitation's remote; nil without one.
  private func farewell(_ folder: FilePath, _ invitation: Invitation, _ answer: SyncOutcome?) {
    person.wordsOptions.sayWhere()
    let inviter =
      invitation.inviterName.isEmpty
      ? "whoever invited you" : Terminal.visible(invitation.inviterName)
    Terminal.writeLine("You have joined the vault of \(inviter), in \(folder).")
    guard let answer else {
      if !invitation.remote.isEmpty {
        Terminal.writeLine("Another copy of it is at \(Terminal.visible(invitation.remote)).")
      }
      Terminal.writeLine(
        """
        Exchange this folder with the other one's (rsync, Syncthing, a stick). Then \(inviter) sees you in
        \u{2018}kinvault people list\u{2019} and can share members with you.
        """)
      return
    }
    answer.print()
    guard answer.failure == nil else {
      Terminal.writeLine(
        "Your answer is not on the remote yet. When it can be reached: kinvault sync \(answer.remote)"
      )
      return
    }
    Terminal.writeLine(
      """
      Your answer is on the remote \(answer.remote). After the next \u{2018}kinvault sync\u{2019} of \(inviter) you are in \
      their \u{2018}kinvault people list\u{2019}, and they can share members with you; your next sync brings those.
      """)
  }
}
