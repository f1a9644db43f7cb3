import VaultModel

/// The media type that a name's extension stands for: enough to show a sensible icon where the view is not mounted.
package enum MediaType {
  private static let types: [String: String] = [
    "avif": "image/avif", "bmp": "image/bmp", "csv": "text/csv", "dcm": "application/dicom",
    "dicom": "application/dicom",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic",
    "heif": "image/heif", "hl7": "application/edi-hl7v2", "htm": "text/html", "html": "text/html",
    "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "json": "application/json",
    "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text", "pdf": "application/pdf", "png": "image/png",
    "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar",
    "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain", "vcf": "text/vcard",
    "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml", "zip": "application/zip",
  ]

  /// Empty for what has no known extension and for what is no regular file.
  package static func of(_ name: FileName, mode: UInt32) -> String {
    guard mode & FileMode.typeMask == FileMode.regular else { return "" }
    let bytes = name.bytes
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0, bytes.count - dot <= 6 else {
      return ""
    }
    return types[String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased()] ?? ""
  }
}
