import Glibc
import Rendering
import SystemPackage
import Testing

/// The programs that were built beside the tests.
enum Built {
  static func path(_ name: String) throws -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
      decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let built = FilePath(path).removingLastComponent().appending(name).string
    try #require(access(built, X_OK) == 0, "there is no \(built): build the product first")
    return built
  }

  /// The program that opens files of a format.
  static func path(_ format: ForeignFormat) throws -> String {
    try path("kinvault-render-\(format)")
  }
}

extension Renderer {
  /// With the programs that were built.
  static func built(timeLimit: Duration = Renderer.timeLimit) throws -> Renderer {
    let programs = try ForeignFormat.allCases.map { ($0, try Built.path($0)) }
    let paths = Dictionary(uniqueKeysWithValues: programs)
    return Renderer(timeLimit: timeLimit) { paths[$0] }
  }
}
