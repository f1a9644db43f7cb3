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
    /// Text that vim keeps of a file so that changes can be undone later.
    case vimUndoFile = "vim-undo-file"
    /// Where vim's cursor was.
    case vimHistory = "vim-history"
    /// Where nano's cursor was.
    case nanoHistory = "nano-history"
    /// A document that LibreOffice had open, in its list of recent ones or of those to give back after a crash.
    case libreOfficeHistory = "libreoffice-history"
    /// A copy of an open document that LibreOffice makes for a crash.
    case libreOfficeCopy = "libreoffice-copy"
    /// How Okular showed a document.
    case okularView = "okular-view"
    /// A document in Okular's list of recent ones.
    case okularHistory = "okular-history"
    /// An indexer's database with names and words of files; the path is the mountpoint's.
    case fileIndex = "file-index"

    /// Whether it may be all that is left of somebody's work: what was typed, and not saved before a crash.
    package var mayBeUnsavedWork: Bool { self == .vimSwapFile || self == .libreOfficeCopy }
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
  /// What a look that removes has left where it is, since it may be work that was never saved.
  package var unsavedWork: [Trace] = []
  package var failures: [Failure] = []

  package init() {}
}
