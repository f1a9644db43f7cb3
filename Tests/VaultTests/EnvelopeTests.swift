import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault

/// Number 13 of the review: whoever has no key spells a signed file otherwise. It is no other file with the same number.
@Suite struct EnvelopeTests {
  private let adults: Adults

  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("By Ben")
    try adults.meet()
  }

  private var anna: Adults.Adult { adults.anna }

  /// Appends an unknown field to a file of Anna's folder.
  ///
  /// - Returns: What it was.
  private func append(to path: VaultPath) throws -> [UInt8] {
    let path = BlobPath(path.string)
    let bytes = try anna.store.read(path, limit: 1 << 20)
    try anna.store.replace(path, bytes + [0x18, 1], durably: true)
    return bytes
  }

  private func forks() -> [Problem] { anna.vault.problems.filter { $0.kind == .fork } }

  @Test func anothersFilesForkForNobody() throws {
    let emma = try #require(anna.emma).id
    let (ben, device) = (adults.ben.id, adults.ben.vault.device)
    let certificate = try adults.ben.vault.context.ownCertificate().id
    let paths: [VaultPath] = [
      .head(emma, device), .device(ben, device), .certificate(ben, certificate),
      .closing(ben, adults.ben.vault.context.keys.generation),
    ]
    for path in paths {
      let real = try append(to: path)
      try anna.reopen()
      #expect(forks() == [], "\(path)")
      // What counted goes on counting, and nothing stays of it once the file is whole again.
      try anna.write("Meanwhile at \(path.string.prefix(24))")
      try anna.store.replace(BlobPath(path.string), real, durably: true)
      try anna.reopen()
      #expect(forks() == [] && anna.vault.problems.allSatisfy { $0.severity < .damage }, "\(path)")
      #expect(try anna.titles.contains("By Ben"))
    }
  }

  @Test func anOwnHeadThatIsSpelledOtherwiseBlocksNoWriting() throws {
    try anna.write("Before")
    let path = VaultPath.head(try #require(anna.emma).id, anna.vault.device)
    _ = try append(to: path)
    try anna.reopen()
    try anna.write("After")
    try anna.reopen()
    #expect(forks() == [])
    #expect(try anna.titles == ["By Ben", "Before", "After"])
  }
}
