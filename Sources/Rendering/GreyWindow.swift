/// Which grey values of a DICOM frame are shown from black to white, in units of the modality (Hounsfield's in a CT). What lies
/// below is black, what lies above is white.
package struct GreyWindow: Hashable, Sendable {
  package let centre: Double
  package let width: Double

  /// Nil for what is no window: a width that is not above zero, and numbers that no file needs.
  package init?(centre: Double, width: Double) {
    guard centre.magnitude <= 1e9, (1e-9...1e9).contains(width) else { return nil }
    // There are two zeros, and one window.
    (self.centre, self.width) = (centre == 0 ? 0 : centre, width)
  }

  var words: [String] { ["\(centre)", "\(width)"] }
}
