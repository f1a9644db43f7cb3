import SystemPackage

extension FilePath {
  /// A path of raw bytes, which need not be UTF-8. A NUL ends it.
  package init(bytes: some Sequence<UInt8>) {
    var characters = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
    characters.append(0)
    self = characters.withUnsafeBufferPointer { buffer in
      // The array always holds the terminating NUL, so it has a base address.
      buffer.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
    }
  }

  /// The path's bytes without a terminating NUL.
  package var bytes: [UInt8] {
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

  /// What stands in this folder under a name that need not be UTF-8.
  package func appending(bytes name: [UInt8]) -> FilePath {
    FilePath(bytes: bytes + [UInt8(ascii: "/")] + name)
  }
}
