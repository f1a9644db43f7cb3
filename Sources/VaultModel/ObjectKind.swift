/// What an object holds; the first byte of what its name is computed over.
package enum ObjectKind: UInt8, Sendable, CaseIterable {
  case chunk = 1
  case index = 2
  case page = 3
  case record = 4
  case segment = 5
  case announcement = 6
}

extension ObjectKind {
  /// The most bytes that the content of such an object may have. Docs/Format.md, "Limits".
  package var contentLimit: Int {
    switch self {
    case .chunk: 1 << 20
    case .index: 64 << 10
    case .page: 16 << 20
    case .record: 1 << 20
    case .segment: 16 << 20
    case .announcement: 64 << 20
    }
  }
}
