/// The mountpoints whose traces are looked for, and what lies below them.
package struct MountedPaths: Hashable, Sendable {
  private let mountpoints: [[ArraySlice<UInt8>]]

  /// The paths are absolute. What is not, and the root, below which everything lies, is passed over.
  package init(_ paths: some Sequence<[UInt8]>) {
    mountpoints = Set(paths).compactMap { path in
      guard let parts = Self.parts(of: path), !parts.isEmpty else { return nil }
      return parts
    }
  }

  package var isEmpty: Bool { mountpoints.isEmpty }

  /// Whether an absolute path names something below a mountpoint: by whole parts, `.` and `..` resolved as text, never
  /// the mountpoint itself.
  package func hold(_ path: [UInt8]) -> Bool {
    guard let parts = Self.parts(of: path) else { return false }
    return mountpoints.contains { parts.count > $0.count && parts.starts(with: $0) }
  }

  /// The mountpoints as text, without anything that could be left out.
  var texts: [[UInt8]] { mountpoints.map(Self.text).sorted { $0.lexicographicallyPrecedes($1) } }

  private static func text(of parts: [ArraySlice<UInt8>]) -> [UInt8] {
    parts.flatMap { [slash] + $0 }
  }

  /// The names of which an absolute path consists; nil for what is not absolute, or has a zero byte in it.
  static func parts(of path: [UInt8]) -> [ArraySlice<UInt8>]? {
    guard path.first == slash, !path.contains(0) else { return nil }
    var parts: [ArraySlice<UInt8>] = []
    for part in path.split(separator: slash) {
      switch part {
      case [dot]: continue
      case [dot, dot]: _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return parts
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
}
