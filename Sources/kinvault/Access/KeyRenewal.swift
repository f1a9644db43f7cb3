import Vault
import VaultErrors
import VaultModel

/// What stands around new keys of a person: the remotes are asked for what other machines have done, and afterwards
/// everything of the members that they own is encrypted anew.
struct KeyRenewal {
  let vault: Vault

  /// Takes in what other machines have put on the remotes, before the keys are changed.
  ///
  /// - Parameter loss: What may come of it where a remote cannot be reached, or not everything that it has was taken.
  func meet(
    _ remotes: [KnownRemote],
    loss: String = "What stands only on a remote that could not be synced now is not here yet."
  ) {
    let failures = remotes.syncAll(vault, showsProgress: true)
    failures.forEach { Terminal.note("kinvault: \($0)") }
    if !failures.isEmpty {
      Terminal.note(
        "kinvault: \(loss) If another machine of yours has changed your keys and synced only there, your 24 words "
          + "will have to join the two: kinvault recovery join")
    }
  }

  /// Encrypts every member anew that this person owns, and syncs, whatever fails: until the remotes know which keys are
  /// closed, nobody is locked out by that.
  ///
  /// - Throws: `problemsFound` where something has failed, which is told by then; the next sync tries it again.
  func run(_ remotes: [KnownRemote]) throws(CommandError) {
    let failures = encryptAnew()
    vault.removeOldObjects().tell("Files under its old keys could not be removed", in: vault)
    vault.tellLeftBehind()
    remotes.syncAll(vault, showsProgress: true).forEach { Terminal.note("kinvault: \($0)") }
    if failures.isEmpty { return }
    failures.tell("It was not encrypted anew, which the next sync tries again", in: vault)
    throw .problemsFound
  }

  /// - Returns: What has failed.
  private func encryptAnew() -> [MemberFailure] {
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    var others: [String] = []
    var failures: [MemberFailure] = []
    for member in vault.members {
      let name = Terminal.visible(member.name.string)
      guard member.role == .owner else {
        others.append(name)
        continue
      }
      do {
        try vault.beginEpoch(of: member, without: []) { bar.update($0) }
        bar.finish()
        Terminal.writeLine("\(name) has been encrypted anew.")
      } catch {
        failures.append(MemberFailure(member.id, error))
      }
    }
    if !others.isEmpty {
      Terminal.note(
        "kinvault: \(others.joined(separator: ", ")): an owner's device encrypts this anew when it syncs."
      )
    }
    return failures
  }
}

extension Vault {
  /// Says what could not be encrypted anew.
  func tellLeftBehind() {
    for problem in takeLeftBehind() {
      Terminal.note("kinvault: \(Terminal.visible(problem.member ?? "")): \(problem.reason)")
    }
  }
}
