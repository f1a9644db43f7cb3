import Places
import SystemPackage

/// Where this checkout is, and the real input that `Scripts/setup --test` fetched into it.
enum Repository {
  static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent()

  struct Missing: Error, CustomStringConvertible {
    let path: FilePath
    var description: String { "\(path) is missing: run Scripts/setup --test" }
  }

  /// Real scans, photographs and PDFs.
  static var scans: FilePath { get throws { try existing("scans") } }

  /// A Python that can read DICOM files.
  static var python: FilePath { get throws { try existing("bin/python") } }

  private static func existing(_ name: String) throws -> FilePath {
    let path = root.appending(".build-python").pushing(FilePath(name))
    guard path.exists else { throw Missing(path: path) }
    return path
  }
}
