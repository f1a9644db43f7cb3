/// Where a blob is in its store: parts joined with `/`, relative to the store's root.
///
/// No part is empty, `.` or `..`, or contains NUL, so a path never leads out of the store.
package struct BlobPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let string: String

  /// The root of the store; a folder, never a blob.
  package static let root = BlobPath(checked: "")

  /// A path that our own code put together. A malformed one is a bug and traps: use `init(parsing:)` for what
  /// was read somewhere.
  package init(_ string: String) {
    precondition(Self.isWellFormed(string), "malformed blob path")
    self.string = string
  }

  package init(stringLiteral value: String) {
    self.init(value)
  }

  /// A path from an untrusted source; throws `invalidPath` unless it is well formed and names a blob or folder
  /// below the root.
  package init(parsing string: String) throws(BlobStoreError) {
    guard !string.isEmpty, Self.isWellFormed(string) else {
      throw .invalidPath(string)
    }
    self.string = string
  }

  private init(checked string: String) {
    self.string = string
  }

  package var description: String { string }

  package var isRoot: Bool { string.isEmpty }

  /// The folder that holds this blob or folder; nil for the root.
  package var parent: BlobPath? {
    guard !isRoot else { return nil }
    guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .root }
    return BlobPath(checked: String(string[..<slash]))
  }

  /// The last part; empty for the root.
  package var name: String {
    guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return string }
    return String(string[string.utf8.index(after: slash)...])
  }

  /// This folder's child at a relative path of one or more parts, which must be well formed.
  package func appending(_ path: String) -> BlobPath {
    precondition(!path.isEmpty && Self.isWellFormed(path), "malformed blob path")
    return BlobPath(checked: isRoot ? path : "\(string)/\(path)")
  }

  /// How many parts it has; 0 for the root.
  package var partCount: Int {
    isRoot ? 0 : string.utf8.reduce(1) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
  }

  /// This folder's child of a name that was read somewhere; nil for one that no path can have.
  package func child(named name: String) -> BlobPath? {
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), Self.isWellFormed(name) else {
      return nil
    }
    return appending(name)
  }

  private static func isWellFormed(_ string: String) -> Bool {
    if string.isEmpty { return true }
    var string = string
    return string.withUTF8 { isWellFormed($0) }
  }

  private static func isWellFormed(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var length = 0
    var dots = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "/"):
        if isForbiddenPart(length: length, dots: dots) { return false }
        length = 0
        dots = 0
        continue
      case UInt8(ascii: "."): dots += 1
      case 0: return false
      default: break
      }
      length += 1
    }
    return !isForbiddenPart(length: length, dots: dots)
  }

  /// An empty part, `.` or `..`.
  private static func isForbiddenPart(length: Int, dots: Int) -> Bool {
    length == dots && length <= 2
  }
}
