import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// What a person goes without who says since when somebody else had their device: Docs/Format.md, "Changing keys".
@Suite struct DisownedTests {
  private let usb = MemoryStore()
  private let family: Family
  private let phone: DeviceID
  private let note: RecordID
  private let plan: RecordID
  /// What the phone signed while it was its person's, and afterwards.
  private let honest: ContentDigest
  private let lately: [ContentDigest]
  private let since: UInt64

  /// A desk, a laptop and a phone, which was stolen an hour before it was last seen.
  init() throws {
    family = try Family(count: 3)
    phone = family[2].vault.device
    try family[0].write("Other", "of the desk")
    try family.meet(at: usb)
    note = try family[2].write("Visit", "of the phone")
    plan = try family[2].write("Plan", "of the phone")
    honest = try #require(family[2].emma.entry(note)).revision
    try family.meet(at: usb)
    for device in family.devices { device.clock.turn(bySeconds: 3_600) }
    since = family[2].clock.milliseconds()
    try family[2].edit(note, "by the thief")
    try family[2].vault.beginEpoch(of: family[2].emma, without: [])
    // Whose clock is turned back counts on all the same.
    family[2].clock.turn(bySeconds: -3_600)
    let backDated = try family[2].write("Debts", "dated back")
    let emma = try family[2].emma
    lately = try [note, backDated].map { try #require(emma.entry($0)).revision }
    family[2].clock.turn(bySeconds: 3_600)
    try family.meet(at: usb)
  }

  private func standing(_ digest: ContentDigest, at device: Int) throws -> Authorship.Standing? {
    guard case .signed(let author) = try family[device].emma.authorship(of: digest) else {
      return nil
    }
    #expect(author.device == phone)
    return author.standing
  }

  @Test func itIsToldBeforehand() throws {
    let vault = family[0].vault
    let work = try vault.disownedWork(of: Leaving([phone], since: since))
    #expect(work.records == ["Emma/Debts", "Emma/Visit"])
    #expect(work.linkCount == 1)
    #expect(work.members.map(\.string) == ["Emma"])
    let nothing = try vault.disownedWork(of: Leaving([phone]))
    #expect(nothing.records.isEmpty && nothing.linkCount == 0)
  }

  @Test func whatItSignedSinceIsOnNoList() throws {
    try family[0].vault.beginGeneration(
      Leaving([phone], since: since), words: Family.words.words)
    for device in [0, 1, 0] { try family[device].sync(usb) }
    let untouched = try #require(family[0].emma.entry(plan)).revision
    for device in [0, 1] {
      #expect(try standing(honest, at: device) == .listed)
      #expect(try standing(untouched, at: device) == .listed)
      for digest in lately { #expect(try standing(digest, at: device) == .unlisted) }
      // Nothing is lost by it, and nothing hidden: the person looks, and takes back what is wrong.
      #expect(try family[device].emma.entry(note)?.revision == lately[0])
      try family[device].expectWhole()
    }
  }

  @Test func itsChangesOfAccessSinceFall() throws {
    let emma = try family[0].emma
    let link = try #require(emma.register.links.history.signed(by: certificates).first)
    try family[0].vault.beginGeneration(
      Leaving([phone], since: since), words: Family.words.words)
    try emma.reloadLinks()
    #expect(emma.register.links.history.link(link) != nil)
    #expect(try emma.register.links.history.signed(by: certificates).isEmpty)
    for device in [0, 1, 0, 1] { try family[device].sync(usb) }
    #expect(emma.epoch != link)
    for device in [0, 1] {
      #expect(try family[device].emma.record(titled: "Plan") != nil)
      try family[device].expectWhole()
    }
  }

  @Test func withoutATimeEverythingGoesOnToCount() throws {
    try family[0].vault.beginGeneration(removing: [phone], words: Family.words.words)
    for digest in lately + [honest] { #expect(try standing(digest, at: 0) == .listed) }
    #expect(try !family[0].emma.register.links.history.signed(by: certificates).isEmpty)
  }

  private var certificates: Set<StatementID> {
    get throws { family[0].vault.certificates(of: [phone]) }
  }
}
