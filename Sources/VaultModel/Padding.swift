/// How sizes are padded, so that a store learns little from them: Docs/Format.md, "6. Objects".
package enum Padding {
  /// The size to which Padmé pads `byteCount` bytes: at most 12 % more.
  ///
  /// Only the top `⌊log2 E⌋ + 1` bits after the leading one may be set in a padded size, where `E`
  /// is the position of the leading one; so of all sizes below 2^n only O(n log n) occur. Padding a
  /// padded size changes nothing. `byteCount` must be from 0 to 2^62.
  ///
  /// Nikitin et al., *Reducing Metadata Leakage from Encrypted Files and Communication with PURBs*,
  /// PoPETs 2019(4), algorithm 1.
  package static func padme(_ byteCount: Int) -> Int {
    precondition(byteCount >= 0 && byteCount <= 1 << 62, "a size out of range")
    guard byteCount > 2 else { return byteCount }
    let exponent = floorLog2(byteCount)
    let keptBits = floorLog2(exponent) + 1
    let mask = 1 << (exponent - keptBits) - 1
    return (byteCount + mask) & ~mask
  }

  private static func floorLog2(_ value: Int) -> Int {
    Int.bitWidth - 1 - value.leadingZeroBitCount
  }
}
