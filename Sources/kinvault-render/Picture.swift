import CImages

/// A page of whatever can be shown, as WebP.
enum Picture {
  /// Nil for what is neither an image nor a PDF.
  static func pageCount(of bytes: [UInt8]) -> Int32? {
    let count = kv_image_pages(bytes, bytes.count)
    return count > 0 ? count : PDFDocument(bytes)?.pageCount
  }

  /// A page, from 1 on, that fits into a square; nil if there is none. Over an image that cannot be shown the process ends.
  static func of(_ bytes: [UInt8], page: Int32, side: Int32) -> [UInt8]? {
    let webp: kv_webp
    if kv_image_pages(bytes, bytes.count) > 0 {
      webp = kv_webp_of_picture(kv_image_fitted(bytes, bytes.count, page, side))
    } else if let found = PDFDocument(bytes)?.picture(ofPage: page, side: side) {
      webp = found
    } else {
      return nil
    }
    return Array(UnsafeBufferPointer(start: webp.bytes, count: webp.count))
  }
}
