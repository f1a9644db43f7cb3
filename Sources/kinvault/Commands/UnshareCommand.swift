import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct UnshareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unshare",
    abstract: "Take an adult's access to a member away.",
    discussion: """
      The member gets a new key, everything of it is encrypted anew, and the old files go away here and, with the next \
      sync, on the remotes. What the other one has copied until now cannot be recalled. Only owners can do it; it \
      goes on by itself after an interruption.

      Examples:
        kinvault unshare Emma --with Ben
        kinvault unshare Emma --with "Dr. Grey" --drop-history
      """)

  @Argument(help: "The member.", completion: MemberCompletion.kind) var member: String

  @Option(
    help: ArgumentHelp(
      "The other one: their name, or the first digits of their id.", valueName: "person"))
  var with: String

  @Flag(help: "Keep only the current versions: older ones and deleted records are gone.")
  var dropHistory = false

  @OptionGroup var access: AccessOptions

  func run() throws {
    // What was interrupted is gone on with by the command itself.
    try access.withDeferredVault(.writing) { deferred in
      let vault = try deferred.opened()
      let member = try RecordLookup(vault: vault).member(named: member)
      let people = try PersonLookup.load(of: vault)
      let other = try people.find(with)
      let hasAccess = try member.accesses().contains { $0.person == other.id }
      guard hasAccess || member.followsHeads(afterLeaving: other.id) else {
        throw CommandError.notFound(
          "\(other.shownName) has no access. Who can read what: kinvault access list")
      }
      let bar = ProgressBar(.items)
      defer { bar.finish() }
      let name = Terminal.visible(member.name.string)
      do throws(VaultError) {
        try vault.beginEpoch(of: member, without: [other.id], keepsHistory: !dropHistory) {
          bar.update($0)
        }
      } catch {
        guard case .moreSenior = error else { throw error }
        throw CommandError.notPermitted(
          "\(other.shownName) has been an owner of \(name) for longer than you, so you cannot take their access away. They "
            + "can give it up themselves: kinvault leave, or kinvault hand-over. If they are lost for good: kinvault member renew. Who can "
            + "read what: kinvault access list"
        )
      }
      let failures = vault.removeOldObjects()
      bar.finish()
      Terminal.writeLine("\(other.shownName) has no access to \(name) any more.")
      failures.tell("Files under its old keys could not be removed", in: vault)
      vault.tellLeftBehind()
      Terminal.note(
        "kinvault: What \(other.shownName) has copied until now cannot be recalled: this is about what is written "
          + "from now on. Sync, so that the remotes have it too.")
    }
  }
}
