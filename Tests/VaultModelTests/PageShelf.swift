import Fuzzing
import VaultModel

/// Item pages in memory, named by a counter, in place of the object store.
final class PageShelf {
  private(set) var pages: [ContentDigest: [UInt8]] = [:]
  private(set) var loads = 0
  private(set) var names: [[UInt8]: ContentDigest] = [:]

  /// The same page always gets the same name, as it does from a hash.
  func store(_ page: [UInt8]) -> ContentDigest {
    if let name = names[page] { return name }
    var random = SeededRandom(seed: UInt64(names.count) + 1)
    let name: ContentDigest = random.id()
    names[page] = name
    pages[name] = page
    return name
  }

  func load(_ name: ContentDigest) throws -> ItemPage {
    loads += 1
    guard let page = pages[name] else {
      throw ModelError.malformed(what: "page", reason: "not there")
    }
    return try ItemPage(decoding: page)
  }
}
