import BlobStore
import Testing
import VaultModel

@testable import Vault
@testable import VaultCrypto

/// Chunks of older vaults have larger blocks than those that are written now, under the same names.
@Suite struct ObjectLayoutsTests {
  private let memory: MemoryVault
  private let vault: Vault
  private let emma: Member

  init() throws {
    memory = try MemoryVault()
    vault = try memory.open()
    emma = try vault.addMember(named: #require(FileName("Emma")))
  }

  /// Puts the chunk in its place as it would have been written with this layout.
  private func place(
    _ content: [UInt8], _ layout: ObjectLayout
  ) throws -> (name: ObjectName, file: [UInt8]) {
    let keys = emma.objects.keys.current
    let name = keys.name(kind: .chunk, content: content)
    var file = [UInt8](repeating: 0, count: layout.fileSize(contentSize: content.count))
    content.withUnsafeBytes { content in
      file.withUnsafeMutableBytes {
        keys.cipher(for: name, kind: .chunk, layout: layout).seal(content, into: $0)
      }
    }
    try emma.objects.place(name, file: file)
    return (name, file)
  }

  private func content(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
  }

  /// Of one block in both, in one only, and in none.
  static let sizes = [1, 480, 4_088, 4_089, 10_240, 16_376, 16_377, 40_000, 1 << 20]

  @Test(arguments: sizes, ObjectLayout.all)
  func readsAnyPartOfEither(size: Int, layout: ObjectLayout) throws {
    let content = content(size)
    let (name, _) = try place(content, layout)
    for start in [0, 1, 4_095, 4_096, 16_384, 20_000, size - 1] where start < size {
      for count in [1, 4_096, 20_000, size] {
        let range = start..<min(start + count, size)
        #expect(try emma.objects.read(name, range) == Array(content[range]))
      }
    }
    #expect(try emma.objects.content(name, kind: .chunk) == content)
    #expect(try emma.objects.sealedObject(name, kind: .chunk).kind == .chunk)
  }

  @Test(arguments: sizes, ObjectLayout.all)
  func contentThatIsThereIsNotWrittenAgain(size: Int, layout: ObjectLayout) throws {
    let (name, file) = try place(content(size), layout)
    #expect(try emma.objects.put(.chunk, content(size)) == name)
    try emma.objects.publish(name)
    #expect(try memory.store.read(emma.objects.path(of: name), limit: 2 << 20) == file)
  }

  @Test(arguments: sizes, ObjectLayout.all)
  func isCheckedWithEither(size: Int, layout: ObjectLayout) throws {
    let (name, file) = try place(content(size), layout)
    let scan = Item(
      name: try #require(FileName("scan")), file: .random(), size: UInt64(size),
      content: .chunks([name]), time: .zero)
    var edit = RecordEdit.newRecord("scans")
    edit.items[scan.name] = scan
    #expect(try emma.commit([edit]).failures.isEmpty)
    #expect(try vault.check(readsData: true).problems.isEmpty)
    let cut = layout.fileSize(contentSize: size) - 1
    try emma.objects.place(name, file: Array(file[..<cut]))
    #expect(try !vault.check(readsData: false).problems.isEmpty)
  }

  @Test(arguments: sizes, ObjectLayout.all)
  func aFlippedBitIsFoundInEither(size: Int, layout: ObjectLayout) throws {
    var (name, file) = try place(content(size), layout)
    for position in [0, 4, 5, 6, 7, 8, 15, 16, file.count - 1] {
      file[position] ^= 2
      try emma.objects.place(name, file: file)
      #expect(throws: VaultError.self, "byte \(position)") {
        try emma.objects.content(name, kind: .chunk)
      }
      // A block is opened with the header that it was sealed with, not with the one in the file.
      if position == 16 { #expect(throws: VaultError.self) { try emma.objects.read(name, 0..<1) } }
      file[position] ^= 2
    }
  }
}
