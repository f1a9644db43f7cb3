/// How this machine stands to a remote, as far as it knows without asking it.
package struct RemoteLine: Sendable {
  package let name: String
  /// Without secrets.
  package let address: String
  /// Commits that are here and not there yet.
  package let pending: UInt64
  /// When a sync went through, in milliseconds since 1970; nil before one did.
  package let lastSync: UInt64?
  /// What keeps it from being synced, and what a person has to look at.
  package let problems: [RemoteProblem]

  package init(
    name: String, address: String, pending: UInt64, lastSync: UInt64?, problems: [RemoteProblem]
  ) {
    self.name = name
    self.address = address
    self.pending = pending
    self.lastSync = lastSync
    self.problems = problems
  }
}
