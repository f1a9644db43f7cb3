import Rendering
import Vault
import VaultModel

/// What kind of file a picture can be made of.
package enum PictureForm: Hashable, Sendable {
  /// One picture; of TIFF it may be several, which are its pages.
  case image
  /// Pages.
  case pdf
  /// Frames, of grey values that are shown through a window, or of colours.
  case dicom

  /// By its media type or its name; nil for a file that there is no picture of. What stands in it is not looked at: for that
  /// there is `Pictures.form`.
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
    case "application/dicom": .dicom
    default: nil
    }
  }

  private static func form(ending: Substring) -> Self? {
    switch ending {
    case "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "heic", "heif": .image
    case "pdf": .pdf
    case "dcm", "dicom": .dicom
    default: nil
    }
  }

  /// What such a file may be in truth.
  var formats: [ForeignFormat] {
    switch self {
    case .image: [.images, .heif]
    case .pdf: [.pdf]
    case .dicom: [.dicom]
    }
  }

  /// How much of a file `init(beginning:)` looks at, in bytes.
  static let beginningCount = 132

  /// By what it begins with (PS3.10, 7.1); nil for what only a name can tell.
  init?(beginning bytes: [UInt8]) {
    guard bytes.count >= Self.beginningCount, bytes[128..<132].elementsEqual("DICM".utf8) else {
      return nil
    }
    self = .dicom
  }
}
