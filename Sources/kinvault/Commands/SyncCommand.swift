import ArgumentParser
import BlobStore
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

  @Flag(help: "Look into every folder of the remotes, also where nothing seems to have changed.")
  var full = false

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard !(pull && push) else {
      throw ValidationError("--pull and --push exclude each other; without either, both are done.")
    }
    guard !(watch && (dryRun || json)) else {
      throw ValidationError("--watch goes with neither --dry-run nor --json.")
    }
  }

  func run() throws {
    if watch { return try SyncWatch(access: access, remotes: remotes, options: options).run() }
    let outcomes = try access.withVaultAndKey(.writing) { vault, key in
      let known = try KnownRemote.find(remotes, vault: vault.id, key: key)
      return known.map { SyncOutcome(syncing: $0, vault, options, showsProgress: !json) }
    }
    let failed = outcomes.first { $0.failure != nil }
    if json {
      try JSONOutput.print(outcomes)
    } else {
      // The first failure is what the program ends with, and is told then.
      outcomes.filter { $0.remote != failed?.remote }.forEach { $0.print() }
    }
    if let failure = failed?.failure { throw failure }
    if outcomes.contains(where: \.needsAttention) { throw CommandError.problemsFound }
  }

  private var options: SyncOptions {
    var options = SyncOptions()
    options.direction = pull ? .pull : push ? .push : .both
    options.isDryRun = dryRun
    options.acceptsMassChange = acceptMassChange
    options.looksEverywhere = full
    return options
  }
}
