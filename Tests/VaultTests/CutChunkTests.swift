import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault

/// A chunk whose file was cut short.
@Suite struct CutChunkTests {
  /// By the size of its file alone, whatever its content's: nothing is opened.
  @Test(arguments: [1, 480, 4_088, 4_089, 4_096, 4_097, 10_240, 40_000, 930_000, 1 << 20])
  func aCheckFindsIt(size: Int) throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let digest = try emma.objects.put(.chunk, [UInt8](repeating: 7, count: size))
    let scan = Item(
      name: try #require(FileName("scan")), file: .random(), size: UInt64(size),
      content: .chunks([digest]), time: .zero)
    var edit = RecordEdit.newRecord("scans")
    edit.items[scan.name] = scan
    #expect(try emma.commit([edit]).failures.isEmpty)
    #expect(try vault.check(readsData: true).problems.isEmpty)
    let file = try memory.store.read(emma.objects.path(of: digest), limit: 2 << 20)
    try emma.objects.place(emma.objects.name(of: digest), file: file.dropLast())
    #expect(try !vault.check(readsData: false).problems.isEmpty)
  }
}
