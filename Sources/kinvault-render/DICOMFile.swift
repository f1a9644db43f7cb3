import CDicom

/// A DICOM file, by GDCM.
enum DICOMFile {
  /// What it says of itself, in lines (`kv_dicom_header`). Over what is no such file the process ends.
  static func header(of bytes: [UInt8]) -> [UInt8]? {
    let text = kv_dicom_header(bytes, bytes.count)
    return UnsafeRawBufferPointer(start: text.bytes, count: text.count).map { $0 }
  }

  /// A frame, from 1 on, that fits into a square. Over one that cannot be shown the process ends.
  static func picture(
    of bytes: [UInt8], frame: Int32, side: Int32, window: kv_window?
  ) -> kv_picture {
    guard var window else { return kv_dicom_fitted(bytes, bytes.count, frame, side, nil) }
    return kv_dicom_fitted(bytes, bytes.count, frame, side, &window)
  }
}
