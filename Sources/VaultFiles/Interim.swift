package struct FileTimestamp: Hashable, Comparable, Sendable {
  package var seconds: Int64
  package var nanoseconds: UInt32
  package init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds; self.nanoseconds = nanoseconds
  }
  package static func < (l: Self, r: Self) -> Bool {
    (l.seconds, l.nanoseconds) < (r.seconds, r.nanoseconds)
  }
}
package struct FileName: Hashable, Comparable, Sendable {
  package let bytes: [UInt8]
  package init?(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }
  package init?(_ string: String) { self.bytes = Array(string.utf8) }
  package static func < (l: Self, r: Self) -> Bool { l.bytes.lexicographicallyPrecedes(r.bytes) }
}
