import Vault

/// What follows new keys of a person: everything of the members that they own is encrypted anew.
struct KeyRenewal {
  let vault: Vault

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
    if !others.isEmpty {
      Terminal.note(
        "kinvault: \(others.joined(separator: ", ")): an owner's device encrypts this anew when it syncs."
      )
    }
  }
}
