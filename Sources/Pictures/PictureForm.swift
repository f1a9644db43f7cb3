import Vault
import VaultModel

/// What kind of file a picture can be made of.
package enum PictureForm: Hashable, Sendable {
  /// One picture; of TIFF it may be several, which are its pages.
  case image
  /// Pages.
  case pdf

  /// By its media type or its name; nil for a file that there is no picture of. What stands in it is not looked at.
  package init?(of item: Item) {
    guard let form = item.form(mediaType: Self.form(mediaType:), ending: Self.form(ending:)) else {
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

  private static func form(ending: Substring) -> Self? {
    switch ending {
    case "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "heic", "heif": .image
    case "pdf": .pdf
    default: nil
    }
  }
}
