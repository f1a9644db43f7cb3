import ArgumentParser
import Vault

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
        kinvault invite --remote /media/stick/Family --png invitation.png
      """)

  @Option(
    help: ArgumentHelp(
      "Where the other one can get a copy of the vault; stands in the invitation.",
      valueName: "address"))
  var remote: String?

  @Option(
    help: ArgumentHelp(
      "Save the QR code as this new PNG file (mode 0600).", valueName: "file"),
    completion: .file())
  var png: String?

  @Flag(help: "Draw the QR code even if the output is no terminal.") var qr = false

  @OptionGroup var access: AccessOptions

  func run() throws {
    let text = try access.withVault(.writing) { vault in
      try vault.invite(remote: remote ?? "").text
    }
    Terminal.writeLine(text)
    if let png { try QRCode.save(text, to: png) }
    if qr {
      try QRCode.draw(text)
    } else if Terminal.isOutputTerminal {
      do throws(CommandError) { try QRCode.draw(text) } catch {
        Terminal.note("kinvault: \(error.message)")
      }
    }
  }
}
