import BlobStore
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Numbers at the end of what a number can be, from whoever can write to the folder: no command ends with a signal, and
/// nothing is in the way of what this device writes.
struct HostileNumbersTests {
  private let family: MemoryVault
  private let vault: Vault

  init() throws {
    family = try MemoryVault()
    vault = try family.open()
  }

  private func put(_ path: String, _ bytes: [UInt8] = [1]) throws {
    try family.store.replace(BlobPath(path), bytes, durably: true)
  }

  private func log(_ detail: String) throws {
    vault.audit.note(.read, detail: detail)
    try vault.audit.publish()
  }

  @Test(arguments: ["18446744073709551615", "4611686018427387903", "4611686018427387904", "5000"])
  func aFileAmongTheAuditSegmentsMovesNoNumber(name: String) throws {
    try log("before")
    let path = "audit/\(vault.device.hex)/\(name)"
    try put(path)
    try log("after")
    try log("later")
    let (events, problems) = try vault.audit.read()
    #expect(events.map(\.event.detail).suffix(3) == ["before", "after", "later"])
    // What is no number of the format is no segment.
    #expect(problems.map(\.path) == (try #require(UInt64(name)) <= Limits.number ? [path] : []))
  }

  @Test func theLogGoesOnAboveASegmentThatIsBroken() throws {
    try log("before")
    let segments = try vault.audit.segments(of: vault.device)
    let newest = try #require(segments.last)
    try put(VaultPath.auditSegment(vault.device, first: newest).string)
    try log("after")
    try log("later")
    let now = try vault.audit.segments(of: vault.device)
    #expect(now.count == segments.count + 2)
    #expect(now[segments.count] >= newest + 1024)
    let (events, problems) = try vault.audit.read()
    #expect(events.map(\.event.detail).suffix(2) == ["after", "later"])
    #expect(!problems.isEmpty)
  }

  /// Number 12 of the review: a folder with the last number made removing a device impossible.
  @Test func whatIsPutAmongTheKeysIsNotInTheWayOfARemoval() throws {
    let folder = "people/\(vault.person.hex)"
    let known = vault.context.keys.generation
    let last = String(repeating: "f", count: 64)
    for path in [
      "\(folder)/generations/4294967295/\(vault.device.hex)", "\(folder)/closings/\(last)",
      "\(folder)/certificates/\(last)", "\(folder)/wraps/\(last)/\(vault.device.hex)",
      "\(folder)/wraps/\(last)/x", "\(folder)/closings/x",
    ] { try put(path) }
    try vault.beginGeneration(removing: [], words: family.created.words)
    let own = try vault.context.ownPerson()
    #expect(own.generation != known && own.history.counting.count == 2)
    #expect(try family.open().context.ownPerson().generation == own.generation)
  }

  @Test(arguments: [UInt64.max, Limits.time + 1])
  func aLinkAtTheEndOfTime(time: UInt64) throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let vault = adults.ben.vault
    let emma = try #require(adults.ben.emma)
    for place in [nil, Place(link: emma.id.root, person: adults.ben.id)] {
      var link = try vault.link(of: emma, as: place, [.limit(vault.person, nil, until: 0)])
      link.time = time
      if place == nil { link.heads = [LastHead(device: vault.device, counter: time)] }
      if place != nil { link.changes = [.give(vault.person, .editor, until: time)] }
      try vault.forge(link, into: adults.anna.store)
    }
    try adults.anna.reopen()
    let member = try #require(adults.anna.emma)
    // Neither is a link.
    #expect(try member.accesses().count == 2)
    try adults.anna.vault.share(member, with: vault.person, role: .owner)
    #expect(try member.accesses().first { $0.person == vault.person }?.role == .owner)
  }
}
