import ArgumentParser
import MachineState
import RemoteStores
import Vault
import VaultModel

struct InviteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Invite another adult to this vault.",
    discussion: """
      Prints an invitation: one line, and a QR code at a terminal that has qrencode installed. Hand it over \
      in person or by a channel that you trust: whoever has it first is taken for the one you invited. It is \
      good once, for two weeks, and opens no record. The other one types it into \u{2018}kinvault join\u{2019}; after the next \
      exchange of files \u{2018}kinvault people list\u{2019} shows who joined, and you choose what to share.

      Examples:
        kinvault invite
        kinvault invite --remote cloud
        kinvault invite --remote /media/stick/Family --png invitation.png
      """)

  @Option(
    help: ArgumentHelp(
      "A remote of yours, or its address, that the other one can reach too; join takes the vault from there.",
      valueName: "remote"))
  var remote: String?

  @Option(
    help: ArgumentHelp(
      "Save the QR code as this new PNG file (mode 0600).", valueName: "file"),
    completion: .file())
  var png: String?

  @Flag(help: "Draw the QR code even if the output is no terminal.") var qr = false

  @OptionGroup var access: AccessOptions

  func run() throws {
    let address = try remote.map { try self.address(of: $0) } ?? ""
    try access.withVault(.writing) { vault in try show(vault.invite(remote: address).text) }
  }

  private func show(_ text: String) throws {
    Terminal.writeLine(text)
    if let png { try QRCode.save(text, to: png) }
    if qr {
      try QRCode.draw(text)
    } else if Terminal.isOutputTerminal {
      do { try QRCode.draw(text) } catch {
        Terminal.note("kinvault: \(error.message)")
      }
    }
  }

  /// The address of a remote that this machine knows, or that was typed, without anybody's login.
  private func address(of text: String) throws -> String {
    let vault = try Vault.describe(folder: access.folderOptions.folder()).vault
    let known = try RemoteRegistry.here(vault: vault).all().first { $0.name.string == text }
    let place = RemotePlace(user: nil, secretFile: nil)
    let (address, password) = try place.parse(known?.address ?? text)
    guard password == nil else {
      throw CommandError.usage(
        "A password does not belong into an invitation: the other one is asked for their own.")
    }
    var invited = address
    switch address {
    case .webDAV(var server):
      server.user = nil
      server.authorities = nil
      invited = .webDAV(server)
    case .s3(var bucket):
      // In files of this machine.
      bucket.profile = nil
      bucket.authorities = nil
      invited = .s3(bucket)
    case .directory, .rclone: break
    }
    do { try invited.requireHarmless(hasLogin: true) } catch {
      throw CommandError.usage(
        "An invitation cannot name this remote: \(error.message). Invite without it, and tell the other one the address "
          + "yourself: kinvault invite")
    }
    return invited.text
  }
}
