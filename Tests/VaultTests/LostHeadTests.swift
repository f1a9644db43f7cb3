import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// The file of somebody else's head that Anna has seen is gone from her folder.
@Suite struct LostHeadTests {
  /// Anna opens the vault, without the file, which a sync had brought.
  private func lose(_ writer: Adults.Adult, _ adults: Adults) throws -> (VaultPath, Member) {
    let member = try #require(adults.anna.emma)
    let path = VaultPath.head(member.id, writer.vault.device)
    let head = try #require(member.heads.withLock { $0.loaded[writer.vault.device] })
    try adults.anna.vault.context.state.updateWatermarks { marks in
      marks.raise(path, counter: head.counter, hash: head.hash)
    }
    try adults.anna.store.remove(BlobPath(path.string))
    try adults.anna.reopen()
    return (path, try #require(adults.anna.emma))
  }

  /// An editor could say so of any head, and take the file away: what it names would be collected.
  @Test(arguments: [false, true])
  func itIsMissedUnlessWhoHasReadItProvesThat(isOwner: Bool) throws {
    let adults = try Adults.withNote(carlaEdits: true).adults
    try adults.carla.write("Of Carla")
    try adults.meet()
    try (isOwner ? adults.anna : adults.ben).write("After that")
    try adults.meet()
    let (path, emma) = try lose(adults.carla, adults)
    let lost = try emma.lostHeads()
    let severity: Problem.Severity = isOwner ? .warning : .damage
    #expect(lost.map(\.path) == [path.string] && lost.map(\.severity) == [severity])
    #expect(adults.anna.problems(at: path).count == (isOwner ? 0 : 1))
  }

  /// Until an owner takes it away an access counts, whatever its date: so does what was written by it.
  @Test func itIsMissedOfSomebodyWhoseAccessHasEndedByItsDate() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor, until: 1_700_000_100_000 + 10 * 86_400_000)
    try adults.ben.write("Of Ben")
    try adults.meet()
    #expect(try adults.anna.titles == ["Of Ben"])
    adults.anna.clock.advance(days: 11)
    let (path, emma) = try lose(adults.ben, adults)
    #expect(try emma.lostHeads().map(\.severity) == [.damage])
    let problems = adults.anna.problems(at: path)
    #expect(problems.count == 1 && problems.allSatisfy(adults.anna.vault.mayHideRecords))
  }
}
