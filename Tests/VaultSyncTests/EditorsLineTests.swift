import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// An editor with a real key says of the lines of owners' devices what never was: that they have read heads that nobody wrote,
/// or that are of another line, and that what is followed is a stray, or was taken over. Nobody loses a note by it, nor becomes
/// another device.
@Suite struct EditorsLineTests {
  private let remote = MemoryStore()

  /// Where an editor's head names a head of somebody else's device.
  enum Claim: CaseIterable { case cover, heard, takenOver, strays, coverAndStrays, retold }

  /// Ben's client is changed so that its next head says this of a device.
  ///
  /// - Parameters:
  ///   - made: A head of the device's that never was, or of another line.
  ///   - real: Its newest one.
  ///   - taker: Another device of the same person's.
  private func lie(
    of ben: SyncingAdult, _ claim: Claim, about made: Head.Cover, besides real: HeadFacts,
    taker: DeviceID
  ) throws {
    let member = try #require(ben.emma)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        claim.apply(made, besides: real, taker: taker, to: &head)
      }
      heads = writer.heads
    }
    try ben.sync(remote)
  }

  /// The newest head of a device of its own, as a process of it knows it.
  private func newest(of device: Family.Device) throws -> HeadFacts {
    let own = device.vault.device
    let head = try device.emma.heads.withLock { try #require($0.loaded[own]) }
    return HeadFacts(device: own, counter: head.counter, hash: head.hash)
  }

  /// All of the family show these notes and the same, live and fresh, and are the devices that they were.
  private func expectAll(
    _ notes: Set<String>, on devices: [Family.Device], as ids: [DeviceID],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for isFresh in [false, true] {
      for device in devices {
        if isFresh { try device.reopen() }
        let shown = Set(try device.contents().values)
        #expect(
          shown.isSuperset(of: notes), "fresh: \(isFresh)", sourceLocation: sourceLocation)
        #expect(
          try device.contents() == devices[0].contents(), "fresh: \(isFresh)",
          sourceLocation: sourceLocation)
      }
      #expect(devices.map(\.vault.device) == ids, sourceLocation: sourceLocation)
    }
  }

  private func sync(_ devices: [Family.Device], rounds: Int = 3) throws {
    for _ in 0..<rounds { for device in devices { try device.sync(remote) } }
  }

  /// The laptop's newest head is in use, and Ben names another one in its place, or the one that it is yet to write.
  @Test(arguments: Claim.allCases, [UInt64(0), 1, 1_000])
  func aLieAboutALineInUseHidesNothing(claim: Claim, ahead: UInt64) throws {
    let family = try Family(count: 3)
    let (desk, laptop) = (family[0], family[1])
    let note = try desk.write("Visit", "visit")
    let ben = try SyncingAdult.editor(of: family, at: remote)
    try laptop.edit(note, "by the laptop")
    try laptop.sync(remote)
    try ben.sync(remote)
    let ids = family.devices.map(\.vault.device)
    let real = try newest(of: laptop)
    try lie(
      of: ben, claim, about: real.madeUp(ahead: ahead), besides: real, taker: desk.vault.device)
    // Whoever meets the lie first, and whoever knows the laptop's head before it.
    try sync(family.devices)
    try laptop.write("More", "more")
    try laptop.edit(note, "once more")
    try sync(family.devices)
    try expectAll(["once more", "more"], on: family.devices, as: ids)
  }

  /// What the laptop wrote is late: the desk has begun new keys and has not met it. Ben names another head in its place under
  /// the new keys, before anybody else has it.
  @Test(arguments: Claim.allCases, [UInt64(0), 1, 1_000])
  func aLieAboutALateHeadHidesNothing(claim: Claim, ahead: UInt64) throws {
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    let note = try desk.write("Visit", "visit")
    let ben = try SyncingAdult.editor(of: family, at: remote)
    let second = MemoryStore()
    try laptop.edit(note, "by the laptop")
    try laptop.sync(second, as: "second")
    let ids = family.devices.map(\.vault.device)
    let real = try newest(of: laptop)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.write("Later", "later")
    try desk.sync(remote)
    try ben.sync(remote)
    try lie(
      of: ben, claim, about: real.madeUp(ahead: ahead), besides: real, taker: desk.vault.device)
    try tablet.sync(remote)
    try tablet.sync(second, as: "second")
    try sync([desk, tablet])
    // The laptop hears of the new keys last.
    try sync([laptop, desk, tablet])
    try laptop.write("More", "more")
    try sync(family.devices)
    try expectAll(["by the laptop", "later", "more"], on: family.devices, as: ids)
  }

  /// The laptop was copied, and its copy has taken over what it wrote as the same device. Ben says that he goes on from that, or
  /// from a head that never was, that what is followed of the laptop is a stray, or that the desk has taken it over.
  @Test(arguments: Claim.allCases, [UInt64(0), 1, 1_000])
  func aLieAboutALineThatWasTakenOverHidesNothing(claim: Claim, ahead: UInt64) throws {
    let family = try Family(count: 3)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Visit", "visit")
    let ben = try SyncingAdult.editor(of: family, at: remote)
    try laptop.write("Before", "before")
    try sync(family.devices)
    let twin = try laptop.clone()
    try laptop.write("Of the laptop", "of the laptop")
    try laptop.sync(remote)
    try twin.write("Of the twin", "of the twin")
    let taken = try newest(of: twin)
    try twin.sync(remote)
    try #require(twin.vault.device != laptop.vault.device)
    let devices = family.devices + [twin]
    try sync(devices)
    try ben.sync(remote)
    let ids = devices.map(\.vault.device)
    let real = try newest(of: laptop)
    // Of the twin's line where it is no made up one, as the device that it was.
    let made = ahead == 0 ? taken.cover : real.madeUp(ahead: ahead)
    try lie(of: ben, claim, about: made, besides: real, taker: desk.vault.device)
    try sync(devices)
    try laptop.write("More", "more")
    try twin.write("More of the twin", "more of the twin")
    try sync(devices)
    let notes: Set = [
      "visit", "before", "of the laptop", "of the twin", "more", "more of the twin",
    ]
    try expectAll(notes, on: devices, as: ids)
  }
}

/// Which head of a device is meant.
private struct HeadFacts {
  let device: DeviceID
  let counter: UInt64
  let hash: FileHash

  var cover: Head.Cover { Head.Cover(device: device, counter: counter, headHash: hash) }

  var mark: HeadMark { HeadMark(counter: counter, hash: hash) }

  var stray: Head.Stray {
    Head.Stray(device: device, counter: counter, headHash: hash, above: 0)
  }

  /// One that nobody has written, this many heads after it.
  func madeUp(ahead: UInt64) -> Head.Cover {
    Head.Cover(device: device, counter: counter + ahead, headHash: .zero)
  }
}

extension EditorsLineTests.Claim {
  fileprivate func apply(
    _ made: Head.Cover, besides real: HeadFacts, taker: DeviceID, to head: inout Head
  ) {
    switch self {
    case .cover: head.cover.sayOnly(made)
    case .heard:
      head.cover.removeAll { $0.device == made.device }
      head.heard.sayOnly(made)
    case .takenOver: head.takenOver.sayOnly(made)
    case .strays: head.strays = [real.stray]
    case .coverAndStrays:
      head.cover.sayOnly(made)
      head.strays = [real.stray]
    case .retold:
      head.retold = [
        Head.Retold(device: made.device, above: 0, by: taker, marks: [real.mark])
      ]
    }
  }
}

extension [Head.Cover] {
  /// Names of a device nothing else than this.
  fileprivate mutating func sayOnly(_ mark: Head.Cover) {
    removeAll { $0.device == mark.device }
    append(mark)
    sort { $0.device < $1.device }
  }
}
