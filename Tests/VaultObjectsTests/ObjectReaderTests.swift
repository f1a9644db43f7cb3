import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import VaultCrypto
@testable import VaultObjects

/// Parts of chunks, whole ones and such as somebody with the keys has forged.
@Suite struct ObjectReaderTests {
  private let memory: MemoryObjects
  private var objects: ObjectStore { memory.objects }

  init() throws { memory = try MemoryObjects() }

  private func content(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
  }

  /// Of one block, of one with the length in the next, and of more; with blocks of nothing but zeros at their end.
  static let sizes = [1, 480, 4_088, 4_089, 4_096, 4_097, 10_240, 40_000, 930_000, 1 << 20]

  /// Puts the chunk in its place.
  private func place(_ content: [UInt8]) throws -> ContentDigest {
    let keys = memory.keys
    let digest = content.withUnsafeBytes { HashedContent(.chunk, $0).digest }
    let name = keys.name(of: digest)
    try objects.place(name, file: keys.seal(name: name, kind: .chunk, content: content))
    return digest
  }

  private func replace(_ digest: ContentDigest, by file: [UInt8]) throws {
    try objects.place(objects.name(of: digest), file: file)
  }

  @Test(arguments: sizes) func readsAnyPart(size: Int) throws {
    let content = content(size)
    let digest = try place(content)
    for start in [0, 1, 4_095, 4_096, 16_384, 20_000, 925_696, size - 1] where start < size {
      for count in [1, 4_096, 8_192, 20_000, size] {
        let range = start..<min(start + count, size)
        // Each by a reader of its own, and by the one that is open.
        objects.forgetReader(digest)
        #expect(try objects.read(digest, range) == Array(content[range]))
        #expect(try objects.read(digest, range) == Array(content[range]))
      }
    }
    #expect(try objects.content(digest, kind: .chunk) == content)
  }

  @Test(arguments: sizes) func zerosFollowTheContentUpToItsPaddedSizeAndNoFurther(size: Int) throws
  {
    let digest = try place(content(size))
    let padded = ObjectLayout.paddedSize(contentSize: size)
    let reader = try objects.reader(digest)
    var buffer = [UInt8](repeating: 7, count: padded + 100)
    let count = try buffer.withUnsafeMutableBytes { try reader.read(at: 0, into: $0) }
    #expect(count == padded)
    #expect(buffer[size..<padded].allSatisfy { $0 == 0 })
    for offset in [padded, padded + 1, 1 << 40, -1, .min] {
      #expect(try buffer.withUnsafeMutableBytes { try reader.read(at: offset, into: $0) } == 0)
    }
  }

  /// Somebody who may only read has the keys, and so can seal any blocks.
  @Test(arguments: sizes) func whatSomebodyWithTheKeysHasPutThereIsNotRead(size: Int) throws {
    let digest = try place(content(size))
    var forged = content(size)
    let position = size / 2
    forged[position] ^= 1
    let keys = memory.keys
    let name = keys.name(of: digest)
    try replace(digest, by: keys.seal(name: name, kind: .chunk, content: forged))
    for range in [0..<1, position..<position + 1, 0..<size] {
      #expect(throws: VaultError.self, "\(range)") { try objects.read(digest, range) }
    }
    #expect(throws: VaultError.self) { try objects.content(digest, kind: .chunk) }
    #expect(throws: VaultError.self) {
      try objects.sealedObject(objects.name(of: digest))
    }
  }

  /// The hashes are the right ones, one block is not: what is whole of it is read all the same.
  @Test func aBlockThatIsNotThatOfItsHashIsNotRead() throws {
    let content = content(40_000)
    let digest = try place(content)
    let keys = memory.keys
    var forged = content
    forged[5_000] ^= 1
    let file = forged.withUnsafeBytes { forged in
      var hashed = HashedContent(.chunk, forged)
      hashed.blocks = content.withUnsafeBytes { BlockHashes(of: $0) }
      let size = ObjectLayout(of: .chunk).fileSize(contentSize: content.count)
      var file = [UInt8](repeating: 0, count: size)
      file.withUnsafeMutableBytes { keys.seal(hashed, as: keys.name(of: digest), into: $0) }
      return file
    }
    try replace(digest, by: file)
    for range in [5_000..<5_001, 4_096..<4_097, 8_191..<8_193, 0..<40_000] {
      #expect(throws: VaultError.self, "\(range)") { try objects.read(digest, range) }
    }
    for range in [0..<4_096, 8_192..<40_000, 39_999..<40_000] {
      #expect(try objects.read(digest, range) == Array(content[range]))
    }
    #expect(throws: VaultError.self) { try objects.content(digest, kind: .chunk) }
  }

  @Test(arguments: sizes) func aFlippedBitIsFound(size: Int) throws {
    let digest = try place(content(size))
    var file = try memory.store.read(objects.path(of: digest), limit: 2 << 20)
    for position in [0, 4, 5, 6, 7, 8, 15, 16, file.count - 1] {
      file[position] ^= 2
      try replace(digest, by: file)
      #expect(throws: VaultError.self, "byte \(position)") {
        try objects.content(digest, kind: .chunk)
      }
      // A block is opened with the header that it was sealed with, not with the one in the file.
      if position == 16 {
        #expect(throws: VaultError.self) { try objects.read(digest, 0..<1) }
      }
      file[position] ^= 2
    }
  }

  @Test(arguments: sizes) func aCutFileIsFound(size: Int) throws {
    let digest = try place(content(size))
    let file = try memory.store.read(objects.path(of: digest), limit: 2 << 20)
    try replace(digest, by: file.dropLast())
    #expect(throws: VaultError.self) { try objects.content(digest, kind: .chunk) }
    #expect(throws: VaultError.self) { try objects.read(digest, 0..<size) }
  }
}
