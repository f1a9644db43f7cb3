import ArgumentParser
import Threads
import Vault
import VaultCrypto
import VaultModel

struct DeviceAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Approve a new machine of yours, without the 24 words.",
    discussion: """
      Run this on a device that you trust. It shows eight words and waits; type them on the new machine, into \
      \u{2018}kinvault clone ADDRESS FOLDER --from-device\u{2019}, or, where a copy of the vault's folder is already, into \
      \u{2018}kinvault device join\u{2019}. The words open nothing; they only show each machine that the other one is yours. \
      Both machines need a remote, or a folder that is carried between them, while they wait.

      Examples:
        kinvault device add
        kinvault device add --words-out W --yes --wait 5
      """)

  @Option(
    help: ArgumentHelp("How long to wait for the new machine, 1 to 10.", valueName: "minutes"))
  var wait = 10

  @Option(
    help: ArgumentHelp(
      "Write the eight words to this new file (mode 0600) instead of showing them.",
      valueName: "file"),
    completion: .file())
  var wordsOut: String?

  @Flag(help: "Take the machine that asks without asking about it.") var yes = false
  @Flag(help: "Draw the words as a QR code, too.") var qr = false

  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard (1...10).contains(wait) else { throw ValidationError("--wait is 1 to 10 minutes.") }
  }

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      let words = ApprovalWords.random(for: vault.person)
      let approvalKey = try vault.approvalKey(of: words)
      try show(words.words)
      let request = try waitForRequest(vault, remotes, approvalKey)
      try vault.approve(request, with: approvalKey)
      let failures = remotes.syncAll(vault, showsProgress: false)
      failures.forEach { Terminal.note("kinvault: \($0)") }
      Terminal.writeLine(
        "\(Terminal.visible(request.name)) is a device of yours now. It goes on as soon as this has reached it."
      )
    }
  }

  private func show(_ words: [String]) throws {
    if let wordsOut {
      try WordsFile(creating: wordsOut).write(words)
    } else {
      Terminal.writeLine("Type these eight words on the new machine:\n")
      Terminal.writeLine("  " + words.joined(separator: " ") + "\n")
      if qr { try QRCode.draw(words.joined(separator: " ")) }
    }
    Terminal.note(
      "Waiting for it, \(counted(wait, "minute")) at most. Ctrl-C stops waiting; nothing is changed then."
    )
  }

  /// - Throws: `refused` when nobody asks in time, or the only one who asks is declined.
  private func waitForRequest(
    _ vault: Vault, _ remotes: [KnownRemote], _ key: SealingKey
  ) throws -> RequestingDevice {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(wait * 60)
    var nextSync = clock.now
    var told: Set<String> = []
    var declined: Set<DeviceID> = []
    while clock.now < end {
      if clock.now >= nextSync {
        for failure in remotes.syncAll(vault, showsProgress: false)
        where told.insert(failure).inserted {
          Terminal.note("kinvault: \(failure)")
        }
        nextSync = clock.now + .seconds(5)
      }
      for request in try vault.requests(with: key) where !declined.contains(request.id) {
        if try isMeant(request) { return request }
        declined.insert(request.id)
      }
      SystemThread.pause(for: .milliseconds(500))
    }
    throw CommandError.refused(
      "No machine has asked in \(counted(wait, "minute")). To try again, with new words: kinvault device add"
    )
  }

  private func isMeant(_ request: RequestingDevice) throws -> Bool {
    let name = Terminal.visible(request.name)
    do {
      try Confirmation.require(
        "\(name) (\(request.id.digitsToCompare)) has the words and asks to be added. Does it show the same digits?",
        isGiven: yes)
      return true
    } catch {
      guard case .refused = error, TerminalPrompt() != nil else { throw error }
      Terminal.note(
        "\(name) was not added. Whoever it is knows the words: stop, and make new ones.")
      return false
    }
  }
}
