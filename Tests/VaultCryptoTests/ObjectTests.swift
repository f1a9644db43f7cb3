import Testing
import VaultModel

@testable import VaultCrypto

/// Docs/Format.md, "6. Objects".
@Suite struct ObjectTests {
  let keys = Sample.epochKeys()

  /// Around the padding floor and every block boundary, counting the length at the end of the body.
  static let sizes: [Int] = {
    var sizes: Set<Int> = [0, 1, 2, 3, 479, 480, 481, 487, 488, 489, 4_096, 10_240]
    for block in 1...3 {
      for delta in -24...9 { sizes.formUnion([block << 12 + delta, block << 14 + delta]) }
    }
    sizes.formUnion([1 << 20 - 1, 1 << 20])
    return sizes.sorted()
  }()

  private func sealed(_ content: [UInt8], _ kind: ObjectKind = .chunk) -> (ObjectName, [UInt8]) {
    let name = keys.name(kind: kind, content: content)
    return (name, keys.seal(name: name, kind: kind, content: content))
  }

  /// What somebody with the keys puts under the name of another content.
  private func planted(_ content: [UInt8], as name: ObjectName, _ kind: ObjectKind = .chunk)
    -> [UInt8]
  {
    keys.seal(name: name, kind: kind, content: content)
  }

  @Test(arguments: sizes, [ObjectKind.chunk, .page]) func opensWhatItSealed(
    size: Int, kind: ObjectKind
  ) throws {
    let plaintext = content(size)
    let (name, file) = sealed(plaintext, kind)
    #expect(file.count == ObjectLayout(of: kind).fileSize(contentSize: size))
    #expect(try keys.open(name: name, kind: kind, file: file) == plaintext)
  }

  @Test(arguments: [ObjectKind.chunk, .page]) func anotherBlockSizeInTheHeaderIsRefused(
    kind: ObjectKind
  ) throws {
    for size in [100, 10_240] {
      var (name, file) = sealed(content(size), kind)
      file[6] ^= 12 ^ 14
      #expect(throws: CryptoError.self) { try keys.open(name: name, kind: kind, file: file) }
    }
  }

  @Test(arguments: ObjectKind.allCases) func sealsEveryKind(kind: ObjectKind) throws {
    let (name, file) = sealed(content(700), kind)
    #expect(try keys.open(name: name, kind: kind, file: file) == content(700))
    #expect(try file.withUnsafeBytes { try ObjectHeader(decoding: $0) }.kind == kind)
  }

  @Test func theSameContentGivesTheSameFileEverywhere() {
    let (name, file) = sealed(content(40_000))
    let elsewhere = Sample.epochKeys()
    #expect(elsewhere.name(kind: .chunk, content: content(40_000)) == name)
    #expect(elsewhere.seal(name: name, kind: .chunk, content: content(40_000)) == file)
  }

  @Test func namesDependOnKindContentMemberAndVault() {
    let bytes = content(100)
    let key = Sample.familyMemberKey()
    let otherMember = EpochKeys(
      key, member: MemberID([UInt8](repeating: 1, count: 32))!, binding: Sample.binding)
    let otherVault = EpochKeys(key, member: Sample.member, binding: Sample.otherBinding)
    let names: Set<ObjectName> = [
      keys.name(kind: .chunk, content: bytes), keys.name(kind: .page, content: bytes),
      keys.name(kind: .chunk, content: bytes + [0]),
      otherMember.name(kind: .chunk, content: bytes),
      otherVault.name(kind: .chunk, content: bytes),
    ]
    #expect(names.count == 5)
    #expect(Set([keys.keyID, otherMember.keyID, otherVault.keyID]).count == 3)
  }

  // MARK: Blocks

  @Test(
    arguments: [0, 480, 4_088, 4_089, 16_376, 16_377, 40_000, 70_000], [ObjectKind.chunk, .page])
  func anyRangeOfBlocksOpensAsTheWholeDoes(size: Int, kind: ObjectKind) throws {
    let (name, file) = sealed(content(size), kind)
    let cipher = keys.cipher(for: name, kind: kind)
    let layout = ObjectLayout(of: kind)
    let bodySize = layout.bodySize(contentSize: size)
    let count = layout.blockCount(bodySize: bodySize)
    let body = try openBlocks(0..<count, of: file, cipher, bodySize)
    #expect(Array(body[..<size]) == content(size))
    for lower in 0..<count {
      for upper in lower + 1...count {
        let part = try openBlocks(lower..<upper, of: file, cipher, bodySize)
        let range = layout.bodyRange(ofBlocks: lower..<upper, bodySize: bodySize)
        #expect(part == Array(body[range]))
      }
    }
    #expect(try openBlocks(0..<0, of: file, cipher, bodySize).isEmpty)
  }

  @Test func blocksDoNotOpenAtAnotherPlaceNorAsTheLast() throws {
    let layout = ObjectLayout(of: .chunk)
    let (name, file) = sealed(content(4 * layout.blockSize))
    let cipher = keys.cipher(for: name, kind: .chunk)
    let bodySize = layout.bodySize(contentSize: 4 * layout.blockSize)
    let block = Array(file[layout.fileRange(ofBlocks: 1..<2, bodySize: bodySize)])
    var output = [UInt8](repeating: 0, count: layout.blockSize)
    for (index, isLast) in [(0, false), (2, false), (1 << 32 + 1, false), (1, true)] {
      #expect(throws: CryptoError.authenticationFailed) {
        try open(index..<index + 1, isLast, block, &output, cipher)
      }
    }
    try open(1..<2, false, block, &output, cipher)
    let last = Array(file[layout.fileRange(ofBlocks: 4..<5, bodySize: bodySize)])
    #expect(throws: CryptoError.self) { try open(4..<5, false, last, &output, cipher) }
    try open(4..<5, true, last, &output, cipher)
  }

  @Test func blocksOfImpossibleSizeAreRefused() {
    let (name, _) = sealed(content(10), .page)
    let cipher = keys.cipher(for: name, kind: .page)
    #expect(cipher.header.layout.blockSize == 1 << 14)
    var output = [UInt8](repeating: 0, count: 2 << 14)
    for (blocks, isLast, size) in [
      (0..<1, true, 0), (0..<1, true, 16), (0..<1, true, 16_401), (0..<1, false, 16_399),
      (0..<2, true, 16_416), (0..<2, true, 16_400), (0..<2, false, 16_400), (0..<0, false, 1),
      (0..<0, true, 1), (5..<7, false, 32_801),
    ] {
      #expect(throws: CryptoError.self, "\(blocks) \(isLast) \(size)") {
        try open(blocks, isLast, content(size), &output, cipher)
      }
    }
  }

  // MARK: Damage

  @Test(arguments: [0, 500]) func everySingleBitFlipIsFound(size: Int) {
    let (name, file) = sealed(content(size))
    for bit in 0..<file.count * 8 {
      var damaged = file
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.self, "bit \(bit)") {
        try keys.open(name: name, kind: .chunk, file: damaged)
      }
    }
  }

  @Test func everyTruncationAndExtensionIsFound() {
    let (name, file) = sealed(content(17_000))
    for size in [0, 1, 15, 16, 17, 31, 32, 33, 519, 520, 4_128, 16_464] + Array(16_900..<file.count)
    {
      #expect(throws: CryptoError.self, "\(size)") {
        try keys.open(name: name, kind: .chunk, file: Array(file[..<size]))
      }
    }
    for extra in [1, 8, 16, 17, 4_096, 4_112, 16_384, 16_400] {
      #expect(throws: CryptoError.self) {
        try keys.open(
          name: name, kind: .chunk, file: file + [UInt8](repeating: 0, count: extra))
      }
    }
  }

  @Test func swappedBlocksAreFound() {
    let (name, file) = sealed(content(3 << 12))
    var swapped = Array(file[..<16])
    swapped += file[16 + 4_112..<16 + 2 * 4_112]
    swapped += file[16..<16 + 4_112]
    swapped += file[(16 + 2 * 4_112)...]
    #expect(throws: CryptoError.authenticationFailed) {
      try keys.open(name: name, kind: .chunk, file: swapped)
    }
  }

  @Test func randomBytesBehindAHeaderAreRefused() {
    let (name, file) = sealed(content(100))
    for size in [0, 1, 15, 16, 17, 504, 505, 4_112, 4_113, 16_384, 16_400, 16_401, 40_000] {
      for prefix in [0, 4, 8, 16] {
        #expect(throws: CryptoError.self) {
          try keys.open(name: name, kind: .chunk, file: Array(file[..<prefix]) + randomBytes(size))
        }
      }
    }
  }

  @Test func contentUnderAnotherNameIsRefused() {
    let (name, _) = sealed(content(100))
    let (_, otherFile) = sealed(content(101))
    #expect(throws: CryptoError.authenticationFailed) {
      try keys.open(name: name, kind: .chunk, file: otherFile)
    }
  }

  @Test func anotherKindIsRefusedAndNamed() {
    let (name, file) = sealed(content(100), .record)
    #expect(throws: CryptoError.wrongKind(found: 4, expected: .page)) {
      try keys.open(name: name, kind: .page, file: file)
    }
    var relabelled = file
    relabelled[5] = ObjectKind.page.rawValue
    #expect(throws: CryptoError.authenticationFailed) {
      try keys.open(name: name, kind: .page, file: relabelled)
    }
  }

  @Test func anotherEpochsObjectIsRefusedAndNamed() {
    let other = EpochKeys(.random(), member: Sample.member, binding: Sample.binding)
    let name = other.name(kind: .chunk, content: content(100))
    var file = other.seal(name: name, kind: .chunk, content: content(100))
    #expect(throws: CryptoError.otherKey(found: other.keyID, expected: keys.keyID)) {
      try keys.open(name: name, kind: .chunk, file: file)
    }
    file.replaceSubrange(8..<16, with: keys.keyID.bytes)
    #expect(throws: CryptoError.authenticationFailed) {
      try keys.open(name: name, kind: .chunk, file: file)
    }
  }

  // MARK: Forged by somebody with the keys

  @Test(arguments: [100, 4_096, 4_097, 40_000], [ObjectKind.chunk, .page, .record])
  func contentThatAKeyHolderPutUnderAnotherNameIsRefused(size: Int, kind: ObjectKind) throws {
    let (name, _) = sealed(content(size), kind)
    for other in [content(size - 1), content(size).reversed(), content(size) + [0]] {
      #expect(throws: CryptoError.nameMismatch) {
        try keys.open(name: name, kind: kind, file: planted(other, as: name, kind))
      }
    }
  }

  /// The right content with hashes of another one: whoever reads a part would be shown that one.
  @Test func hashesThatAreNotOfTheContentAreRefused() throws {
    let plaintext = content(40_000)
    let (name, file) = sealed(plaintext)
    func forged(changing position: Int?) -> [UInt8] {
      plaintext.withUnsafeBytes { bytes in
        var hashed = HashedContent(.chunk, bytes)
        var hashes = BlockHashes(of: bytes).bytes
        if let position { hashes[position] ^= 1 }
        hashed.blocks = BlockHashes(contentSize: bytes.count, bytes: hashes)
        var file = [UInt8](repeating: 0, count: file.count)
        file.withUnsafeMutableBytes { keys.seal(hashed, as: name, into: $0) }
        return file
      }
    }
    #expect(forged(changing: nil) == file)
    for position in [0, 31, 319] {
      #expect(throws: CryptoError.self) {
        try keys.open(name: name, kind: .chunk, file: forged(changing: position))
      }
    }
  }

  @Test(arguments: [0, 1, 480, 4_095, 4_096, 4_097, 16_385, 40_000, 1 << 20])
  func eachBlockMatchesItsHashAndNoOther(size: Int) throws {
    let plaintext = content(size)
    let hashes = plaintext.withUnsafeBytes { BlockHashes(of: $0) }
    let padded = plaintext + [UInt8](repeating: 0, count: hashes.paddedSize - size)
    let starts = stride(from: 0, to: padded.count, by: 4_096)
    for (index, start) in starts.enumerated() {
      let block = Array(padded[start..<min(start + 4_096, padded.count)])
      #expect(block.withUnsafeBytes { hashes.match($0, first: index) })
      #expect(!block.withUnsafeBytes { hashes.match($0, first: index + 1) })
      var other = block
      other[block.count - 1] ^= 1
      #expect(!other.withUnsafeBytes { hashes.match($0, first: index) })
    }
    #expect(padded.withUnsafeBytes { hashes.match($0, first: 0) })
    #expect(!(padded + [0]).withUnsafeBytes { hashes.match($0, first: 0) })
    #expect(!padded.withUnsafeBytes { hashes.match($0, first: -1) })
    #expect(BlockHashes(contentSize: size, bytes: hashes.bytes) == hashes)
    #expect(BlockHashes(contentSize: size, bytes: hashes.bytes.dropLast()) == nil)
    #expect(BlockHashes(contentSize: size, bytes: hashes.bytes + hashes.bytes) == nil)
    // The digest is of the length as well: zeros after the content are no content.
    let longer = BlockHashes(contentSize: min(size + 1, 1 << 20), bytes: hashes.bytes)
    if let longer, longer.contentSize != size { #expect(longer.digest != hashes.digest) }
    #expect(keys.name(of: hashes.digest) == keys.name(kind: .chunk, content: plaintext))
  }

  @Test func onlyCanonicalPaddingIsAccepted() throws {
    func size(_ body: [UInt8]) throws -> Int {
      try body.withUnsafeBytes {
        try ObjectCipher.contentSize(body: $0, layout: ObjectLayout(of: .chunk))
      }
    }
    func body(_ content: Int, _ zeros: [UInt8], _ length: UInt64) -> [UInt8] {
      [UInt8](repeating: 5, count: content) + zeros + bigEndianBytes(length)
    }
    #expect(try size(body(470, [UInt8](repeating: 0, count: 10), 470)) == 470)
    #expect(try size(body(480, [], 480)) == 480)
    for length in [481, 488, 1 << 32, UInt64(Int64.max), 1 << 63, .max] {
      #expect(throws: CryptoError.self) { try size(body(480, [], length)) }
    }
    // A zero too many or too few for the length, and padding that carries something.
    #expect(throws: CryptoError.self) { try size(body(496, [UInt8](repeating: 0, count: 8), 480)) }
    for position in 0..<10 {
      var zeros = [UInt8](repeating: 0, count: 10)
      zeros[position] = 1
      #expect(throws: CryptoError.self) { try size(body(470, zeros, 470)) }
    }
    for short in 0..<8 {
      #expect(throws: CryptoError.self) { try size([UInt8](repeating: 0, count: short)) }
    }
  }

  @Test func anObjectBeyondTheLimitOfItsKindIsRefusedBeforeAnythingIsAllocated() {
    let (name, _) = sealed(content(10))
    for kind in [ObjectKind.index, .chunk] {
      let tooLarge = ObjectLayout(of: kind).fileSize(contentSize: 65 << 10)
      let size = try? keys.cipher(for: name, kind: kind).bodySize(fileSize: tooLarge)
      #expect((size == nil) == (kind == .index))
    }
  }

  @Test func theHeaderSaysWhatIsWrongWithIt() {
    let (_, file) = sealed(content(1))
    func header(_ position: Int, _ value: UInt8) throws -> ObjectHeader {
      var bytes = Array(file[..<16])
      bytes[position] = value
      return try bytes.withUnsafeBytes { try ObjectHeader(decoding: $0) }
    }
    for version: UInt8 in [1, 3] {
      #expect(throws: CryptoError.unsupportedVersion(found: version)) { try header(4, version) }
    }
    for (position, value) in [(0, 0x4c), (3, 0), (5, 0), (5, 7), (6, 13), (6, 255), (7, 1)] {
      #expect(throws: CryptoError.self) { try header(position, UInt8(value)) }
    }
    #expect(throws: CryptoError.self) {
      try Array(file[..<15]).withUnsafeBytes { try ObjectHeader(decoding: $0) }
    }
    #expect(throws: Never.self) { try header(15, 1) }
  }

  @Test func manyThreadsMayUseTheSameKeys() async {
    await withTaskGroup(of: Bool.self) { group in
      for size in stride(from: 0, to: 60_000, by: 1_500) {
        group.addTask {
          let plaintext = content(size)
          return (0..<20).allSatisfy { _ in
            let name = keys.name(kind: .chunk, content: plaintext)
            let file = keys.seal(name: name, kind: .chunk, content: plaintext)
            return (try? keys.open(name: name, kind: .chunk, file: file)) == plaintext
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  // MARK: Details

  private func openBlocks(
    _ blocks: Range<Int>, of file: [UInt8], _ cipher: ObjectCipher, _ bodySize: Int
  ) throws -> [UInt8] {
    let layout = cipher.header.layout
    let range = layout.bodyRange(ofBlocks: blocks, bodySize: bodySize)
    var output = [UInt8](repeating: 0, count: range.count)
    try open(
      blocks, blocks.upperBound == layout.blockCount(bodySize: bodySize),
      Array(file[layout.fileRange(ofBlocks: blocks, bodySize: bodySize)]), &output, cipher)
    return output
  }

  private func open(
    _ blocks: Range<Int>, _ isLast: Bool, _ ciphertext: [UInt8], _ output: inout [UInt8],
    _ cipher: ObjectCipher
  ) throws {
    try output.withUnsafeMutableBytes { output in
      try ciphertext.withUnsafeBytes { ciphertext in
        try cipher.openBlocks(blocks, isLast: isLast, ciphertext: ciphertext, into: output)
      }
    }
  }
}

extension EpochKeys {
  /// The name of the object with this content.
  func name(kind: ObjectKind, content: [UInt8]) -> ObjectName {
    content.withUnsafeBytes { name(of: HashedContent(kind, $0).digest) }
  }
}
