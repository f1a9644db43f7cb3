import Pictures
import Rendering
import Vault
import VaultErrors
import VaultModel

/// A DICOM file: a slice of a series, or a few frames in one file, with its window and as large as one likes.
struct DICOMView {
  /// How many times as large as it fits a picture may be shown.
  static let zooms = [1, 2, 4]
  /// Windows that are usual for a CT, in Hounsfield units.
  private static let usual: [(key: String, centre: Int, width: Int)] = [
    ("dicom.brain", 40, 80), ("dicom.soft", 40, 400), ("dicom.lung", -600, 1500),
    ("dicom.bone", 400, 1800),
  ]

  private let item: Item
  private let address: RecordAddress
  private let frameNumber: Int
  private let frameCount: Int
  private let wish: FileView.Wish
  private let header: DICOMHeader?
  /// A report, a plan, a list of what is on a disc; or no DICOM in truth.
  private let isPictureless: Bool
  /// How many files of the record are slices like this one, in the order of their series, and which of them this one is.
  /// Where they are in the order of their names, they may be something else.
  private var sliceCount = 0
  private let isInSeries: Bool
  private var position = 0
  /// Those next to this one.
  private var before: Place?
  private var after: Place?

  /// A frame of another file.
  private struct Place {
    let name: FileName
    let frame: Int
  }

  /// - Throws: What reading throws.
  static func load(
    of file: FileView, _ wish: FileView.Wish, in open: OpenVault
  ) throws(VaultError) -> DICOMView {
    let (item, shown) = (file.item, file.shown)
    let (header, isPictureless): (DICOMHeader?, Bool) =
      switch try open.pictures.header(ofDICOM: item, of: shown.member, fetching: true) {
      case .here(let header): (header, header.pixels == nil)
      case .nothing: (nil, true)
      case .lacking, .unavailable: (nil, false)
      }
    let all = try shown.member.contents(of: shown.entry).0.filter {
      $0.name != .record && (PictureForm(of: $0) == .dicom || $0.isOfUnsaidForm)
    }
    let ordered = try open.sliceOrders.order(of: all, in: shown, by: open.pictures)
    let slices = ordered ?? all.sortedNaturally(by: \.name)
    var view = DICOMView(
      item: item, address: shown.address, frameNumber: file.page, frameCount: file.pageCount,
      wish: wish, header: header, isPictureless: isPictureless, isInSeries: ordered != nil)
    guard let position = slices.firstIndex(where: { $0.name == item.name }) else { return view }
    (view.sliceCount, view.position) = (slices.count, position)
    let (last, next) =
      try view.isInSeries
      ? (before: slices[..<position].last, after: slices[(position + 1)...].first)
      : neighbours(of: position, in: slices, shown, open)
    view.after = next.map { Place(name: $0.name, frame: 1) }
    guard let last else { return view }
    // A series of single frames is the usual case: then no file has to be opened for it.
    var frame = 1
    if file.pageCount > 1,
      case .here(let count) = try open.pictures.pageCount(of: last, of: shown.member)
    {
      frame = max(1, count)
    }
    view.before = Place(name: last.name, frame: frame)
    return view
  }

  /// Those next to a file among others, of which none is known to be a slice.
  private static func neighbours(
    of position: Int, in slices: [Item], _ shown: ShownRecord, _ open: OpenVault
  ) throws(VaultError) -> (before: Item?, after: Item?) {
    let (before, after) = (slices.prefix(position).reversed(), slices.dropFirst(position + 1))
    return (try first(before, shown, open), try first(after, shown, open))
  }

  /// The first that is not known to be something else: what a file without an ending is, its beginning says, where that is
  /// here.
  private static func first(
    _ items: some Sequence<Item>, _ shown: ShownRecord, _ open: OpenVault
  ) throws(VaultError) -> Item? {
    for item in items {
      switch try open.pictures.formIfHere(of: item, of: shown.member) {
      case .here(.dicom), .lacking: return item
      default: continue
      }
    }
    return nil
  }

  private var place: String { address.path(of: item.name) }

  /// The end of an address for another frame, window or size of the same.
  private func query(page: Int, window: GreyWindow?, zoom: Int) -> String {
    var parts = page > 1 ? ["page=\(page)"] : []
    if let window { parts.append(window.query) }
    if zoom > 1 { parts.append("zoom=\(zoom)") }
    return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
  }

  func html(_ frame: PageFrame) -> HTML {
    let texts = frame.texts
    if isPictureless {
      return .group([about(texts), steps(texts), tag("p") { texts("file.nopicture") }])
    }
    return .group([
      about(texts), steps(texts), picture(texts),
      header?.pixels?.isGrey == true ? windows(texts) : .nothing, zooming(texts),
    ])
  }

  private func about(_ texts: Texts) -> HTML {
    guard let header else { return .nothing }
    var parts = [header.modality, header.seriesDescription].filter { !$0.isEmpty }
    if header.studyDate.utf8.count == 8 {
      let digits = Array(header.studyDate)
      parts.append(
        texts.date("\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<8]))"))
    }
    if let number = header.instanceNumber { parts.append(texts("dicom.image", String(number))) }
    if let pixels = header.pixels { parts.append("\(pixels.columns) × \(pixels.rows)") }
    return tag("p", ["class": "about"]) {
      for (number, part) in parts.enumerated() {
        if number > 0 { " · " }
        named(part)
      }
    }
  }

  // MARK: From slice to slice

  /// A frame before or after this one, in this file or the next.
  private func step(_ difference: Int) -> String? {
    let frame = frameNumber + difference
    if (1...max(1, frameCount)).contains(frame) {
      return place + query(page: frame, window: wish.window, zoom: wish.zoom)
    }
    guard let other = difference < 0 ? before : after else { return nil }
    return address.path(of: other.name)
      + query(page: other.frame, window: wish.window, zoom: wish.zoom)
  }

  private func steps(_ texts: Texts) -> HTML {
    guard frameCount > 1 || sliceCount > 1 else { return .nothing }
    let here =
      frameCount > 1
      ? texts("file.page", String(frameNumber), String(frameCount))
      : texts(
        isInSeries ? "dicom.slice" : "dicom.file", String(position + 1), String(sliceCount))
    return tag("p", ["class": "pages", "data-steps": ""]) {
      if let previous = step(-1) {
        tag("a", ["href": previous, "rel": "prev"]) { "← " + texts("dicom.previous") }
      }
      tag("span") { here }
      if let next = step(1) {
        tag("a", ["href": next, "rel": "next"]) { texts("dicom.next") + " →" }
      }
    }
  }

  private func picture(_ texts: Texts) -> HTML {
    var source = "\(place)/page?number=\(frameNumber)&side=\(wish.zoom > 1 ? 1600 : 1024)"
    if let window = wish.window { source += "&" + window.query }
    return tag(
      "div",
      ["class": "slice", "tabindex": "0", "role": "group", "aria-label": texts("dicom.picture")]
    ) {
      tag("img", ["class": "zoom-\(wish.zoom)", "alt": item.name.string, "src": source])
    }
  }

  // MARK: The window

  private func windows(_ texts: Texts) -> HTML {
    let shown = wish.window ?? header?.pixels?.window
    return tag("section") {
      tag("h2") { texts("dicom.window") }
      tag("p", ["class": "choices"]) {
        choice(texts("dicom.own"), window: nil)
        if header?.modality == "CT" {
          for usual in Self.usual {
            choice(
              texts(usual.key),
              window: GreyWindow(centre: Double(usual.centre), width: Double(usual.width)))
          }
        }
      }
      tag("form", ["method": "get", "action": place, "class": "filter"]) {
        if frameNumber > 1 {
          tag("input", ["type": "hidden", "name": "page", "value": String(frameNumber)])
        }
        if wish.zoom > 1 {
          tag("input", ["type": "hidden", "name": "zoom", "value": String(wish.zoom)])
        }
        for (key, value) in [("centre", shown?.centre), ("width", shown?.width)] {
          tag("label", ["for": key]) { texts("dicom.\(key)") }
          tag(
            "input",
            [
              "id": key, "name": key, "type": "number", "step": "any", "required": "",
              "autocomplete": "off", "value": value.map(Self.number),
            ])
        }
        tag("button", ["type": "submit"]) { texts("filter.go") }
      }
    }
  }

  private func choice(_ name: String, window: GreyWindow?) -> HTML {
    tag(
      "a",
      [
        "href": place + query(page: frameNumber, window: window, zoom: wish.zoom),
        "aria-current": window == wish.window ? "true" : nil,
      ]
    ) { name }
  }

  /// Without a fraction where there is none.
  private static func number(_ value: Double) -> String {
    value == value.rounded() && value.magnitude < 1e9 ? String(Int(value)) : String(value)
  }

  private func zooming(_ texts: Texts) -> HTML {
    tag("p", ["class": "choices"]) {
      texts("dicom.zoom") + " "
      for zoom in Self.zooms {
        tag(
          "a",
          [
            "href": place + query(page: frameNumber, window: wish.window, zoom: zoom),
            "aria-current": zoom == wish.zoom ? "true" : nil,
          ]
        ) { "\(zoom) ×" }
      }
    }
  }
}

extension GreyWindow {
  /// In the end of an address, as `FileView.Wish` reads it.
  fileprivate var query: String { "centre=\(centre)&width=\(width)" }
}
