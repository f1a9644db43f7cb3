import SystemPackage

/// Something that another program keeps of a file below a mountpoint.
package struct Trace: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// A small picture of the file.
    case preview
    /// No picture, but the note that none could be made, with the file's path.
    case failedPreview = "failed-preview"
    /// An entry in a list of files that were used of late.
    case recentFile = "recent-file"
    /// Text that vim keeps while a file is edited, or after a crash.
    case vimSwapFile = "vim-swap-file"
    /// Where vim's cursor was.
    case vimHistory = "vim-history"
  }

  package var kind: Kind
  /// Where it is kept.
  package var place: FilePath
  /// The absolute path that it names; bytes, since a name need not be text.
  package var path: [UInt8]
}

/// What a look at other programs' files found.
package struct TraceReport: Hashable, Sendable {
  /// Something that could not be looked at, or not be removed.
  package struct Failure: Hashable, Sendable {
    package var place: String
    package var reason: String
  }

  /// What is there; of a look that removes, what was removed.
  package var traces: [Trace] = []
  package var failures: [Failure] = []

  package init() {}
}
