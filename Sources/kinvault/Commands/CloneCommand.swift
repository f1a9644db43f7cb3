import ArgumentParser
import BlobStore
import Glibc
import MachineState
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultSync

struct CloneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clone",
    abstract: "Bring a vault from a remote to this machine.",
    discussion: """
      Makes this machine a device of yours, with the 24 words and a new password, and fetches the records. A machine \
      that has a password for the vault already needs no words, and is asked before it takes another folder for the one \
      that it has. With --lazy the attachments stay on the remote until they are opened. A clone that was cut short goes \
      on with the same command, or with \u{2018}kinvault sync\u{2019}.

      Examples:
        kinvault clone /media/usb/Family ~/Family
        kinvault clone /media/usb/Family ~/Family --from-device
        kinvault clone "s3://family-vault?region=eu-central-1" ~/Family --lazy
        kinvault clone https://cloud.example.org/remote.php/dav/files/anna/Family ~/Family --user anna
      """)

  @Argument(help: "The remote's address, as for kinvault remote add.") var address: String
  @Argument(help: "The new folder.", completion: .directory) var folder: String

  @Option(help: ArgumentHelp("What the remote is called from now on.", valueName: "name"))
  var name = "origin"

  @Flag(help: "Leave attachments on the remote until they are opened.") var lazy = false

  @Option(
    help: ArgumentHelp(
      "With --lazy: keep no more than about this of the attachments here: 500M, 2G.",
      valueName: "size"))
  var cacheLimit: ByteCountArgument?

  @OptionGroup var login: LoginOptions

  @Flag(
    help:
      "Be approved by another device of yours instead: type the eight words of kinvault device add."
  )
  var fromDevice = false

  @Flag(
    help: ArgumentHelp(
      "Take all people, however many the remote shows.",
      discussion:
        "Without it those come first who take up little, and those whom you know later."))
  var all = false

  @Option(
    help: ArgumentHelp(
      "Take the words from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var wordsFile: String?

  @Flag(help: "Do not ask on a machine that is a device of the vault already.") var yes = false

  @OptionGroup var deviceOptions: NewDeviceOptions

  func validate() throws {
    guard cacheLimit == nil || lazy else {
      throw ValidationError("--cache-limit goes with --lazy.")
    }
  }

  func run() throws {
    do { try clone() } catch {
      guard Self.isOfFullDisk(error) else { throw error }
      throw CommandError.noRoom(
        "There is no room for the vault on the disk of \(Terminal.visible(folder)), or on that of what this machine keeps of "
          + "it. Make room, and give the same command again.")
    }
  }

  /// A remote may be full as well.
  private static func isOfFullDisk(_ error: any Error) -> Bool {
    if let error = error as? SyncError, case .vault(.noSpace) = error { return true }
    if let error = error as? VaultError, case .noSpace = error { return true }
    return false
  }

  private func clone() throws {
    guard let name = RemoteName(name) else {
      throw CommandError.usage("A remote's name is 1 to 64 of a-z, 0-9, - and _.")
    }
    let place = login.place
    let (address, password) = try place.parse(address)
    let proof = try place.login(for: address, password: password)
    var configuration = RemoteConfiguration(
      name: name, address: address.text, options: [KnownRemote.cloneOption: "unfinished"],
      created: FileTimestamp.now.milliseconds)
    let remote = try KnownRemote(configuration, login: proof)
    let target = VaultLocation.absolute(folder)
    if case .directory(let place) = address { try RemotePlace.requireApart(place, from: target) }
    let store = try remote.open()
    let state = try StateFolder.open(
      root: Environment.stateRoot, vault: VaultClone.description(of: store).vault)
    let registry = RemoteRegistry(state: state)
    try requireSameAddress(configuration, in: registry)
    let isMeant = try confirm(target, state)
    let beginning = try VaultClone.begin(from: store, into: target, takesStrangers: all)
    for problem in beginning.problems {
      Terminal.note(
        "kinvault: \(Terminal.visible(problem.path)): \(Terminal.visible(problem.text))")
    }
    let copy = try VaultCopy.here(in: target)
    // What is cut short once this machine is a device goes on as that one. One that is a device already may be asked first.
    if try !copy.hasDevice() { try noteBegin(of: configuration, in: registry) }
    let key =
      fromDevice
      ? try beApproved(target, at: remote)
      : try enrol(copy, in: target, replacing: isMeant)
    if let proof {
      configuration.credentials = proof.sealed(for: name, vault: beginning.vault, with: key)
    }
    try noteBegin(of: configuration, in: registry)
    if lazy {
      try state.storeLazySettings(
        LazySettings(cacheByteLimit: cacheLimit.map { UInt64($0.byteCount) }))
    }
    deviceOptions.keepUnlocked(key, vault: beginning.vault)
    try fill(target, from: remote, key: key)
  }

  /// The key of this machine, once another device has made it one.
  private func beApproved(_ folder: FilePath, at remote: KnownRemote) throws -> DeviceUnlockKey {
    let enquiry = DeviceEnquiry(wordsFile: wordsFile, machine: deviceOptions)
    let store = try remote.open()
    return try enquiry.run(in: folder) { path, bytes in
      try store.put(BlobPath(path.string), bytes)
    } fetch: {
      _ = try VaultClone.begin(from: store, into: folder, takesStrangers: all)
    }
  }

  /// Asks before a folder is begun on a machine that has the vault in another one.
  ///
  /// - Returns: Whether there was something to ask, and the person has said yes.
  private func confirm(_ folder: FilePath, _ state: StateFolder) throws -> Bool {
    // What an interrupted clone has begun is gone on with; who asks to be approved is told before they type anything.
    guard !fromDevice, !VaultLocation.hasDescription(folder), try state.hasDevice() else {
      return false
    }
    let consequence = wordsFile == nil ? "" : "\(Self.replacement)\n"
    try Confirmation.require(
      "\(Self.otherFolder)\n\(consequence)Go on with this folder?", isGiven: yes)
    return true
  }

  /// This machine's key: it is a device already, or becomes a new one.
  ///
  /// - Parameter isMeant: Whether another folder was given up for this one, so that a new one may take its place.
  private func enrol(
    _ copy: VaultCopy, in folder: FilePath, replacing isMeant: Bool
  ) throws -> DeviceUnlockKey {
    if try copy.hasDevice() {
      // What was cut short goes on as the device that it has made, also when it is given as before, with the words and --yes.
      let goesOn = try RemoteRegistry(state: copy.state).hasUnfinishedClone()
      if wordsFile == nil || goesOn && !isMeant {
        if let key = try SessionKeys.load(vault: copy.id),
          // That of the device that this machine was before opens nothing.
          try UnlockSlots(of: copy).opensDevice(key)
        {
          return key
        }
        return try SlotOpening.of(folder, passwordFile: deviceOptions.passwordFile).run(
          question: "This machine knows the vault. Its password: "
        ).takeKey()
      }
      try Confirmation.require(
        "\(Self.replacement)\nMake it a new device?", isGiven: yes || isMeant)
    }
    let words = try WordsInput.read(wordsFile: wordsFile)
    let password = try deviceOptions.newPassword()
    Terminal.note("Opening with the words; this takes a moment.")
    return try Vault.recover(
      copy, words: words, device: deviceOptions.machine(), password: password)
  }

  /// What is asked about where the machine has, or has had, another folder.
  private static let otherFolder = """
    This machine is a device of this vault already, or has asked to be one. It keeps one state of the vault, which goes with \
    one folder: of two that are used, one can be written to no more before long.
    If the other folder is lost, or you give it up for this one: yes. For a second copy beside it, with a device of its own: \
    no, and then XDG_STATE_HOME=FOLDER before this command and all that are for the new folder.
    """

  /// What is asked about where the words would make the machine another device.
  private static let replacement = """
    The words make this machine a new device of the vault: the password, the other ways to unlock it and the logins of \
    remotes that it has now are gone then. To go on as the device that it is: the same command without --words-file.
    """

  /// Before anything is done: a name that this machine knows is to be that of the same remote.
  private func requireSameAddress(
    _ configuration: RemoteConfiguration, in registry: RemoteRegistry
  ) throws {
    guard try registry.names().contains(configuration.name) else { return }
    guard try registry.load(configuration.name).address == configuration.address else {
      throw CommandError.alreadyExists(
        "This machine knows a remote \(configuration.name) of this vault at another address. Choose another --name."
      )
    }
  }

  /// Has this machine know the remote, and that not all of the vault has come from it yet.
  private func noteBegin(
    of configuration: RemoteConfiguration, in registry: RemoteRegistry
  ) throws {
    guard try registry.names().contains(configuration.name) else {
      return try registry.add(configuration)
    }
    try registry.update(configuration.name) {
      $0.options[KnownRemote.cloneOption] = configuration.options[KnownRemote.cloneOption]
      if let login = configuration.credentials { $0.credentials = login }
    }
  }

  private func fill(
    _ folder: FilePath, from remote: KnownRemote, key: borrowing DeviceUnlockKey
  ) throws {
    // What this machine remembers of the vault may be newer than a folder that begins empty.
    let vault = try Vault.open(
      .here(in: folder), key: key, options: OpenOptions(acceptRollback: true))
    vault.audit.note(.recovery)
    let outcome = SyncOutcome.syncing(
      remote, vault, SyncOutcome.Order(showsProgress: true), others: [])
    let (members, state) = (vault.members, vault.state)
    let recordCount = members.reduce(0) { $0 + max(0, $1.recordCount - 1) }
    // Where the sync has met a full disk this does too.
    let closed = Result { try vault.close() }
    if let failure = outcome.failure { throw cutShort(failure, in: folder) }
    try closed.get()
    outcome.print(keepingToldIn: state)
    Terminal.writeLine(
      "\(counted(members.count, "member")) with \(countedRecords(recordCount)) in \(folder). To see them: kinvault mount"
    )
    if outcome.needsAttention { throw CommandError.problemsFound }
  }

  /// It is told as the program ends with it, and how the rest is had.
  private func cutShort(_ failure: any Error, in folder: FilePath) -> CommandError {
    let report = FailureReport(failure)
    let place = Terminal.visible(folder.string)
    let reason =
      Self.isOfFullDisk(failure)
      ? "There is no room for all of the vault on the disk of \(place). Make some first."
      : report.message
    return .cutShort(
      "\(reason)\nNot all of the vault has come, so records are missing in \(place). To go on: "
        + "kinvault sync --vault \(ShellWord.quoted(folder.string))", report.status)
  }
}
