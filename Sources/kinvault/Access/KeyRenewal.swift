import Vault

/// What stands around new keys of a person: the remotes are asked for what other machines have done, and afterwards
/// everything of the members that they own is encrypted anew.
struct KeyRenewal {
  let vault: Vault

  /// Takes in what other machines have put on the remotes, before the keys are changed.
  ///
  /// - Parameter loss: What may come of it where a remote cannot be reached.
  func meet(_ remotes: [KnownRemote], loss: String) {
    let failures = remotes.syncAll(vault, showsProgress: true)
    failures.forEach { Terminal.note("kinvault: \($0)") }
    if !failures.isEmpty {
      Terminal.note(
        "kinvault: \(loss) If another machine of yours has changed your keys and synced only there, your 24 words "
          + "will have to join the two: kinvault recovery join")
    }
  }

  /// - Throws: What beginning an epoch throws; what was begun goes on with the next sync.
  func run() throws {
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    var others: [String] = []
    for member in vault.members {
      let name = Terminal.visible(member.name.string)
      guard member.role == .owner else {
        others.append(name)
        continue
      }
      try vault.beginEpoch(of: member, without: []) { bar.update($0) }
      bar.finish()
      Terminal.writeLine("\(name) has been encrypted anew.")
    }
    try vault.removeOldObjects()
    vault.tellLeftBehind()
    if !others.isEmpty {
      Terminal.note(
        "kinvault: \(others.joined(separator: ", ")): an owner's device encrypts this anew when it syncs."
      )
    }
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
