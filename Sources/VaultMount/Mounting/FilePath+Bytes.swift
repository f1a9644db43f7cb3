import SystemPackage

extension FilePath {
  /// A path of raw bytes, which need not be UTF-8. A NUL ends it.
  init(bytes: some Sequence<UInt8>) {
    var characters = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
    characters.append(0)
    self = characters.withUnsafeBufferPointer { buffer in
      // The array always holds the terminating NUL, so it has a base address.
      buffer.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
    }
  }

  /// The path's bytes without a terminating NUL.
  var bytes: [UInt8] {
    withPlatformString { start in
      var result: [UInt8] = []
      var next = start
      while next.pointee != 0 {
        result.append(UInt8(bitPattern: next.pointee))
        next += 1
      }
      return result
    }
  }

  /// Whether this path is `other` or lies under it, by whole components; both absolute and without links.
  func isOrLiesUnder(_ other: FilePath) -> Bool { starts(with: other) }
}
