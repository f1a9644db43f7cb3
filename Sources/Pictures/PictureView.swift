import Rendering
import Vault

/// As what a file can be shown. Few sizes, so that each is made once and kept.
package struct PictureView: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case whole
    case page(Int)
    case windowedPage(Int, GreyWindow)
  }

  let part: Part
  package let side: Int

  private init(_ part: Part, side: Int) { (self.part, self.side) = (part, side) }

  /// For lists: an image or a first page within 256 pixels.
  package static let small = PictureView(.whole, side: 256)
  /// For looking at one: an image or a first page within 1,024 pixels.
  package static let large = PictureView(.whole, side: 1024)

  /// Within how many pixels pages are shown.
  package static let pageSides = [1024, 1280, 1600]

  /// A page, from 1 on; nil for a side that is not one of `pageSides` and for a number that no page has.
  package static func page(_ number: Int, side: Int) -> PictureView? {
    guard pageSides.contains(side), Renderer.pageNumbers.contains(number) else { return nil }
    return PictureView(.page(number), side: side)
  }

  /// A frame of DICOM through a window; nil as for a page. Each window is made by itself, and kept: who draws one with the
  /// mouse should ask where it comes to rest.
  package static func frame(_ number: Int, side: Int, window: GreyWindow) -> PictureView? {
    guard page(number, side: side) != nil else { return nil }
    return PictureView(.windowedPage(number, window), side: side)
  }

  var kind: DerivedContent.Kind {
    switch part {
    case .whole: .thumbnail(side: side)
    case .page(let number): .page(number, side: side)
    case .windowedPage(let number, let window):
      .windowedPage(number, side: side, centre: window.centre, width: window.width)
    }
  }
}
