import BlobStore
import Glibc
import Synchronization
import Testing

/// What every store must do; see the doc comments of `BlobStore`.
///
/// A suite takes each promise and each of its stores as the arguments of one test, and hands over a new, empty store.
package enum BlobStoreContract: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case returnsWhatWasPut, readsParts, refusesToReadMoreThanTheLimit, saysWhatIsAbsent
  case replacesWholly, putsIfAbsent, letsOneOfARaceWin, servesManyThreads
  case removes, listsOneFolderSorted, showsThatABlobChanged, keepsOddNames
  case walksBelowAFolderOnly, stopsWalkingWhenTold, endsAWalkAtItsLimit, tellsAFolderFromABlob
  case flushes, makesAFolderForManyAtOnce

  /// What a kind of store may do without.
  package enum Lack: Hashable, Sendable {
    /// Names are just text with `/` in it: a folder is absent where a blob would be asked for, and a blob may stand
    /// below a blob.
    case folders
    /// One of the odd names, which it loses or does not list.
    case name(String)
    /// It breaks off connections while it is busy: then nobody can take away the temporary file of a put that failed.
    case tidiness
  }

  package var testDescription: String { rawValue }

  package func check(_ store: any BlobStore, lacks: Set<Lack> = []) throws {
    switch self {
    case .returnsWhatWasPut: try returnsWhatWasPut(store)
    case .readsParts: try readsParts(store)
    case .refusesToReadMoreThanTheLimit: try refusesToReadMoreThanTheLimit(store)
    case .saysWhatIsAbsent: try saysWhatIsAbsent(store)
    case .replacesWholly: try replacesWholly(store)
    case .putsIfAbsent: try putsIfAbsent(store)
    case .letsOneOfARaceWin: try letsOneOfARaceWin(store, lacks)
    case .servesManyThreads: try servesManyThreads(store, lacks)
    case .removes: try removes(store)
    case .listsOneFolderSorted: try listsOneFolderSorted(store)
    case .showsThatABlobChanged: try showsThatABlobChanged(store)
    case .keepsOddNames: try keepsOddNames(store, lacks)
    case .walksBelowAFolderOnly: try walksBelowAFolderOnly(store)
    case .stopsWalkingWhenTold: try stopsWalkingWhenTold(store)
    case .endsAWalkAtItsLimit: try endsAWalkAtItsLimit(store)
    case .tellsAFolderFromABlob:
      if !lacks.contains(.folders) { try tellsAFolderFromABlob(store) }
    case .flushes: try flushes(store)
    case .makesAFolderForManyAtOnce: try makesAFolderForManyAtOnce(store)
    }
  }

  private func returnsWhatWasPut(_ store: any BlobStore) throws {
    for byteCount in [0, 1, 511, 4096, 65537, (1 << 20) + 1] {
      var random = SplitMix64(seed: UInt64(byteCount))
      let bytes = random.bytes(byteCount)
      let path = BlobPath("a/b/\(byteCount)")
      try store.put(path, bytes)
      let isSame = try store.read(path, limit: byteCount) == bytes
      #expect(isSame, "\(byteCount) bytes")
      #expect(try store.size(of: path) == UInt64(byteCount))
    }
  }

  private func readsParts(_ store: any BlobStore) throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    try store.put("blob", bytes)
    for (offset, count) in [(0, 1), (0, 1000), (1, 998), (999, 1), (990, 100), (0, 5000)] {
      let part = try store.read("blob", at: UInt64(offset), count: count)
      let isRight = part == Array(bytes[offset...].prefix(count))
      #expect(isRight, "\(count) bytes at \(offset)")
    }
    #expect(try store.read("blob", at: 1000, count: 1).isEmpty)
    #expect(try store.read("blob", at: 1 << 40, count: 10).isEmpty)
    #expect(try store.read("blob", at: 5, count: 0).isEmpty)
  }

  private func refusesToReadMoreThanTheLimit(_ store: any BlobStore) throws {
    try store.put("blob", [1, 2, 3])
    #expect(throws: BlobStoreError.tooLarge(path: "blob", size: 3, limit: 2)) {
      try store.read("blob", limit: 2)
    }
    #expect(try store.read("blob", limit: 3) == [1, 2, 3])
  }

  private func saysWhatIsAbsent(_ store: any BlobStore) throws {
    for path: BlobPath in ["none", "no/such"] {
      let absent = BlobStoreError.notFound(path: path.string)
      #expect(try store.size(of: path) == nil)
      #expect(throws: absent) { try store.read(path, limit: 9) }
      #expect(throws: absent) { try store.read(path, at: 3, count: 9) }
      #expect(try store.list(path).isEmpty)
      try store.remove(path)
      try store.walk(under: path) { found, _ in
        Issue.record("met \(found?.string ?? "what has no path")")
        return .goOn
      }
    }
  }

  private func replacesWholly(_ store: any BlobStore) throws {
    try store.put("folder/blob", [1, 2, 3])
    try store.put("folder/blob", [4])
    #expect(try store.read("folder/blob", limit: 9) == [4])
    #expect(try store.list("folder").map(\.name) == ["blob"])
  }

  private func putsIfAbsent(_ store: any BlobStore) throws {
    try store.put("folder/blob", [1], .ifAbsent)
    for _ in 0..<2 {
      #expect(throws: BlobStoreError.alreadyExists(path: "folder/blob")) {
        try store.put("folder/blob", [2], .ifAbsent)
      }
    }
    #expect(try store.read("folder/blob", limit: 9) == [1])
    #expect(try store.list("folder").map(\.name) == ["blob"])
  }

  private func letsOneOfARaceWin(_ store: any BlobStore, _ lacks: Set<Lack>) throws {
    let winners = Winners()
    try Threads.run(8) { number in
      let bytes = [UInt8](repeating: UInt8(number), count: 5000)
      do {
        try store.put("folder/prize", bytes, .ifAbsent)
        winners.add(UInt8(number))
      } catch let error as BlobStoreError where error == .alreadyExists(path: "folder/prize") {
        return
      }
    }
    let found = winners.all
    let content = try store.read("folder/prize", limit: 5000)
    #expect(content.count == 5000 && Set(content).count == 1)
    #expect(found.contains(content[0]))
    if store.decidesRaces { #expect(found.count == 1) }
    func list() throws -> [String] {
      try store.list("folder").map(\.name).filter { !isExcused($0, lacks) }
    }
    var names = try list()
    // A server that lets several write may still be writing for those who lost.
    let deadline = ContinuousClock.now + (store.decidesRaces ? .zero : .seconds(240))
    while names != ["prize"], ContinuousClock.now < deadline {
      usleep(100_000)
      names = try list()
    }
    #expect(names == ["prize"])
  }

  private func servesManyThreads(_ store: any BlobStore, _ lacks: Set<Lack>) throws {
    try Threads.run(32) { number in
      for step in 0..<4 {
        let path = BlobPath("many/\(number % 8)/\(number)-\(step)")
        let bytes = [UInt8](repeating: UInt8(number), count: 1000 + step)
        try store.put(path, bytes)
        #expect(try store.read(path, limit: 2000) == bytes)
      }
    }
    var paths: Set<BlobPath> = []
    try store.walk(under: .root) { path, _ in
      if let path, !isExcused(path.name, lacks) { paths.insert(path) }
      return .goOn
    }
    #expect(paths.count == 128)
  }

  private func isExcused(_ name: String, _ lacks: Set<Lack>) -> Bool {
    lacks.contains(.tidiness) && name.hasPrefix(".") && name.contains(".tmp-")
  }

  private func removes(_ store: any BlobStore) throws {
    try store.put("a/b", [1])
    try store.put("a/c", [1])
    try store.remove("a/b")
    try store.remove("a/b")
    #expect(try store.size(of: "a/b") == nil)
    #expect(try store.list("a").map(\.name) == ["c"])
  }

  private func listsOneFolderSorted(_ store: any BlobStore) throws {
    try store.put("m/b", [1, 2])
    try store.put("m/a", [1])
    try store.put("m/inner/c", [])
    try store.put("m/inner/d", [])
    try store.put("mm", [])
    try store.put("other/x", [])
    let entries = try store.list("m")
    #expect(entries.map(\.name) == ["a", "b", "inner"])
    #expect(entries.map(\.kind) == [.blob, .blob, .folder])
    #expect(entries.map(\.size) == [1, 2, 0])
    #expect(try store.list(.root).map(\.name) == ["m", "mm", "other"])
  }

  private func showsThatABlobChanged(_ store: any BlobStore) throws {
    func fingerprint() throws -> UInt64? { try store.list("heads").first?.fingerprint }
    try store.put("heads/a", [1])
    let first = try fingerprint()
    #expect(try fingerprint() == first)
    try store.put("heads/a", [2, 2])
    #expect(try fingerprint() != first)
  }

  private func keepsOddNames(_ store: any BlobStore, _ lacks: Set<Lack>) throws {
    let names = [
      "a b", "a+b", "a%20b", "100%", "a#b", "a?b", "a&b=c", "é", "日本", "...", "..a", ".hidden",
      "a'b", "a\"b", "<a>", "a;b", "a:b", "~", "(a)", "*", "a=b", "@", "[a]", "a,b", "$a", "!a",
    ].filter { !lacks.contains(.name($0)) }
    for name in names { try store.put(BlobPath("odd/\(name)"), Array(name.utf8)) }
    #expect(try store.list("odd").map(\.name) == names.sorted())
    for name in names {
      #expect(try store.read(BlobPath("odd/\(name)"), limit: 99) == Array(name.utf8), "\(name)")
    }
    var met: Set<String> = []
    try store.walk(under: .root) { path, _ in
      met.insert(path?.name ?? "")
      return .goOn
    }
    #expect(met == Set(names))
    for name in names { try store.remove(BlobPath("odd/\(name)")) }
    #expect(try store.list("odd").isEmpty)
  }

  private func walksBelowAFolderOnly(_ store: any BlobStore) throws {
    let wanted: [BlobPath: [UInt8]] = [
      "a/b/c": [1], "a/b/d": [], "a/e": [1, 2], "a/f/g/h/i": [1, 2, 3],
    ]
    for (path, bytes) in wanted { try store.put(path, bytes) }
    try store.put("ab/c", [])
    try store.put("b", [])
    var sizes: [BlobPath: UInt64] = [:]
    try store.walk(under: "a") { path, entry in
      #expect(entry.kind == .blob)
      #expect(entry.name == path?.name)
      if let path { sizes[path] = entry.size }
      return .goOn
    }
    #expect(sizes == wanted.mapValues { UInt64($0.count) })
  }

  private func stopsWalkingWhenTold(_ store: any BlobStore) throws {
    for name in ["a/1", "a/2", "b/1", "b/2"] { try store.put(BlobPath(name), []) }
    var count = 0
    try store.walk(under: .root) { _, _ in
      count += 1
      return count == 3 ? .stop : .goOn
    }
    #expect(count == 3)
  }

  private func endsAWalkAtItsLimit(_ store: any BlobStore) throws {
    for name in ["a/1", "a/2", "b/1", "b/2"] { try store.put(BlobPath(name), []) }
    #expect(throws: BlobStoreError.endlessListing(folder: "", limit: 4)) {
      try store.walk(under: .root, limit: 4) { _, _ in .goOn }
    }
  }

  private func tellsAFolderFromABlob(_ store: any BlobStore) throws {
    try store.put("folder/blob", [1])
    let wrong = BlobStoreError.notABlob(path: "folder")
    #expect(throws: wrong) { try store.read("folder", limit: 9) }
    #expect(throws: wrong) { try store.read("folder", at: 0, count: 9) }
    #expect(throws: wrong) { _ = try store.size(of: "folder") }
    #expect(throws: wrong) { try store.remove("folder") }
    #expect(throws: wrong) { try store.put("folder", [2]) }
    #expect(throws: BlobStoreError.notABlob(path: "folder/blob")) {
      try store.list("folder/blob")
    }
    #expect(try store.read("folder/blob", limit: 9) == [1])
  }

  private func makesAFolderForManyAtOnce(_ store: any BlobStore) throws {
    for round in 0..<4 {
      try Threads.run(8) { number in
        try store.put(BlobPath("\(round)/a/b/\(number % 2)/\(number)"), [UInt8(number)])
      }
      for number in 0..<8 {
        let path = BlobPath("\(round)/a/b/\(number % 2)/\(number)")
        #expect(try store.read(path, limit: 9) == [UInt8(number)])
      }
    }
  }

  private func flushes(_ store: any BlobStore) throws {
    try store.flush()
    try store.put("a/b", [1])
    try store.flush()
    #expect(try store.read("a/b", limit: 9) == [1])
  }
}

private final class Winners: Sendable {
  private let numbers = Mutex<[UInt8]>([])
  var all: [UInt8] { numbers.withLock { $0 } }
  func add(_ number: UInt8) { numbers.withLock { $0.append(number) } }
}
