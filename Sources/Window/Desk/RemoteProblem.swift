/// What is wrong with a remote, or was found there.
package struct RemoteProblem: Sendable {
  /// As far as people need to tell problems apart to know what they mean for them: the page has words for each.
  package enum Kind: String, CaseIterable, Sendable {
    /// Nobody answers there, or not now.
    case unreachable
    /// The remote does not let this machine in, or do that.
    case denied
    /// There is no room there.
    case full
    /// Whoever answers is not the remote, as far as can be told.
    case unproven
    /// The remote is empty, and held the vault before.
    case emptied
    /// Something else lies there than this vault.
    case notThisVault
    /// So much would be removed or changed that somebody has to say that it is meant.
    case massChange
    /// The remote shows an older state than it did, or than somebody has seen.
    case wentBack
    /// What lies there has no right to, is of nobody, or there is too much of it.
    case strange
    /// What lies there is damaged, or missing.
    case damagedThere
    case damagedHere
    /// This machine has become a device of its own.
    case parted
    /// Access that is to be taken away, and is not yet.
    case access
    /// Whose access was to be taken away cannot be read any more.
    case accessForgotten
    /// What counts once something else has come.
    case waiting
    /// Anything else for which a sync did not go through.
    case failed

    /// What it means for people that a sync has found this, which nobody does who keeps to the format.
    ///
    /// - Parameter kind: As the log and this machine's state have it.
    init(ofFinding kind: some StringProtocol) {
      switch kind {
      case "wentBack", "rollback": self = .wentBack
      case "damagedThere": self = .damagedThere
      default: self = .strange
      }
    }
  }

  package let remote: String
  package let kind: Kind
  /// Exactly what, in the words of commands.
  package let text: String

  package init(remote: String, kind: Kind, text: String) {
    (self.remote, self.kind, self.text) = (remote, kind, text)
  }
}
