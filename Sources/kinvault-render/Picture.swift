import CDicom
import CImages

/// A page of whatever can be shown, as WebP.
enum Picture {
  /// Nil for what is no image, no PDF, and no DICOM file with pixels.
  static func pageCount(of bytes: [UInt8]) -> Int32? {
    if kv_is_dicom(bytes, bytes.count) {
      let count = kv_dicom_frames(bytes, bytes.count)
      return count > 0 ? count : nil
    }
    let count = kv_image_pages(bytes, bytes.count)
    return count > 0 ? count : PDFDocument(bytes)?.pageCount
  }

  /// A page, from 1 on, that fits into a square; nil if there is none. Over an image that cannot be shown the process ends.
  ///
  /// - Parameter window: Of the grey values of DICOM; nil for the file's own.
  static func of(_ bytes: [UInt8], page: Int32, side: Int32, window: kv_window?) -> [UInt8]? {
    let webp: kv_webp
    if kv_is_dicom(bytes, bytes.count) {
      webp = kv_webp_of_picture(
        DICOMFile.picture(of: bytes, frame: page, side: side, window: window))
    } else if kv_image_pages(bytes, bytes.count) > 0 {
      webp = kv_webp_of_picture(kv_image_fitted(bytes, bytes.count, page, side))
    } else if let found = PDFDocument(bytes)?.picture(ofPage: page, side: side) {
      webp = found
    } else {
      return nil
    }
    return Array(UnsafeBufferPointer(start: webp.bytes, count: webp.count))
  }
}
