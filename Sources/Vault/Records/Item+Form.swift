import VaultModel

extension Item {
  /// What kind of file it is, by its media type or the ending of its name; nil for what is no file, and for one of none of
  /// these kinds. What stands in it is not looked at.
  ///
  /// - Parameter ending: In small letters, without the point.
  package func form<Form>(
    mediaType kind: (String) -> Form?, ending kindOfEnding: (Substring) -> Form?
  ) -> Form? {
    switch content {
    case .inline, .chunks, .indexes: break
    case .none, .symlink: return nil
    }
    if let found = kind(mediaType) { return found }
    let parts = name.string.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last else { return nil }
    return kindOfEnding(last)
  }
}
