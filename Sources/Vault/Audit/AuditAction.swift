/// What the audit log distinguishes; the text stands in the log.
package enum AuditAction: String, Sendable, CaseIterable {
  case unlock
  /// What was given to unlock with was wrong. Noted without keys.
  case refused
  /// The key was forgotten, or its time was up. Noted without keys.
  case lock
  case mount
  case unmount
  case read
  /// Words were looked for, in the member or in all. Neither these nor what was found is noted.
  case search
  case write
  case create
  case delete
  case export
  case restore
  /// Files or folders of this machine were copied into the vault by a command.
  case `import`
  case damage
  /// Something that was changed could not be saved.
  case unsaved
  /// What devices wrote without knowing of each other was joined, or what they wrote was taken over.
  case join
  case collect
  case repair
  case password
  case recovery
  /// Someone was invited, verified, or given access.
  case share
  /// Access was taken away: a new epoch was begun.
  case revoke
  /// This machine was put back to an earlier state, or copied, and goes on as a device of its own.
  case part
  /// A sync found something that nobody does who keeps to the format. Noted without keys.
  case tampering
  /// Somebody has looked at that.
  case acknowledge

  /// Whether a journal has events of this kind. Who has access the links say, and no event does.
  var isOfJournals: Bool {
    switch self {
    case .export, .restore, .delete, .import, .read: true
    default: false
    }
  }

  /// What may be noted without keys, and so by whoever can write to this machine's state.
  var needsNoKeys: Bool {
    switch self {
    case .refused, .lock, .tampering: true
    default: false
    }
  }
}
