import VaultModel

/// What a sync does with one statement, a file that is written once. Docs/Sync.md, "Statements".
package enum StatementPlan: Hashable, Sendable {
  /// Both have it.
  case leave
  case take
  case put
  /// Both have a file of this name, and the files differ: one of them is damaged or planted. The one here, which
  /// was verified, stays.
  case differ

  package init(local: FileHash?, remote: FileHash?) {
    self =
      switch (local, remote) {
      case (nil, nil): .leave
      case (nil, .some): .take
      case (.some, nil): .put
      case (let local?, let remote?): local == remote ? .leave : .differ
      }
  }
}
