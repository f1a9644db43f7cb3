import VaultModel

extension Item {
  /// What kind of file it is, by its media type or the ending of its name; nil for what is no file, and for one of none of
  /// these kinds. What stands in it is not looked at.
  ///
  /// - Parameter ending: In small letters, without the point.
  package func form<Form>(
    mediaType kind: (String) -> Form?, ending kindOfEnding: (Substring) -> Form?
  ) -> Form? {
    guard isFile else { return nil }
    if let found = kind(mediaType) { return found }
    return ending.flatMap { kindOfEnding($0[...]) }
  }

  /// Whether neither its media type nor its name says what it is, as of the files on a patient's disc, whose names are numbers,
  /// words like `IM000001`, or UIDs (`1.2.840.…`). Then only what stands in it can.
  package var isOfUnsaidForm: Bool {
    guard isFile, mediaType.isEmpty else { return false }
    return ending.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? true
  }

  private var isFile: Bool {
    switch content {
    case .inline, .chunks, .indexes: true
    case .none, .symlink: false
    }
  }

  /// In small letters, without the point; nil where the name has no point.
  private var ending: String? {
    let parts = name.string.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last else { return nil }
    return String(last)
  }
}
