import Glibc
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
}
