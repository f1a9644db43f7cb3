import VaultModel

/// Something found wrong in a vault, named so that a person can find it.
package struct Problem: Hashable, Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A file that another one names is not there.
    case missing
    /// A file is there, but does not authenticate or decode.
    case damaged
    /// A register is older than one that this machine has seen.
    case rollback
    /// Two registers with one counter.
    case fork
    /// A signature or certificate that does not hold, or whoever signed it might not; the file is ignored.
    case untrusted
    /// A note whose front matter does not parse; its text is kept.
    case unreadableFrontMatter
    /// A note that says a date which cannot be read, so that its record counts as one without a date.
    case unreadableDate
    /// A file that is no part of a vault: a sync tool's copy, a temporary name.
    case foreignFile
    /// A person's keys were changed in two places that did not know of each other; nobody gives them keys.
    case dividedKeys
    /// Something that is whole, and counts once something else has come: a file, an entry, a member without its key.
    case waiting
    /// More versions of a record that know nothing of one another than can be joined.
    case unjoined
    /// A file of a device that its person removed; it counts no more.
    case removedDevice
    /// A member that was made on a device which its person removed where nobody had met the member; they can bring it back.
    case unlisted
    /// This person has no access any more to a member that this device has written, or had it until a date that has passed.
    case accessEnded
    /// Whose access was to end with new keys could not be read any more; they were made for everyone who has it.
    case accessForgotten
    /// This machine was put back to an earlier state, or copied, and has become a device of its own.
    case parted
    /// This machine was left out and is a device again; what it had saved before that, and nobody had got, is taken along.
    case takenAlong
    /// What this machine had saved while its person could write, and nobody had got; they may only read now.
    case heldBack
    /// What an interrupted writer left behind; `collect` removes it.
    case leftover
    /// What was durable when a process died could not be made part of the vault yet; that is tried again.
    case unfinished
  }

  package enum Severity: String, Sendable, Comparable {
    case note
    case warning
    case damage

    private var rank: Int {
      switch self {
      case .note: 0
      case .warning: 1
      case .damage: 2
      }
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rank < rhs.rank }
  }

  package var kind: Kind
  package var severity: Severity
  /// The ciphertext file, relative to the vault folder.
  package var path: String
  /// What is wrong with it, in words.
  package var reason: String
  /// Whose records it belongs to; nil when that is not known.
  package var member: String?
  /// The record, as a path in the mounted view; nil when it concerns no single one.
  package var record: String?
  /// The file of the record, when one is concerned.
  package var item: String?
  /// True when only an older revision is concerned and what is current is whole.
  package var isOnlyInHistory: Bool

  package init(
    _ kind: Kind, _ severity: Severity, path: String, reason: String, member: String? = nil,
    record: String? = nil, item: String? = nil, isOnlyInHistory: Bool = false
  ) {
    self.kind = kind
    self.severity = severity
    self.path = path
    self.reason = reason
    self.member = member
    self.record = record
    self.item = item
    self.isOnlyInHistory = isOnlyInHistory
  }
}

extension Problem {
  /// Whether records may not show for it, or not as they were: what a device has written last of a member is missing or damaged,
  /// or older than it was; or a member cannot be opened. What such a head names may be on its way: that is not meant.
  package var mayHideRecords: Bool {
    guard severity > .note, path.hasPrefix("members/") else { return false }
    switch VaultPath(parsing: path) {
    case .head?, .memberRoot?, nil: break
    default: return false
    }
    switch kind {
    case .missing, .damaged, .rollback: return true
    default: return false
    }
  }
}
