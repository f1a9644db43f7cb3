import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Wraps of epochs that are over go from remotes as well, and no device brings them back.
@Suite struct OldWrapSyncTests {
  private let usb = MemoryStore()

  private func wraps(_ store: MemoryStore, _ device: Family.Device) throws -> Set<String> {
    Set(try store.list(BlobPath("members/\(device.emma.id.hex)/wraps")).map(\.name))
  }

  @Test func theyGoFromRemotesAndStayAway() throws {
    let family = try Family(count: 3)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let old = try wraps(usb, family[0])
    #expect(!old.isEmpty)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].vault.removeOldObjects().requireNone()
    for _ in 0..<3 {
      for device in family.devices {
        try device.sync(usb)
        try device.vault.removeOldObjects().requireNone()
      }
    }
    for store in family.devices.map(\.store) + [usb] {
      #expect(try wraps(store, family[0]).count == 1)
      #expect(try wraps(store, family[0]).isDisjoint(with: old))
    }
    // Nobody brings one back, and nothing moves.
    for device in family.devices {
      try device.reopen()
      let report = try device.sync(usb)
      #expect(report.pulled.isEmpty && report.pushed.isEmpty && report.problems == [])
    }
    #expect(try wraps(usb, family[0]).isDisjoint(with: old))
    try family.expectAgreement()
    // A folder of before is put back, by a copier: they go again.
    for name in old {
      let path = BlobPath("members/\(try family[0].emma.id.hex)/wraps/\(name)")
      try usb.replace(path, [UInt8](repeating: 0, count: 8), durably: true)
    }
    for device in family.devices { try device.sync(usb) }
    try family.expectAgreement()
  }

  /// The first one has begun two epochs. The second one wrote under the former, and does not know of the latter.
  private func wroteUnderAnEpochThatIsOver(
    _ family: Family, changing record: RecordID? = nil
  ) throws {
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    for device in family.devices.prefix(2) { try device.sync(usb) }
    try family[1].write("Late", "of the former epoch")
    for number in 0..<4 { try family[1].write("Late too", "\(number)") }
    if let record { try family[1].edit(record, "changed") }
    try family[1].sync(usb)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(usb) { $0.direction = .push }
  }

  private func showsWhatCameLate(_ device: Family.Device) throws -> Bool {
    try device.contents().values.contains("of the former epoch")
  }

  @Test func oneComesWithALateHeadThatNeedsIt() throws {
    let family = try Family(count: 3)
    try wroteUnderAnEpochThatIsOver(family)
    let report = try family[2].sync(usb)
    #expect(report.problems == [] && report.untakenHeadCount == 0)
    #expect(try showsWhatCameLate(family[2]))
    try family[2].reopen()
    #expect(try showsWhatCameLate(family[2]))
    try family.meet(at: usb)
    for device in family.devices { try device.vault.removeOldObjects().requireNone() }
    try family.meet(at: usb)
    try family.expectAgreement()
    for device in family.devices { #expect(try wraps(device.store, device).count == 1) }
  }

  /// A head that somebody has taken over stays on a remote for as long as its machine does not come by, and the wraps of its
  /// epoch with it: whoever makes a copy anew sees what those see who were there. Nor is it told to wait where they are gone,
  /// since no program before November 28th, 2026 kept them. (Real schedules 6263 and 6438.)
  @Test(arguments: [true, false])
  func whoMakesACopyAnewIsNotToldToWaitForWhatNobodyNeeds(keepsWraps: Bool) throws {
    let family = try Family(count: 2)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[1].write("Last", "before it was away")
    try family.meet(at: usb)
    let old = try wraps(usb, family[0])
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    for _ in 0..<3 {
      try family[0].vault.removeOldObjects().requireNone()
      try family[0].sync(usb)
    }
    #expect(try wraps(usb, family[0]).isSuperset(of: old))
    if !keepsWraps {
      for name in old {
        try usb.remove(BlobPath("members/\(family[0].emma.id.hex)/wraps/\(name)"))
      }
    }
    let (store, state) = (MemoryStore(), StateFolder(store: MemoryStore()))
    let beginning = try VaultClone.begin(from: usb, into: store, called: "Family")
    let copy = VaultCopy(id: beginning.vault, store: store, state: state, clock: .system)
    let key = try Vault.recover(
      copy, words: Family.words.words, device: Family.newDevice,
      password: SecretBytes(copying: Array("pw".utf8)))
    let vault = try Vault.open(copy, key: key, options: OpenOptions())
    let name = try #require(RemoteName("usb"))
    for _ in 0..<2 {
      let report = try RemoteSync(vault: vault, remote: usb, name: name).run()
      #expect(report.problems == [] && report.untakenHeadCount == 0)
    }
    let contents = try Family.Device.contents(of: vault)
    #expect(Set(contents.values).isSuperset(of: ["first", "before it was away"]))
    #expect(try vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
    guard keepsWraps else { return }
    let there = try RemoteCheck(vault: vault, remote: usb).run(readsData: true)
    #expect(there.problems == [])
    // As soon as its machine has come by they go.
    for _ in 0..<3 {
      for device in family.devices {
        try device.sync(usb)
        try device.vault.removeOldObjects().requireNone()
      }
      _ = try RemoteSync(vault: vault, remote: usb, name: name).run()
    }
    #expect(try wraps(usb, family[0]).isDisjoint(with: old))
  }

  /// What was taken over of a machine's newest head stands in the vault, and that head not on this remote, where an older one
  /// is: who only knows that one sees what is written over what was taken, live as in a program that begins now.
  @Test func whoKnowsOnlyAnOlderHeadSeesWhatIsWrittenOverANewerOne() throws {
    let family = try Family(count: 3)
    let other = MemoryStore()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[1].write("Early", "of the machine that stays away")
    try family.meet(at: usb)
    try family[1].edit(record, "second")
    try family[1].sync(other, as: "other")
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(other, as: "other")
    try family[0].sync(usb)
    try family[2].sync(usb)
    #expect(try family[2].contents().values.contains("second"))
    try family[0].edit(record, "third")
    try family[0].sync(usb)
    try family[2].sync(usb)
    #expect(try family[2].contents().values.contains("third"))
    let live = try family[2].contents()
    try family[2].reopen()
    #expect(try family[2].contents() == live)
    // And goes on from it.
    try family[2].edit(record, "fourth")
    try family[2].sync(usb)
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("fourth"))
    #expect(try family[0].emma.keptConflicts().isEmpty)
  }

  /// A remote is put back to what it was before a machine that is away wrote its last: what was taken over of that stands there
  /// again, its head too, and nobody is told of it with every sync.
  @Test func aRemoteThatWentBackComesToRest() throws {
    let family = try Family(count: 3)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[1].write("Early", "of the machine that stays away")
    try family.meet(at: usb)
    let backup = usb.imageAfterKill()
    try family[1].edit(record, "second")
    try family[1].sync(usb)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    for _ in 0..<2 { try family[0].sync(usb) }
    let told = try family[0].sync(backup).problems
    #expect(told.contains { $0.kind == .wentBack })
    for _ in 0..<2 {
      let report = try family[0].sync(backup)
      #expect(report.problems == [] && report.pushed.isEmpty, "\(report.problems)")
    }
    try family[2].sync(backup)
    #expect(try family[2].contents() == family[0].contents())
    for device in [family[1], family[0], family[2]] { try device.sync(backup) }
    try family.expectAgreement()
  }

  /// What became of the last head that a machine wrote before it was put back.
  enum LastHead: CaseIterable { case waits, isTakenOver, opensForNobody }

  /// Its own newest head is of an epoch that it has never heard of, and that is over.
  @Test(arguments: LastHead.allCases, [false, true])
  func machineThatWasPutBackGoesOn(last: LastHead, hadWritten: Bool) throws {
    let family = try Family(count: 3)
    let second = family[1]
    try family[0].write("Before", "before")
    try family.meet(at: usb)
    var own: RecordID?
    if hadWritten {
      own = try second.write("Of its own", "of its own")
      try family.meet(at: usb)
      try family[0].write("Seen", "by somebody who had read that")
      try family.meet(at: usb)
    }
    let snapshot = second.snapshot()
    try wroteUnderAnEpochThatIsOver(family, changing: own)
    if last == .isTakenOver { try family[0].sync(usb) }
    if last == .opensForNobody {
      for _ in 0..<2 {
        try family[0].sync(usb)
        try family[0].vault.removeOldObjects().requireNone()
      }
      // As programs of before November 28th, 2026 did.
      let emma = try family[0].emma
      let current = Set((emma.register.links.trust.epochs.wraps[emma.epoch] ?? []).map(\.file.hex))
      for name in try wraps(usb, family[0]).subtracting(current) {
        try usb.remove(BlobPath("members/\(emma.id.hex)/wraps/\(name)"))
      }
      try #require(wraps(usb, family[0]).count == 1)
    }
    try second.putBack(snapshot)
    try second.sync(usb)
    try second.write("After", "after it was put back")
    for _ in 0..<3 { try family.meet(at: usb) }
    try family.expectAgreement()
    for device in family.devices {
      #expect(try showsWhatCameLate(device))
      #expect(try device.contents().values.contains("after it was put back"))
      #expect(try !device.contents().keys.contains { $0.contains("Conflict") })
    }
  }
}
