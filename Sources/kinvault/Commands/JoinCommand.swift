import ArgumentParser
import SystemPackage
import Vault
import VaultCrypto

struct JoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a vault that someone invited you to.",
    discussion: """
      Makes keys of your own, with a password for this machine and 24 words on paper. Name a copy of the \
      vault's folder, or an empty folder that you then exchange with the other one's. You see nothing until \
      someone shares a member with you.

      The invitation is asked for, or comes from a file: it is a secret, so it is never an argument.

      Examples:
        kinvault join --vault ~/Family
        kinvault join --vault ~/Family --invitation-file I --name Ben --password-file F --words-out W --yes
      """)

  @OptionGroup var folderOptions: FolderOptions

  @Option(
    help: ArgumentHelp(
      "Take the invitation from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var invitationFile: String?

  @Option(
    help: ArgumentHelp(
      "What you call yourself. Default: the name of this account.", valueName: "name"))
  var name: String?

  @Option(
    help: ArgumentHelp("What this machine is called. Default: its host name.", valueName: "name"))
  var device: String?

  @Option(
    help: ArgumentHelp("Take the new password from this file.", valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Option(
    help: ArgumentHelp(
      "Write the 24 words to this new file (mode 0600) instead of showing them.", valueName: "file"),
    completion: .file())
  var wordsOut: String?

  @Flag(help: "Do not ask to type some of the words back.")
  var yes = false

  func run() throws {
    guard let path = folderOptions.vault ?? Environment.value("KINVAULT_VAULT") else {
      throw CommandError.usage("Say where the vault is, or is to be: kinvault join --vault FOLDER")
    }
    let folder = VaultLocation.absolute(path)
    let invitation = try readInvitation()
    let password = try PasswordSource.configured(passwordFile: passwordFile).new()
    let sheet = try wordsOut.map { path throws(CommandError) in try WordsFile(creating: path) }
    let joined: CreatedVault
    do {
      let words = RecoveryWords.random()
      if let sheet {
        try sheet.write(words.words)
      } else {
        try WordsLesson(words: words.words).give(isShort: yes)
      }
      Terminal.note("Making the keys; this takes a moment.")
      joined = try Vault.join(
        invitation, folder: folder, stateRoot: Environment.stateRoot,
        device: .here(personName: name, deviceName: device), password: password, words: words)
    } catch {
      sheet?.remove()
      throw error
    }
    try SessionKeys.store(joined.unlockKey, vault: joined.id, timeout: SessionKeys.defaultTimeout)
    farewell(folder, invitation)
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

  private func farewell(_ folder: FilePath, _ invitation: Invitation) {
    if let wordsOut {
      Terminal.writeLine(
        "The 24 words are in \(wordsOut). Print them or copy them to paper, then delete the file.\n"
      )
    }
    let inviter =
      invitation.inviterName.isEmpty
      ? "whoever invited you" : Terminal.visible(invitation.inviterName)
    Terminal.writeLine("You have joined the vault of \(inviter), in \(folder).")
    if !invitation.remote.isEmpty {
      Terminal.writeLine("Another copy of it is at \(Terminal.visible(invitation.remote)).")
    }
    Terminal.writeLine(
      """
      Exchange this folder with the other one's (rsync, Syncthing, a stick). Then \(inviter) sees you in
      \u{2018}kinvault people list\u{2019} and can share members with you.
      """)
  }
}
