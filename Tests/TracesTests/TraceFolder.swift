import BlobStore
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// A made-up home with what programs keep in it, and a mountpoint `/mnt/Family` that need not be there.
struct TraceFolder {
  static let mountpoint = "/mnt/Family"
  let folder: TemporaryFolder
  let store: DirectoryStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DirectoryStore(opening: folder.path)
  }

  var search: TraceSearch { search(below: Self.mountpoint) }

  func search(below mountpoint: String) -> TraceSearch {
    var places = TracePlaces(home: folder.path) { _ in nil }
    places.shared = [folder.path.appending("shared")]
    return TraceSearch(
      places, below: MountedPaths([Array(mountpoint.utf8)]), user: "anna")
  }

  func write(_ bytes: [UInt8], at path: String) throws {
    try store.put(BlobPath(path), bytes, .always)
  }

  func write(_ text: String, at path: String) throws { try write(Array(text.utf8), at: path) }

  func text(_ path: String) throws -> String {
    String(decoding: try store.read(BlobPath(path), limit: 1 << 20), as: UTF8.self)
  }

  /// What stands at a place cannot be read for sure: it stays as it is, and that is told.
  func expectLeftAlone(_ text: String, at path: String) throws {
    try write(text, at: path)
    let report = search.remove(sparesUnsavedWork: false)
    #expect(report.traces.isEmpty)
    #expect(report.failures.map(\.place) == [folder.appending(path).string])
    #expect(try self.text(path) == text)
  }

  func has(_ path: String) throws -> Bool { try store.size(of: BlobPath(path)) != nil }

  /// A preview of a picture at a URI, as a file of the cache.
  func preview(of uri: String, at path: String) throws {
    try write(Self.png([("tEXt", Array("Thumb::URI\0\(uri)".utf8))]), at: path)
  }

  /// A PNG with these chunks between its header and its end. What checks chunks is not what is tested: they have none.
  static func png(_ chunks: [(type: String, data: [UInt8])]) -> [UInt8] {
    let all = [("IHDR", [UInt8](repeating: 1, count: 13))] + chunks + [("IEND", [])]
    return all.reduce([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { bytes, chunk in
      bytes + big(chunk.1.count) + Array(chunk.0.utf8) + chunk.1 + [0, 0, 0, 0]
    }
  }

  static func big(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
