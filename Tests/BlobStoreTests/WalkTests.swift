import BlobStore
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A walk through a store that means no good.
struct WalkTests {
  /// Answers `list` as it is told.
  private struct HostileStore: BlobStore {
    var names: @Sendable (BlobPath) -> [BlobEntry]

    func list(_ folder: BlobPath) -> [BlobEntry] { names(folder) }
    func read(_ path: BlobPath, limit: Int) -> [UInt8] { [] }
    func read(_ path: BlobPath, at offset: UInt64, count: Int) -> [UInt8] { [] }
    func size(of path: BlobPath) -> UInt64? { nil }
    func put(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition) {}
    var decidesRaces: Bool { false }
    func remove(_ path: BlobPath) {}
    func flush() {}
  }

  private static func entry(_ name: String, _ kind: BlobEntry.Kind = .blob) -> BlobEntry {
    BlobEntry(name: name, kind: kind, size: 0, fingerprint: 0)
  }

  @Test func reportsImpossibleNamesAndFollowsNone() throws {
    let store = HostileStore { folder in
      #expect(folder.isRoot)
      return ["..", ".", "", "a/../../b", "/etc", "good"].flatMap { name in
        name == "good" ? [Self.entry(name)] : [Self.entry(name, .folder), Self.entry(name)]
      }
    }
    var impossible: [String] = []
    var possible: [BlobPath] = []
    try store.walk(under: .root) { path, entry in
      if let path { possible.append(path) } else { impossible.append(entry.name) }
      return .goOn
    }
    #expect(possible == ["good"])
    #expect(impossible.count == 10)
    #expect(Set(impossible) == ["..", ".", "", "a/../../b", "/etc"])
  }

  @Test func aTreeWithoutABottomIsNotEntered() throws {
    let store = HostileStore { _ in [Self.entry("deeper", .folder)] }
    var met: [(BlobPath?, BlobEntry.Kind)] = []
    try store.walk(under: "top", depth: 3) { path, entry in
      met.append((path, entry.kind))
      return .goOn
    }
    #expect(met.map(\.0) == ["top/deeper/deeper/deeper"])
    #expect(met.map(\.1) == [.folder])
  }

  @Test func aTreeThatBranchesForEverEnds() throws {
    let store = HostileStore { _ in (0..<100).map { Self.entry("\($0)", .folder) } }
    #expect(throws: BlobStoreError.endlessListing(folder: "", limit: 5000)) {
      try store.walk(under: .root, limit: 5000) { _, _ in .goOn }
    }
  }

  @Test func showsLinksAndPipesOfADirectory() throws {
    let folder = try TemporaryFolder()
    let store = try DirectoryStore(opening: folder.path)
    try store.put("a/blob", [1])
    #expect(symlink("/etc", folder.appending("a/link").string) == 0)
    #expect(mkfifo(folder.appending("a/pipe").string, 0o600) == 0)
    var kinds: [BlobPath: BlobEntry.Kind] = [:]
    try store.walk(under: .root) { path, entry in
      if let path { kinds[path] = entry.kind }
      return .goOn
    }
    #expect(kinds == ["a/blob": .blob, "a/link": .other, "a/pipe": .other])
  }
}
