import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault

/// What a sync judges a remote by, while other processes go on writing.
@Suite struct SignedTreeTests {
  /// A link that another process has put into the folder since the links were judged, and that the remote has as well. (Real
  /// schedule 612: a mount that synced while somebody's access was taken away ended with signal 11.)
  @Test func aLinkThatComesWhileTheRemoteIsJudgedIsJudgedOnce() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    try adults.share(with: adults.ben, .editor)
    let (store, emma) = (adults.anna.store, try #require(adults.anna.emma))
    let tree = try SignedTree.load(vault: adults.anna.vault.id, store: store)
    _ = try tree.links(of: emma.id)
    let before = Set(store.blobs.keys)
    try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id])
    let links = store.blobs.compactMap { path, bytes in
      VaultPath(parsing: path.string).flatMap { found in
        if case .link = found, !before.contains(path) { (found, bytes) } else { nil }
      }
    }
    #expect(links.count == 1)
    for (path, bytes) in links {
      let facts = try tree.verifyStored(path)
      #expect(try tree.verify(path, bytes) == facts)
      #expect(try tree.adding([path: bytes]).verifyStored(path) == facts)
    }
  }
}
