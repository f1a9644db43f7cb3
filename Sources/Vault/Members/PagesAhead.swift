import Threads
import VaultErrors
import VaultModel

/// Reads the pages of an item tree, several at once: each waits for the disk nearly all of the time.
final class PagesAhead: Sendable {
  private static let threadCount = 8
  /// A tree of a hundred million files is no deeper.
  private static let depthLimit = 8

  private let member: Member
  private let pages = Guarded<[ContentDigest: ItemPage]>([:])

  private init(in member: Member) { self.member = member }

  /// Reads them, level by level. A page that cannot be read now is left to whoever asks for it.
  ///
  /// - Parameter root: The page at the top of the tree.
  static func read(below root: ContentDigest, in member: Member) -> PagesAhead {
    let ahead = PagesAhead(in: member)
    ahead.read(below: root)
    return ahead
  }

  private func read(below root: ContentDigest) {
    var level = [root]
    for _ in 0..<Self.depthLimit where !level.isEmpty {
      read(level)
      let pages = pages.withLock { $0 }
      var next: Set<ContentDigest> = []
      for case .branch(let children)? in level.lazy.map({ pages[$0] }) {
        next.formUnion(children.compactMap(\.self))
      }
      level = next.filter { pages[$0] == nil }
    }
  }

  /// The page; read now if it could not be read before, so that whoever asks gets the error.
  func page(_ digest: ContentDigest) throws(VaultError) -> ItemPage {
    if let page = pages.withLock({ $0[digest] }) { return page }
    return try member.loadPage(digest)
  }

  private func read(_ digests: [ContentDigest]) {
    WorkQueue.forEach(digests, threadCount: Self.threadCount) { [self] digest in
      // Whoever asks for the page reads it again, and is told.
      guard let page = try? member.loadPage(digest) else { return }
      pages.withLock { $0[digest] = page }
    }
  }
}
