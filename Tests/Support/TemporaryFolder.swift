import BlobStore
import Glibc
import SystemPackage

/// A new folder of its own, removed with everything in it when the last reference goes.
package final class TemporaryFolder: Sendable {
  package let path: FilePath

  /// In `TMPDIR`, or `/tmp`, unless another folder is given.
  package init(in parent: FilePath? = nil) throws(BlobStoreError) {
    let place = parent?.string ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(place)/kinvault-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BlobStoreError(errno: errno, path: place) }
    path = FilePath(platformString: template)
  }

  deinit {
    // A test may have left a folder that its owner cannot list; that is the test's own business.
    guard let name = path.lastComponent?.string,
      let parent = try? DirectoryStore(opening: path.removingLastComponent())
    else { return }
    do throws(BlobStoreError) {
      try parent.removeFolder(BlobPath(name))
    } catch {
      complain("left behind: \(path.string): \(error.message)")
    }
  }

  package func appending(_ name: String) -> FilePath {
    path.appending(name)
  }
}
