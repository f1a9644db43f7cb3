import BlobStore
import Synchronization
import VaultModel

/// A store that somebody has filled: it shows so many closings of a person, of 1 MiB each.
final class HeavyStore: WrappingStore {
  let inner: any BlobStore
  private let fileCount: Int
  private let person: String
  private let reads = Mutex(0)

  /// - Parameter person: By default one whom nobody knows.
  init(_ inner: any BlobStore, fileCount: Int, of person: PersonID? = nil) {
    (self.inner, self.fileCount) = (inner, fileCount)
    self.person = person?.hex ?? String(repeating: "ab", count: 32)
  }

  /// How many of them were read.
  var readCount: Int { reads.withLock { $0 } }

  private static let size = 1 << 20

  private func isHeavy(_ path: BlobPath) -> Bool {
    path.string.hasPrefix("people/\(person)/closings/00000")
  }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    let entries = try inner.list(folder)
    func added(_ names: [String], _ kind: BlobEntry.Kind) -> [BlobEntry] {
      (entries
        + names.map { name in
          BlobEntry(
            name: name, kind: kind, size: kind == .blob ? UInt64(Self.size) : 0, fingerprint: 1)
        }).listed()
    }
    switch folder.string {
    case "people": return added([person], .folder)
    case "people/\(person)": return added(["closings"], .folder)
    case "people/\(person)/closings":
      return added(
        (0..<fileCount).map { number in
          let digits = String(number, radix: 16)
          return String(repeating: "0", count: 64 - digits.count) + digits
        }, .blob)
    default: return entries
    }
  }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    guard isHeavy(path) else { return try inner.read(path, limit: limit) }
    reads.withLock { $0 += 1 }
    return Array(repeating: 7, count: Self.size)
  }
}
