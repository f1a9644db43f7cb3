import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// A small vault with one thing wrong in it: it is reported with its path, or does no harm; other content never shows.
@Suite struct BitFlipTests {
  private struct Sample {
    let memory: MemoryVault
    let record: RecordID
    let paths: [BlobPath]
  }

  /// Made once; each test changes copies of it.
  private static let sample = Result { try makeSample() }

  private static func makeSample() throws -> Sample {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    var edit = RecordEdit.newRecord("Visit", note: "---\ntype: visit\n---\nAll well.")
    edit.items[try #require(FileName("scan"))] = try .file("scan", Array(0...200), in: emma)
    _ = try emma.commit([edit])
    try vault.close()
    return Sample(
      memory: memory, record: edit.record,
      paths: memory.store.blobs.keys.sorted { $0.string < $1.string })
  }

  /// Opens, checks and reads everything.
  ///
  /// - Returns: The paths that were reported, whatever reported them.
  private func reported(_ memory: MemoryVault, _ sample: Sample) throws -> Set<String> {
    let vault: Vault
    do { vault = try memory.open(OpenOptions(readOnly: true)) } catch let error as VaultError {
      return [path(in: error)]
    }
    let report = try vault.check(readsData: true)
    var paths = Set(report.problems.map(\.path))
    for member in vault.members {
      // What can be read at all is what was written.
      do {
        if let text = try member.bytes(of: "record.md", in: sample.record) {
          #expect(text == Array("---\ntype: visit\n---\nAll well.".utf8))
        }
        if let scan = try member.bytes(of: "scan", in: sample.record) {
          #expect(scan == Array(0...200))
        }
      } catch let error as VaultError {
        paths.insert(path(in: error))
      }
    }
    return paths
  }

  private func path(in error: VaultError) -> String {
    switch error {
    case .damaged(let path, _), .missing(let path), .rolledBack(let path, _, _),
      .forked(let path, _), .io(let path, _):
      path
    case .unsupported, .notAVault, .noDeviceHere: VaultPath.vault.string
    default: "\(error)"
    }
  }

  /// Side by side, since it is the longest test of all.
  private static let partCount = 4

  @Test(arguments: 0..<partCount)
  func everyFlippedBitIsReported(part: Int) throws {
    let sample = try Self.sample.get()
    var flipped = 0
    for path in sample.paths {
      let bytes = try sample.memory.store.read(path, limit: 1 << 20)
      // Every byte, each time another of its bits.
      for position in bytes.indices where position % Self.partCount == part {
        var changed = bytes
        changed[position] ^= 1 << UInt8(position % 8)
        let memory = sample.memory.afterKill()
        try memory.store.replace(path, changed, durably: true)
        let paths = try reported(memory, sample)
        flipped += 1
        guard path.string != VaultPath.vault.string else { continue }
        #expect(paths.contains(path.string), "\(path) at byte \(position), reported \(paths)")
      }
    }
    #expect(flipped > 700)
  }

  @Test func everyTruncatedOrMissingFileIsReported() throws {
    let sample = try Self.sample.get()
    for path in sample.paths where path.string != VaultPath.vault.string {
      let bytes = try sample.memory.store.read(path, limit: 1 << 20)
      for count in stride(from: 0, to: bytes.count, by: 61) {
        let memory = sample.memory.afterKill()
        try memory.store.replace(path, Array(bytes[..<count]), durably: true)
        #expect(try reported(memory, sample).contains(path.string), "\(path) cut to \(count)")
      }
      let memory = sample.memory.afterKill()
      try memory.store.remove(path)
      let paths = try reported(memory, sample)
      // A name only, a member that was never finished, or the end of the log: nothing that a record needs.
      let isNeeded = !path.string.contains("/devices/") && !path.string.hasPrefix("audit/")
      if isNeeded { #expect(!paths.isEmpty, "\(path) removed") }
    }
  }

  @Test func everyExchangedPairIsReported() throws {
    let sample = try Self.sample.get()
    for (position, path) in sample.paths.enumerated() {
      for other in sample.paths[(position + 1)...] {
        let memory = sample.memory.afterKill()
        let one = try memory.store.read(path, limit: 1 << 20)
        let two = try memory.store.read(other, limit: 1 << 20)
        try memory.store.replace(path, two, durably: true)
        try memory.store.replace(other, one, durably: true)
        #expect(try !reported(memory, sample).isEmpty, "\(path) and \(other)")
      }
    }
  }
}
