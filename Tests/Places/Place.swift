import Glibc
import SystemPackage

/// A folder that the suites run in: one on the plain disk, one inside a mounted vault, and whatever else
/// `KINVAULT_TEST_PLACES` names.
///
/// What must work is a fact about local disks, so every test runs on the plain folder too: a test that fails there is wrong.
package struct Place: Sendable, CustomStringConvertible {
  package let name: String
  package let path: FilePath

  package var description: String { name }

  /// All places. The mounted vault is made at the first use, once for the process, and unmounted when it ends.
  package static let all: [Place] = {
    var places = [Place(name: "plain folder", path: TestFolder.shared.path.appending("plain"))]
    mkdir(places[0].path.string, 0o755)
    for folder in (environment("KINVAULT_TEST_PLACES") ?? "").split(separator: ":") {
      places.append(Place(name: String(folder), path: FilePath(String(folder))))
    }
    do {
      places.append(Place(name: "mount", path: try MountedVault.shared.get().member))
    } catch let reason as MountedVault.Unavailable {
      // A place that cannot be had must fail, not vanish: every test in it then says why.
      print("THE SUITES DO NOT RUN ON A MOUNT: \(reason)")
      if environment("KINVAULT_TEST_WITHOUT_MOUNT") == nil {
        places.append(Place(name: "mount (unavailable: \(reason))", path: "/nonexistent"))
      }
    } catch {
      fatalError("\(error)")
    }
    return places
  }()

  /// The mounted vault alone, for what only a mount has.
  package static var mounted: [Place] { all.filter { $0.name.hasPrefix("mount") } }

  /// Calls `body` with a fresh, empty folder of this place, and removes the folder afterwards.
  @discardableResult
  package func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let folder = path.appending("test-\(Self.nextNumber())")
    try Errno.check(mkdir(folder.string, 0o755))
    defer { TestFolder.remove(folder) }
    return try body(folder)
  }

  private static func nextNumber() -> Int { TestFolder.shared.nextNumber() }
}

/// A variable of the environment; nil when it is not set, or empty.
package func environment(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
