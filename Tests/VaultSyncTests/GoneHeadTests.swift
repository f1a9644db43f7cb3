import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A head that a sync has brought is not in the folder any more: a program that copies has carried a removal, say. Nothing else
/// tells that what it alone had brought is out of sight.
@Suite struct GoneHeadTests {
  private let remote = MemoryStore()
  private let family: Family
  private let path: VaultPath
  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }

  init() throws {
    let family = try Family()
    try family.meet(at: remote)
    try family[0].write("Visit", "by the desk")
    for device in family.devices { try device.sync(remote) }
    path = .head(try family[0].emma.id, family[0].vault.device)
    self.family = family
  }

  /// What is told of it when the vault is opened.
  private func told(_ options: OpenOptions = OpenOptions()) throws -> [Problem] {
    try laptop.store.remove(BlobPath(path.string))
    try laptop.reopen(options)
    return laptop.vault.problems.filter { $0.path == path.string }
  }

  private var showsTheVisit: Bool {
    get throws { try laptop.contents().values.contains("by the desk") }
  }

  @Test func itIsToldUntilItHasComeAgain() throws {
    #expect(try showsTheVisit)
    for _ in 0..<2 {
      let told = try told()
      #expect(told.map(\.kind) == [.missing] && told.map(\.severity) == [.warning])
      #expect(try !showsTheVisit)
    }
    try laptop.sync(remote)
    try laptop.reopen()
    #expect(try showsTheVisit)
    #expect(laptop.vault.problems.filter { $0.severity > .note } == [])
  }

  @Test func whatAnotherHeadHasIsNotMissed() throws {
    try laptop.write("Next", "by the laptop")
    #expect(try told() == [])
    #expect(try showsTheVisit)
  }

  @Test func itIsNotMissedOfADeviceThatIsLeftOut() throws {
    try laptop.vault.beginGeneration(removing: [desk.vault.device], words: Family.words.words)
    #expect(try told() == [])
  }

  /// An older folder was put back on purpose.
  @Test func whoAcceptsThatIsNotToldAgain() throws {
    #expect(try told(OpenOptions(acceptRollback: true)) == [])
    #expect(try told() == [])
  }
}
