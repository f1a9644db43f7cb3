import ArgumentParser
import Glibc
import Log
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultFiles
import VaultModel
import VaultMount
import VaultSync

struct MountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mount",
    abstract: "Show the vault as a folder that any program can use.",
    discussion: """
      Returns when the folder can be used; the mount goes on in the background until \u{2018}kinvault unmount\u{2019}, or \
      until nobody used it for the --idle-timeout. The folder is made if it is missing, and goes with the mount; one that \
      was there loses its write permission and stays without, so that nothing is saved in it unencrypted while the vault is not \
      mounted (to have it back: \u{2018}chmod u+w FOLDER\u{2019}). Only you can look into it, unless you \
      say --allow-other: then the permission bits of files and folders decide, and the names of the members can be seen by all.

      One mount on a machine may be written to; others of the same vault want --read-only. To reach it under another name: a \
      link, or \u{2018}mount --bind\u{2019}.

      Programs that save all the time make many versions of a file. Of those that only this machine has seen the mount \
      keeps what --keep says, while it runs; what was synced stays until \u{2018}kinvault collect\u{2019}.

      Other programs keep previews and names of what you open. When the mount ends they are removed, after a crash by the \
      next mount; --keep-traces leaves them. To see what is kept: \u{2018}kinvault leaks\u{2019}.

      When a sync brings what others have written, the desktop says that the family vault has news, without a name and \
      at most every five minutes; --no-notices keeps it quiet. To see it within seconds: \u{2018}kinvault remote doorbell\u{2019}.

      Examples:
        kinvault mount ~/family-records
        kinvault mount ~/family-records --read-only --idle-timeout 30m
        kinvault mount ~/family-records --foreground
      """)

  @Argument(help: "Where: a folder that is empty or does not exist yet.", completion: .directory)
  var mountpoint: String

  @Flag(help: "Stay in the foreground until the mount ends (Ctrl-C ends it).") var foreground =
    false
  @Flag(help: "Refuse every change.") var readOnly = false
  @Flag(help: "Let other users of this machine in, as far as permission bits allow.")
  var allowOther = false

  @Option(help: ArgumentHelp("Unmount after this time without use: 30m, 2h.", valueName: "time"))
  var idleTimeout: TimeArgument?

  @Flag(help: "Do not sync with the remotes while mounted.") var noSync = false
  @Flag(help: "Do not say on the desktop that others have written something.")
  var noNotices = false

  @Option(
    help: ArgumentHelp(
      "Which versions stay that no remote and no other device has seen: the last of each minute for an hour, of each hour "
        + "for a day, then of each day; or \u{2018}all\u{2019}.", valueName: "policy"))
  var keep = KeepPolicy.standard
  @Flag(help: "When it ends, leave what other programs keep of it where it is.")
  var keepTraces = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    // First of all: it decides what becomes of the descriptors that this process was started with.
    if let pipe = ReadinessPipe.inherited() {
      serveInBackground(pipe)
    } else if foreground {
      try serveInForeground()
    } else {
      try startInBackground()
    }
  }

  // MARK: The process that the person waits for

  private func startInBackground() throws {
    let folder = try access.folderOptions.folder()
    let place = VaultLocation.absolute(mountpoint)
    try refuseSecond(of: folder)
    let unlocked = try access.unlockKey(folder: folder)
    var arguments = ["mount", "--vault", folder.string]
    if readOnly { arguments.append("--read-only") }
    if allowOther { arguments.append("--allow-other") }
    if noSync { arguments.append("--no-sync") }
    if noNotices { arguments.append("--no-notices") }
    arguments += ["--keep", keep.description]
    if keepTraces { arguments.append("--keep-traces") }
    if access.acceptRollback { arguments.append("--accept-rollback") }
    if let idleTimeout { arguments += ["--idle-timeout", "\(idleTimeout.seconds)s"] }
    // Not yet without links: other programs may know the place by this name.
    arguments += ["--", VaultLocation.named(mountpoint).string]
    do {
      try launch(arguments, key: unlocked.key)
    } catch let error {
      // The process in the background has nobody to ask whether an older folder is meant to be; this one may have.
      guard FailureReport(error).status == .refused,
        try access.confirmRollback(folder, key: unlocked.key, use: readOnly ? .reading : .writing)
      else { throw error }
      try launch(["mount", "--accept-rollback"] + arguments.dropFirst(), key: unlocked.key)
    }
    let vault = try Vault.describe(folder: folder).vault
    try RemoteStatus.tellDecisions(of: vault)
    PreviewNotice.tellOnce(try VaultTraces.open(vault: vault), keepsTraces: keepTraces)
    Terminal.note("Mounted at \(place). To unmount: kinvault unmount \(place)")
  }

  /// Before anybody is asked for a password.
  private func refuseSecond(of folder: FilePath) throws {
    if readOnly { return }
    let state = Environment.stateRoot.appending(try Vault.describe(folder: folder).vault.hex)
    try Mount.refuseSecond(at: FilePath(mountpoint), stateFolder: state)
  }

  private func launch(
    _ arguments: [String], key: borrowing DeviceUnlockKey
  ) throws(MountError) {
    let result = key.withUnsafeBytes { secret in
      Result { () throws(MountError) in
        try BackgroundLauncher.launch(arguments: arguments, secret: secret)
      }
    }
    let note = try result.get()
    if !note.isEmpty { Terminal.note(note) }
  }

  private func serveInForeground() throws {
    try refuseSecond(of: access.folderOptions.folder())
    let (vault, remotes) = try access.openWithRemotes(readOnly ? .reading : .writing) {
      MountLog.begin($0, isWatched: true)
    }
    let traces = try VaultTraces.open(vault: vault.id)
    if !keepTraces { traces.cleanEnded().forEach(Terminal.note) }
    let ending = try serve(vault, remotes, traces) { mount in
      PreviewNotice.tellOnce(traces, keepsTraces: keepTraces)
      Terminal.note("Mounted at \(mount.mountpoint). To unmount: Ctrl-C, or kinvault unmount")
    }
    if case .idle = ending { Terminal.note("Unmounted: nobody used it for a while.") }
  }

  // MARK: The process in the background

  private func serveInBackground(_ pipe: consuming ReadinessPipe) {
    var pipe: ReadinessPipe? = consume pipe
    var log = BackgroundLog.silent
    do {
      var secret = SecretBytes(count: DeviceUnlockKey.size)
      let count = secret.withUnsafeMutableBytes { InheritedSecret.read(into: $0) }
      guard count == DeviceUnlockKey.size else {
        throw CommandError.locked("The background process did not get the key.")
      }
      let key = DeviceUnlockKey(secret)
      let folder = try access.folderOptions.folder()
      log = MountLog.begin(try Vault.describe(folder: folder).vault, isWatched: false)
      let vault = try access.open(folder, key: key, use: readOnly ? .reading : .writing, log: log)
      let remotes = try access.remotes(of: vault, key: key)
      let traces = try VaultTraces.open(vault: vault.id)
      let left = keepTraces ? [] : traces.cleanEnded()
      _ = try serve(vault, remotes, traces) { _ in
        var notes = AccessOptions.notes(on: vault) + left
        // Not before the mount is up: it is told once.
        log.attempt(.audit) { () throws(VaultError) in
          try AccessOptions.tellWhatWasNoted(in: vault) { notes.append($0) }
        }
        pipe.take()?.report(.ready(note: notes.joined(separator: "\n")))
      }
    } catch {
      let report = FailureReport(error)
      guard let pipe = pipe.take() else {
        // The mount was up. Whoever ended it is told by `unmount`; a signal or an idle mount has nobody.
        log.failed(.ending, error)
        endProcess(report.status.rawValue)
      }
      pipe.report(.failed(message: report.encoded))
      endProcess(report.status.rawValue)
    }
  }

  // MARK: Serving

  /// Serves until the mount ends, then closes the vault.
  private func serve(
    _ vault: Vault, _ remotes: [KnownRemote], _ traces: VaultTraces, ready: (Mount) -> Void
  ) throws -> Mount.Ending {
    let setup = try MountSetup(
      mountpoint: FilePath(self.mountpoint), vault: access.folderOptions.folder(),
      stateFolder: Environment.stateRoot.appending(vault.id.hex), options: mountOptions(of: vault))
    let sync = setup.options.isReadOnly ? nil : syncService(of: vault, remotes)
    var closed: Result<Void, any Error>?
    var mountpoint: FilePath?
    func close(isWhole: Bool) {
      sync?.stop()
      if isWhole { vault.audit.note(.unmount) }
      // What could not be saved, by its names.
      if !isWhole, mountpoint != nil { AccessOptions.notes(on: vault).forEach(Terminal.note) }
      closed = Result { try vault.close() }
      if let mountpoint { tell(traces.clean(at: mountpoint), vault.log) }
    }
    let result = Result {
      try MountService.run(
        FileTree.load(vault: vault, options: treeOptions(of: vault)), setup,
        ready: { mount in
          noteBegin(of: vault, remoteCount: remotes.count)
          mountpoint = mount.mountpoint
          let name = VaultLocation.named(self.mountpoint)
          tell(traces.note(mount.mountpoint, named: name, keepsTraces: keepTraces), vault.log)
          sync?.start { mount.requestCount }
          ready(mount)
        }, closing: close)
    }
    // There was no mount.
    if closed == nil { close(isWhole: false) }
    try closed?.get()
    let ending = try result.get()
    vault.log.succeeded(.ending)
    vault.log.note("mount ends")
    return ending
  }

  private func tell(_ complaints: [String], _ log: BackgroundLog) {
    complaints.forEach(Terminal.note)
    log.note(complaints)
  }

  private func noteBegin(of vault: Vault, remoteCount: Int) {
    vault.audit.note(.mount)
    vault.log.attempt(.audit) { () throws(VaultError) in try vault.audit.keep() }
    vault.log.note("mount begins", ["remotes": LogValue(remoteCount)])
  }

  /// What the tree shows, and to whom.
  private func treeOptions(of vault: Vault) -> FileTreeOptions {
    var options = FileTreeOptions(uid: getuid(), gid: getgid())
    options.isReadOnly = readOnly
    options.checksPermissions = !allowOther
    // Others get as far as the members' folders, whose permission bits decide.
    if allowOther { options.topMode = 0o755 }
    options.thinning = Thinning(keep) { vault.seenByRemotes(of: $0.id) }
    return options
  }

  /// What the kernel is asked for.
  private func mountOptions(of vault: Vault) -> MountOptions {
    var options = MountOptions()
    options.allowsOthers = allowOther
    options.isReadOnly = readOnly || vault.isReadOnly
    options.idleTimeout = idleTimeout?.duration
    return options
  }

  /// What syncs while the mount is up; nil where nothing does. Not for a mount that is read-only: what is only looked at
  /// is not changed by others' commits either.
  private func syncService(of vault: Vault, _ remotes: [KnownRemote]) -> SyncService? {
    if noSync || remotes.isEmpty { return nil }
    let notice = noNotices ? nil : DesktopNotice()
    return SyncService(vault: vault, remotes: remotes) { notice?.tell(of: $0) }
  }
}
