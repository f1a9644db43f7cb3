import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

@testable import Vault
@testable import VaultSync

/// What a closing lists of what its departing devices had signed in records: Docs/Format.md, "Whose a revision is".
@Suite struct AuthoredTests {
  private let usb = MemoryStore()
  private let family: Family
  private let phone: DeviceID
  private let note: RecordID
  /// What the phone wrote before it was removed.
  private let known: [ContentDigest]

  /// A desk, a laptop and a phone, which wrote a note twice and is removed at the desk.
  init() throws {
    family = try Family(count: 3)
    phone = family[2].vault.device
    try family[0].write("Other", "of the desk")
    try family.meet(at: usb)
    note = try family[2].write("Visit", "of the phone")
    try family[2].edit(note, "of the phone, again")
    try family.meet(at: usb)
    known = try family[2].emma.history(of: note).map(\.digest)
    try family[0].vault.beginGeneration(removing: [phone], words: Family.words.words)
  }

  private func standing(_ digest: ContentDigest, at device: Int) throws -> Authorship.Standing? {
    guard case .signed(let author) = try family[device].emma.authorship(of: digest) else {
      return nil
    }
    #expect(author.device == phone)
    return author.standing
  }

  private func lists(at device: Int) throws -> Set<ContentDigest> {
    Set(try family[device].emma.openedHeads.flatMap(\.head.authored))
  }

  /// Has the laptop, which has not heard of the removal, take over what the phone signs after it.
  private func signsLater() throws -> ContentDigest {
    let stick = MemoryStore()
    try family[2].edit(note, "by whoever has the phone")
    let later = try #require(family[2].emma.entry(note)).revision
    for device in [2, 1] { try family[device].sync(stick, as: "stick") }
    #expect(try family[1].emma.entry(note)?.revision == later)
    for device in [0, 1, 0, 1] { try family[device].sync(usb) }
    return later
  }

  @Test func whatWasListedIsTheDevicesAsBefore() throws {
    #expect(known.count == 2)
    for digest in known { #expect(try standing(digest, at: 0) == .listed) }
    for device in [0, 1] { try family[device].sync(usb) }
    for digest in known { #expect(try standing(digest, at: 1) == .listed) }
    try family[1].reopen()
    for digest in known { #expect(try standing(digest, at: 1) == .listed) }
    try family[1].expectWhole()
  }

  @Test func whatItSignsAfterwardsIsNot() throws {
    let later = try signsLater()
    for device in [0, 1] {
      #expect(try family[device].emma.entry(note)?.revision == later)
      #expect(try standing(later, at: device) == .unlisted)
      for digest in known { #expect(try standing(digest, at: device) == .listed) }
    }
  }

  /// The list is put under the new keys with everything else.
  @Test func newKeysKeepIt() throws {
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    for device in [0, 1, 0] { try family[device].sync(usb) }
    try family[1].write("Mine", "of the laptop")
    for device in [1, 0] { try family[device].sync(usb) }
    #expect(try lists(at: 0).count == 1)
    for device in [0, 1] {
      for list in try lists(at: device) {
        #expect(try family[device].emma.objects.isPresentNow(list))
      }
      for digest in known { #expect(try standing(digest, at: device) == .listed) }
      try family[device].expectWhole()
    }
  }

  @Test func itIsNotCollected() throws {
    for round in 0..<4 {
      for device in [0, 1] {
        try family[device].write("Round \(round)", "of \(device)")
        _ = try family[device].vault.collect(keepDays: 0, isDryRun: false)
        try family[device].sync(usb)
      }
    }
    let newest = try #require(family[0].emma.entry(note)).revision
    #expect(try standing(newest, at: 1) == .listed)
    // A machine that has only the remote.
    let clone = try family[1].clone()
    _ = try clone.sync(usb)
    guard case .signed(let author) = try clone.emma.authorship(of: newest) else {
      Issue.record("it is not signed")
      return
    }
    #expect(author.standing == .listed)
  }

  /// The desk's head is gone: the laptop's names the list too, once it has written one.
  @Test func othersNameItAsWell() throws {
    for device in [0, 1] { try family[device].sync(usb) }
    try family[1].write("Mine", "of the laptop")
    let emma = try family[1].emma
    let own = try #require(emma.openedHeads.first { $0.device == family[1].vault.device })
    #expect(own.head.authored == Array(try lists(at: 0)))
  }

  /// A list counts in its person's closings only; what somebody's head names by itself is nothing.
  @Test func aHeadAloneListsNothing() throws {
    let later = try signsLater()
    let emma = try family[1].emma
    let list = AuthoredList(revisions: [later])
    let use = try emma.objects.stage(.authored, list.encoded())
    try emma.withWriter { (writer, _) throws(VaultError) in
      try emma.objects.publish(use.digest)
      try writer.writeLearned { $0.authored.append(use.digest) }
    }
    for device in [1, 0] { try family[device].sync(usb) }
    #expect(try lists(at: 0).contains(use.digest))
    #expect(try standing(later, at: 0) == .unlisted)
    // Nor does anybody name it anew.
    try family[0].write("Mine", "of the desk")
    let own = try #require(
      family[0].emma.openedHeads.first { $0.device == family[0].vault.device })
    #expect(!own.head.authored.contains(use.digest))
  }

  /// Somebody who may write has made up as many lists as a head names, and the desk names them: a removal lists all the same.
  @Test func theListsOfARemovalHaveRoom() throws {
    let family = try Family(count: 2)
    let (desk, phone) = (family[0], family[1])
    try family.meet(at: usb)
    let note = try phone.write("Visit", "of the phone")
    for device in [phone, desk] { try device.sync(usb) }
    try desk.emma.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned { head in
        head.authored = (0..<Limits.headLists).map { _ in ContentDigest.random() }.sorted()
      }
    }
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    let digest = try #require(desk.emma.entry(note)).revision
    guard case .signed(let author) = try desk.emma.authorship(of: digest) else {
      Issue.record("it is not signed")
      return
    }
    #expect(author.standing == .listed)
    try desk.write("Later", "of the desk")
    #expect(try desk.emma.openedHeads.contains { $0.head.authored.count == Limits.headLists })
  }

  /// What is listed a repair takes by itself; what is not it leaves, and says so.
  @Test func aRepairGoesByTheList() throws {
    let later = try signsLater()
    let emma = try family[0].emma
    for device in family.devices.indices {
      let head = VaultPath.head(emma.id, family[device].vault.device)
      if family[0].store.blobs[BlobPath(head.string)] != nil {
        try family[0].store.remove(BlobPath(head.string))
      }
    }
    try family[0].stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    try family[0].reopen()
    let report = try #require(try family[0].vault.repair().first)
    let left = try #require(report.unvouched.first { $0.digest == later })
    #expect(
      left.refusal
        == .removedDevice(.init(device: phone, person: family[0].vault.person, standing: .unlisted))
    )
    let now = try #require(family[0].emma.entry(note)).revision
    #expect(known.contains(now))
    #expect(try standing(now, at: 0) == .listed)
  }

  /// A closing that lists what the device never signed gives it nothing.
  @Test func aListIsNoSignature() throws {
    for device in [0, 1] { try family[device].sync(usb) }
    let other = try #require(
      family[0].emma.allEntries().first { $0.title.string == "Other" }
    ).revision
    guard case .signed(let author) = try family[0].emma.authorship(of: other) else {
      Issue.record("it is not signed")
      return
    }
    #expect(author.device == family[0].vault.device)
    let list = try #require(try lists(at: 0).first)
    let bytes = try family[0].emma.objects.content(list, kind: .authored)
    let revisions = try AuthoredList(decoding: bytes).revisions
    #expect(Set(revisions) == Set(known))
  }

  @Test func aListOutOfOrderIsNone() throws {
    let digests = [ContentDigest.random(), .random()].sorted()
    var writer = WireWriter()
    for digest in digests.reversed() { writer.elementID(1, digest) }
    let bytes = writer.bytes
    #expect(throws: ModelError.self) { try AuthoredList(decoding: bytes) }
    let list = AuthoredList(revisions: digests)
    #expect(try AuthoredList(decoding: list.encoded()).revisions == digests)
  }
}
