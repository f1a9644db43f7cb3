import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// The phone makes Mia, the laptop and the tablet meet her, and the desk, which never did, removes the phone.
@Suite struct UnlistedMemberTests {
  private let usb = MemoryStore()
  private let desk: Family.Device
  private let laptop: Family.Device
  private let tablet: Family.Device
  private let mia: MemberID
  private let root: String

  init() throws {
    let disk = MemoryStore()
    let family = try Family(count: 4)
    (desk, laptop, tablet) = (family[0], family[1], family[2])
    let phone = family[3]
    try family.meet(at: usb)
    let member = try phone.vault.addMember(named: #require(FileName("Mia")))
    mia = member.id
    root = VaultPath.memberRoot(member.id).string
    _ = try member.commit([.newRecord("Of the phone", note: "x")])
    for machine in [phone, laptop, tablet] { try machine.sync(disk, as: "disk") }
    for machine in [laptop, tablet] { try #require(machine.vault.member(mia) != nil) }
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    // It has not heard of its removal.
    try phone.sync(usb)
  }

  /// Whoever can remove files from the folder of the laptop takes Mia away before it removes the phone.
  @Test func whatIsRememberedIsListedAlsoWhereItsFolderIsGone() throws {
    for path in laptop.store.blobs.keys where path.string.hasPrefix("members/\(mia.hex)/") {
      try laptop.store.remove(path)
    }
    try laptop.reopen()
    try #require(laptop.vault.member(mia) == nil)
    var others = try Set(laptop.vault.context.ownPerson().devices.keys)
    others.remove(laptop.vault.device)
    let content = try laptop.vault.closingContent(of: Leaving(others), withoutRoom: [])
    #expect(content.counted.contains(mia.root))
  }

  private var problems: [Problem] { laptop.vault.problems.filter { $0.kind == .unlisted } }

  /// Whoever makes a member takes its name from those that are not here.
  @Test func aNewMemberOfItsNameHidesItNot() throws {
    for machine in [desk, laptop] { try machine.sync(usb) }
    try laptop.reopen()
    try #require(laptop.vault.member(mia) == nil)
    _ = try laptop.vault.addMember(named: #require(FileName("Mia")))
    for _ in 0..<2 {
      try laptop.reopen()
      #expect(problems.map(\.path) == [root])
      #expect(problems.allSatisfy { $0.severity == .warning && $0.member == "Mia" })
      #expect(try laptop.vault.unlistedMembers().map(\.name) == ["Mia"])
    }
  }

  /// What it was called is only what it is told by.
  @Test func itIsToldWithoutItsName() throws {
    for machine in [desk, laptop] { try machine.sync(usb) }
    try laptop.stateStore.remove("shown")
    try laptop.reopen()
    #expect(problems.map(\.severity) == [.warning])
    #expect(problems.map(\.member) == [mia.shortHex])
  }

  /// Nobody but the person's own machines has done anything, and there is nothing that could be taken.
  @Test(arguments: [false, true])
  func whoNeverMetItIsToldAndTakesNothing(takesAll: Bool) throws {
    let report = try desk.sync(usb) { $0.takesStrangers = takesAll }
    #expect(report.problems.allSatisfy { $0.severity == .note && $0.suspicion == nil })
    let told = report.problems.filter { $0.text.contains("kinvault member keep") }
    #expect(told.map(\.path) == [root], "\(report.problems)")
    #expect(!report.problems.contains { $0.text.contains("--all") })
    #expect(!desk.store.blobs.keys.contains { $0.string.hasPrefix("members/\(mia.hex)/") })
    let again = try desk.sync(usb) { $0.takesStrangers = takesAll }
    #expect(again.problems.allSatisfy { $0.severity == .note && $0.suspicion == nil })
    try desk.reopen()
    #expect(desk.vault.problems.allSatisfy { $0.severity == .note }, "\(desk.vault.problems)")
  }

  /// Neither while it is out, of which the vault tells, nor when it comes back.
  @Test func syncsWarnOfNothing() throws {
    func expectQuiet(_ report: SyncReport) {
      let found = report.problems.filter {
        $0.severity > .note && $0.path.hasPrefix("members/\(mia.hex)")
      }
      #expect(found.isEmpty, "\(found)")
    }
    try desk.sync(usb)
    for machine in [laptop, tablet, laptop, tablet] { expectQuiet(try machine.sync(usb)) }
    try laptop.vault.keep(laptop.vault.unlistedMembers(), words: Family.words.words)
    #expect(problems.isEmpty, "\(problems)")
    try laptop.vault.beginEpoch(of: #require(laptop.vault.member(mia)), without: [])
    for machine in [laptop, tablet, desk, laptop, tablet, desk] {
      expectQuiet(try machine.sync(usb))
    }
    for machine in [laptop, tablet, desk] {
      try machine.reopen()
      #expect(machine.vault.member(mia) != nil)
    }
  }

  /// On this machine, and for good; it can be brought back all the same.
  @Test func whatItsPersonDoesNotWantIsNotNamed() throws {
    for machine in [desk, laptop] { try machine.sync(usb) }
    try laptop.reopen()
    let unlisted = try laptop.vault.unlistedMembers()
    try #require(unlisted.map(\.isUnwanted) == [false])
    try laptop.vault.forget(unlisted[0])
    #expect(problems.isEmpty)
    try laptop.reopen()
    #expect(problems.map(\.severity) == [.note])
    let later = try laptop.vault.unlistedMembers()
    #expect(later.map(\.isUnwanted) == [true])
    try laptop.vault.keep(later, words: Family.words.words)
    #expect(laptop.vault.member(mia) != nil)
  }
}
