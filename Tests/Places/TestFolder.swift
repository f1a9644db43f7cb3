import Glibc
import Synchronization
import SystemPackage

/// The temporary folder of this test process, removed when the process ends.
package final class TestFolder: Sendable {
  package static let shared = TestFolder()

  package let path: FilePath
  private let number = Atomic(0)

  private init() {
    let root = environment("TMPDIR") ?? "/tmp"
    var template = Array("\(root)/kinvault-tests.XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      fatalError("No temporary folder can be made in \(root): \(Errno.current)")
    }
    path = FilePath(String(cString: made))
    atexit { TestFolder.remove(TestFolder.shared.path) }
  }

  /// A number that no one else in this process gets.
  package func nextNumber() -> Int { number.add(1, ordering: .relaxed).newValue }

  /// A fresh, empty folder on the plain disk, which lives as long as the process.
  package func fresh(_ name: String) throws -> FilePath {
    let folder = path.appending("\(name)-\(nextNumber())")
    try Errno.check(mkdir(folder.string, 0o700))
    return folder
  }

  /// Removes a folder with everything in it, and never leaves the file system that it is on.
  package static func remove(_ folder: FilePath) {
    do {
      try Command(["rm", "-rf", "--one-file-system", folder.string]).succeed()
    } catch {
      print("COULD NOT BE REMOVED: \(folder): \(error)")
    }
  }
}
