import Glibc
import Testing

/// Records an issue when two contents differ, and says where; quick for millions of bytes, and short when it fails.
package func expectSame(
  _ found: [UInt8], _ wanted: [UInt8], _ comment: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let common = min(found.count, wanted.count)
  if found.count == wanted.count && memcmp(found, wanted, common) == 0 { return }
  let first = (0..<common).first { found[$0] != wanted[$0] } ?? common
  let detail = comment()
  Issue.record(
    """
    contents differ from byte \(first) on: \
    found \(found[first...].prefix(8).map(Int.init)) of \(found.count) bytes, \
    wanted \(wanted[first...].prefix(8).map(Int.init)) of \(wanted.count)\(detail.isEmpty ? "" : "; " + detail)
    """, sourceLocation: sourceLocation)
}
