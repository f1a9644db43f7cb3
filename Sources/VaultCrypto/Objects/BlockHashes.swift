import Glibc
import VaultModel

/// The hashes of a chunk's blocks, by which a part of it is checked without the rest: Docs/Format.md, "6. Objects".
///
/// They are of the content and the zeros after it, cut into the blocks of the chunk's layout.
package struct BlockHashes: Sendable, Equatable {
  /// Of the chunk without the zeros.
  package let contentSize: Int
  /// One after the other, 32 bytes each; one at least.
  package let bytes: [UInt8]

  private static let layout = ObjectLayout(of: .chunk)

  /// Of content and zeros.
  package var paddedSize: Int { ObjectLayout.paddedSize(contentSize: contentSize) }

  /// The hashes that a chunk says it has; nil for another number of them than its size asks for.
  package init?(contentSize: Int, bytes: [UInt8]) {
    let padded = ObjectLayout.paddedSize(contentSize: contentSize)
    let count = Self.layout.blockCount(bodySize: padded)
    guard bytes.count == count * ObjectLayout.hashSize else { return nil }
    self.contentSize = contentSize
    self.bytes = bytes
  }

  package init(of content: UnsafeRawBufferPointer) {
    contentSize = content.count
    let padded = ObjectLayout.paddedSize(contentSize: content.count)
    let blockSize = Self.layout.blockSize
    let byteCount = Self.layout.blockCount(bodySize: padded) * ObjectLayout.hashSize
    bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { output, initializedCount in
      let target = UnsafeMutableRawPointer(output.baseAddress!)
      Hasher256.with { hasher in
        for (index, start) in stride(from: 0, to: padded, by: blockSize).enumerated() {
          let block = start..<min(start + blockSize, padded)
          let inContent = block.clamped(to: 0..<content.count)
          hasher.hash(
            UnsafeRawBufferPointer(rebasing: content[inContent]),
            Zeros.bytes(block.count - inContent.count),
            into: target + index * ObjectLayout.hashSize)
        }
      }
      initializedCount = byteCount
    }
  }

  /// Whether these are the chunk's blocks from `first` on, whole ones: content and the zeros after it.
  package func match(_ blocks: UnsafeRawBufferPointer, first: Int) -> Bool {
    let size = Self.layout.blockSize
    guard first >= 0, first * size + blocks.count <= paddedSize else { return false }
    return bytes.withUnsafeBytes { expected in
      Hasher256.with { hasher in
        withUnsafeTemporaryAllocation(byteCount: ObjectLayout.hashSize, alignment: 8) { hash in
          for (index, start) in stride(from: 0, to: blocks.count, by: size).enumerated() {
            let block = blocks[start..<min(start + size, blocks.count)]
            hasher.hash(UnsafeRawBufferPointer(rebasing: block), into: hash.baseAddress!)
            let offset = (first + index) * ObjectLayout.hashSize
            guard
              memcmp(hash.baseAddress!, expected.baseAddress! + offset, ObjectLayout.hashSize) == 0
            else { return false }
          }
          return true
        }
      }
    }
  }

  /// The digest of the chunk.
  package var digest: ContentDigest {
    withUnsafeBytes(of: UInt64(contentSize).bigEndian) { size in
      bytes.withUnsafeBytes { ContentDigest(of: .chunk, size, $0) }
    }
  }
}

extension ContentDigest {
  /// SHA-256 of `kind ‖ first ‖ second`.
  fileprivate init(
    of kind: ObjectKind, _ first: UnsafeRawBufferPointer,
    _ second: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    self = Swift.withUnsafeBytes(of: kind.rawValue) { kind in
      withUnsafeTemporaryAllocation(byteCount: Hasher256.size, alignment: 8) { hash in
        Hasher256.with { $0.hash(kind, first, second, into: hash.baseAddress!) }
        return ContentDigest(storage: Bytes32(exactly: UnsafeRawBufferPointer(hash)))
      }
    }
  }
}

/// A content with its digest, which names it in every epoch. Must not outlive the bytes.
package struct HashedContent {
  package let kind: ObjectKind
  package let bytes: UnsafeRawBufferPointer
  package let digest: ContentDigest
  /// Of a chunk.
  var blocks: BlockHashes?

  package init(_ kind: ObjectKind, _ bytes: UnsafeRawBufferPointer) {
    self.kind = kind
    self.bytes = bytes
    blocks = kind == .chunk ? BlockHashes(of: bytes) : nil
    digest = blocks?.digest ?? ContentDigest(of: kind, bytes)
  }
}

/// Zeros to be hashed or sealed, never written and never freed.
enum Zeros {
  private nonisolated(unsafe) static let block: UnsafeRawBufferPointer = {
    let zeros = UnsafeMutableRawBufferPointer.allocate(
      byteCount: ObjectLayout.largestBlockSize, alignment: 16)
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    return UnsafeRawBufferPointer(zeros)
  }()

  /// A block of zeros at most.
  static func bytes(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: block[..<count])
  }
}
