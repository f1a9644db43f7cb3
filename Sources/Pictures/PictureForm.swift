import VaultModel

/// What kind of file a picture can be made of.
package enum PictureForm: Hashable, Sendable {
  /// One picture; of TIFF it may be several, which are its pages.
  case image
  /// Pages.
  case pdf

  /// By its media type or its name; nil for a file that there is no picture of. What stands in it is not looked at.
  package init?(of item: Item) {
    switch item.content {
    case .inline, .chunks, .indexes: break
    case .none, .symlink: return nil
    }
    guard let form = Self.form(mediaType: item.mediaType) ?? Self.form(name: item.name) else {
      return nil
    }
    self = form
  }

  private static func form(mediaType: String) -> Self? {
    switch mediaType {
    case "image/jpeg", "image/png", "image/webp", "image/gif", "image/tiff", "image/heic",
      "image/heif":
      .image
    case "application/pdf": .pdf
    default: nil
    }
  }

  private static func form(name: FileName) -> Self? {
    let parts = name.string.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return nil }
    return switch parts.last {
    case "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "heic", "heif": .image
    case "pdf": .pdf
    default: nil
    }
  }
}
