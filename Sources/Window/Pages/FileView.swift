import Pictures
import Rendering
import Search
import Vault
import VaultErrors
import VaultModel

/// A file of a record, as far as it can be shown: a picture of it, page by page, or its text. It itself is never sent as
/// anything that a browser would open.
struct FileView {
  enum Kind: Hashable {
    /// An image, pages, or frames.
    case picture(PictureForm)
    case text
    case other

    init(_ item: Item) {
      if let form = PictureForm(of: item) {
        self = .picture(form)
      } else {
        self = AttachedText.isText(item) ? .text : .other
      }
    }

    /// Whether there may be a picture of it.
    var hasPicture: Bool { if case .picture = self { true } else { false } }
  }

  /// What is wanted of a file.
  struct Wish: Sendable {
    var page = 1
    /// Of grey values: nil for the file's own.
    var window: GreyWindow?
    /// How many times as large as it fits.
    var zoom = 1

    init(_ values: FormValues) {
      page = values["page"].flatMap { Int($0) } ?? 1
      if let centre = values["centre"].flatMap({ Double($0) }),
        let width = values["width"].flatMap({ Double($0) })
      {
        window = GreyWindow(centre: centre, width: width)
      }
      zoom =
        values["zoom"].flatMap { Int($0) }.flatMap { DICOMView.zooms.contains($0) ? $0 : nil } ?? 1
    }
  }

  /// How much of a text is shown, in bytes.
  private static let textLimit = 256 << 10

  let frame: PageFrame
  let shown: ShownRecord
  let item: Item
  private let kind: Kind
  private var text = ""
  /// Which page is shown, and of how many.
  private(set) var page = 1
  private(set) var pageCount = 1
  private var dicom: DICOMView?
  /// Something stands in it that no picture can be made of.
  private var isPictureless = false

  private var texts: Texts { frame.texts }

  /// - Throws: `notFound`; what reading throws.
  ///
  /// - Parameter wish: Which page, and how DICOM is to be shown.
  static func load(
    _ name: FileName, _ wish: Wish, of address: RecordAddress, in open: OpenVault,
    _ frame: PageFrame
  ) throws(VaultError) -> FileView {
    let shown = try ShownRecord(address, in: open.vault)
    guard let item = try shown.member.item(named: name, in: shown.entry.record) else {
      throw .notFound(what: "the file")
    }
    var kind = Kind(item)
    // Somebody looks at it: so it is brought here.
    if kind == .other,
      let form = try open.pictures.form(of: item, of: shown.member, fetching: true)
    {
      kind = .picture(form)
    }
    var view = FileView(frame: frame, shown: shown, item: item, kind: kind)
    switch kind {
    case .picture(let form):
      switch try open.pictures.pageCount(of: item, of: shown.member, fetching: true) {
      case .here(let count): view.pageCount = max(1, count)
      case .nothing: view.isPictureless = true
      case .lacking, .unavailable: break
      }
      view.page = min(max(1, wish.page), view.pageCount)
      if form == .dicom { view.dicom = try DICOMView.load(of: view, wish, in: open) }
    case .text:
      let bytes = try shown.member.beginning(of: item, byteCount: textLimit)
      view.text = AttachedText.decode(bytes, isCut: item.size > UInt64(bytes.count))
    case .other: break
    }
    return view
  }

  var document: String {
    let place = shown.address.path(of: item.name)
    return frame.document(
      tag("article", ["class": "file", "data-nopicture": texts("file.notshown")]) {
        tag("p") { tag("a", ["href": shown.address.path]) { "← " + texts("file.back") } }
        tag("h1") { named(item.name.string) }
        switch kind {
        case .picture(let form):
          if let dicom {
            dicom.html(frame)
          } else if isPictureless {
            tag("p") { texts("file.nopicture") }
          } else {
            picture(form, place)
          }
        case .text:
          if item.size > UInt64(Self.textLimit) {
            tag("p", ["class": "quiet"]) { texts("file.cut") }
          }
          tag("pre", ["dir": "auto"]) { text }
        case .other: tag("p") { texts("file.nopicture") }
        }
        tag("p", ["class": "quiet"]) { texts("file.save.note") }
        tag("p", ["class": "actions"]) {
          tag("a", ["class": "button", "href": "\(place)/copy", "download": ""]) {
            texts("file.save")
          }
        }
      })
  }

  private func picture(_ form: PictureForm, _ place: String) -> HTML {
    .group([
      pages(place),
      tag(
        "img",
        [
          "class": "large", "alt": pageCount > 1 ? "" : item.name.string,
          "src": form == .pdf || pageCount > 1
            ? "\(place)/page?number=\(page)" : "\(place)/picture?size=large",
        ]),
    ])
  }

  private func pages(_ place: String) -> HTML {
    guard pageCount > 1 else { return .nothing }
    return tag("p", ["class": "pages"]) {
      if page > 1 {
        tag("a", ["href": "\(place)?page=\(page - 1)", "rel": "prev"]) {
          "← " + texts("file.previous")
        }
      }
      tag("span") { texts("file.page", String(page), String(pageCount)) }
      if page < pageCount {
        tag("a", ["href": "\(place)?page=\(page + 1)", "rel": "next"]) {
          texts("file.next") + " →"
        }
      }
    }
  }
}
