import ArgumentParser
import MachineState
import Vault
import VaultModel
import VaultSync

struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Bring this machine and its remotes to the same state.",
    discussion: """
      Takes what other devices have put on the remotes, joins it with what is here, and puts there what they do \
      not have. Nothing is overwritten: of two changes of one thing the later counts and the other is kept (kinvault \
      conflicts). May be interrupted at any time; the next sync goes on. Without names: all remotes.

      Examples:
        kinvault sync
        kinvault sync usb --dry-run
        kinvault sync cloud --push
        kinvault sync --watch
      """)

  @Argument(help: "Remotes; all when none is named.") var remotes: [String] = []
  @Flag(help: "Only take what is on the remotes.") var pull = false
  @Flag(help: "Only put what is here.") var push = false
  @Flag(help: "Say what would move, and move nothing.") var dryRun = false
  @Flag(help: "Go on for ever: sync whenever something changes here or there.") var watch = false

  @Flag(
    help: ArgumentHelp(
      "Join also what would delete or conflict more than half of a member.",
      discussion: "Without it such a sync stops before it changes anything."))
  var acceptMassChange = false

  @Flag(
    help: ArgumentHelp(
      "Take also what people have put there whom nobody has let in whom you know, whatever it weighs.",
      discussion: "Without it no more than 64 MiB and 4,096 files of theirs are kept here."))
  var all = false

  @Flag(
    help: ArgumentHelp(
      "Look into every folder of the remotes, also where nothing seems to have changed.",
      discussion: "Files that a remote has lost are put back. Without it that is done once a week.")
  )
  var full = false

  @Flag(
    help: ArgumentHelp(
      "Carry what is encrypted, without the password.",
      discussion: "What it brings is joined when the vault is unlocked and synced."))
  var locked = false

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard !(pull && push) else {
      throw ValidationError("--pull and --push exclude each other; without either, both are done.")
    }
    guard !(watch && (dryRun || json || locked)) else {
      throw ValidationError("--watch goes with none of --dry-run, --json and --locked.")
    }
  }

  func run() throws {
    if watch { return try SyncWatch(access: access, remotes: remotes, options: options).run() }
    let outcomes = try locked ? syncLocked() : syncUnlocked()
    let failed = outcomes.filter { $0.failure != nil }
    if let failure = failed.first?.failure {
      if json || outcomes.count == 1 { throw failure }
      throw CommandError.notSynced(failed.map(\.remote), FailureReport(failure).status)
    }
    if outcomes.contains(where: \.needsAttention) { throw CommandError.problemsFound }
  }

  private func tell(_ outcomes: [SyncOutcome], keepingToldIn state: StateFolder) throws {
    if json { return try JSONOutput.print(outcomes) }
    // Where there is but one, its failure is what the program ends with, and is told then.
    if outcomes.count == 1, outcomes[0].failure != nil { return }
    for outcome in outcomes { outcome.print(keepingToldIn: state) }
  }

  private func syncUnlocked() throws -> [SyncOutcome] {
    do {
      return try access.withDeferredVault(.writing) { vault in
        let known = try KnownRemote.find(remotes, vault: vault.id, key: vault.unlocked.key)
        let outcomes = try known.map { try sync($0, vault) }
        try tell(outcomes, keepingToldIn: VaultCopy.here(in: vault.folder).state)
        return outcomes
      }
    } catch let error as CommandError {
      // Run from a timer while the vault is locked.
      guard case .locked = error else { throw error }
      Terminal.note(
        "kinvault: The vault is locked: what is encrypted is carried, and joined when it is unlocked."
      )
      return try syncLocked()
    }
  }

  /// Opens the vault only as far as it must be.
  private func sync(_ known: KnownRemote, _ vault: DeferredVault) throws -> SyncOutcome {
    var seen: RemoteSight?
    if vault.mayStayClosed, !known.configuration.isUnfinishedClone {
      switch try SyncOutcome.quick(known, vault, options) {
      case .ended(let outcome): return outcome
      case .notEnough(let found): seen = found
      }
    }
    let all = try KnownRemote.whole(of: vault.id, key: vault.unlocked.key)
    let opened = try vault.opened()
    let outcome = SyncOutcome.syncing(known, opened, order, others: all, seen: seen)
    if outcome.tellsOfParting { try opened.partingIsTold() }
    return outcome
  }

  private func syncLocked() throws -> [SyncOutcome] {
    let folder = try access.folderOptions.folder()
    try MountCommits.request(in: folder)
    let vault = try Vault.describe(folder: folder).vault
    let outcomes = try KnownRemote.configurations(remotes, vault: vault).map { configuration in
      let known = try KnownRemote(locked: configuration)
      let copy = try VaultCopy.here(in: folder)
      return SyncOutcome.of(known, order, in: copy) { store, options, progress in
        try RemoteSync(
          .locked(copy), remote: store, name: known.name, options: options
        ).run(progress: progress)
      }
    }
    try tell(outcomes, keepingToldIn: VaultCopy.here(in: folder).state)
    return outcomes
  }

  private var order: SyncOutcome.Order {
    SyncOutcome.Order(options: options, showsProgress: !json, waits: true)
  }

  private var options: SyncOptions {
    var options = SyncOptions()
    options.direction = pull ? .pull : push ? .push : .both
    options.isDryRun = dryRun
    options.acceptsMassChange = acceptMassChange
    options.looksEverywhere = full
    options.takesStrangers = all
    return options
  }
}
