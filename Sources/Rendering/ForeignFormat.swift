/// Of what family of formats a file is: each has a program of its own (`Renderer`).
package enum ForeignFormat: String, CaseIterable, Sendable {
  /// JPEG, PNG, WebP, GIF and TIFF.
  case images
  /// Pictures in HEVC, as telephones take them.
  case heif
  case pdf
  case dicom

  /// What a file looks like by its beginning; the program finds whether that is so. What looks like nothing is an image.
  package init(of bytes: [UInt8]) {
    // A DICOM file may lack its preamble, and then begins with a low group; a PDF may begin within its first kilobyte
    // (ISO 32000-1, annex H).
    let beginning = bytes.prefix(1024)
    if beginning.has("DICM", at: 128) || [[2, 0], [8, 0], [0, 8]].contains(beginning.prefix(2)) {
      self = .dicom
    } else if beginning.has("ftyp", at: 4) {
      self = .heif
    } else if beginning.indices.contains(where: { beginning.has("%PDF-", at: $0) }) {
      self = .pdf
    } else {
      self = .images
    }
  }
}

extension ArraySlice<UInt8> {
  /// Of a slice from the beginning.
  fileprivate func has(_ mark: String, at place: Int) -> Bool {
    dropFirst(place).starts(with: mark.utf8)
  }
}
