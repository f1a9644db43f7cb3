import ArgumentParser
import SystemPackage
import Threads
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct DeviceJoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Make this machine a device of yours, with the words that another one shows.",
    discussion: """
      For a machine where a copy of the vault's folder is already, carried by Syncthing, a stick or the like. Run \
      \u{2018}kinvault device add\u{2019} on a device that you trust, and type its eight words here. With a remote, \
      \u{2018}kinvault clone ADDRESS FOLDER --from-device\u{2019} does the same.

      Examples:
        kinvault device join --vault ~/Family
        kinvault device join --vault ~/Family --words-file W --password-file F
      """)

  @Option(
    help: ArgumentHelp(
      "Take the eight words from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var wordsFile: String?

  @OptionGroup var deviceOptions: NewDeviceOptions
  @OptionGroup var folderOptions: FolderOptions

  func run() throws {
    let folder = try folderOptions.folder()
    let enquiry = DeviceEnquiry(wordsFile: wordsFile, machine: deviceOptions)
    let key = try enquiry.run(in: folder) { _, _ in
    } fetch: {
    }
    let vault = try Vault.open(
      .here(in: folder), key: key, options: OpenOptions(acceptRollback: true))
    vault.audit.note(.recovery, detail: "device join")
    let id = vault.id
    try vault.close()
    let isUnlocked = deviceOptions.keepUnlocked(key, vault: id)
    let more = isUnlocked ? ", and the vault is unlocked" : ""
    Terminal.writeLine("This machine is a device of yours now\(more).")
  }
}

/// How a new machine asks to be approved, and waits for it.
struct DeviceEnquiry {
  let wordsFile: String?
  let machine: NewDeviceOptions

  /// Words are good for ten minutes.
  private static let patience: Duration = .seconds(600)

  /// - Parameters:
  ///   - send: Brings the request to where the other device looks.
  ///   - fetch: Brings the people's files from there into the folder.
  /// - Returns: What unlocks the new device.
  /// - Throws: `alreadyExists`, before anything is asked, on a machine that is a device already.
  func run(
    in folder: FilePath, send: (VaultPath, [UInt8]) throws -> Void, fetch: () throws -> Void
  ) throws -> DeviceUnlockKey {
    let copy = try VaultCopy.here(in: folder)
    guard try !copy.hasDevice() else {
      throw CommandError.alreadyExists(
        "This machine is a device of this vault already, which its password opens. If that is lost, or the device was "
          + "removed: kinvault recover")
    }
    let words = try WordsInput.readApproval(wordsFile: wordsFile)
    let password = try machine.newPassword()
    Terminal.note("Making the keys; this takes a moment.")
    let device = try machine.machine()
    let pending: PendingDevice
    do {
      pending = try PendingDevice.begin(copy, words: words, device: device, password: password)
    } catch {
      guard case .wrongWords = error else { throw error }
      throw CommandError.wrongSecret(
        "These eight words are for another vault, or for nobody whose files have come here yet.")
    }
    for (path, bytes) in pending.requests { try send(path, bytes) }
    let ids = pending.ids.map(\.digitsToCompare)
    if ids.count > 1 {
      Terminal.note("The words may be for \(ids.count) people, so it asks each as another machine.")
    }
    Terminal.note(
      "This machine asks as \(ids.joined(separator: " or ")). Waiting for the other device, ten minutes at most."
    )
    let clock = ContinuousClock()
    let end = clock.now + Self.patience
    while clock.now < end {
      if try pending.finish() { return pending.takeUnlockKey() }
      SystemThread.pause(for: .seconds(1))
      try fetch()
    }
    throw CommandError.refused(
      "The other device has not approved this one in ten minutes. Begin again there: kinvault device add"
    )
  }
}
