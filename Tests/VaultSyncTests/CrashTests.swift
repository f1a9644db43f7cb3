import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A sync that is cut at every single call that changes something, here or there, and then goes on.
@Suite struct CrashTests {
  /// Two devices that have met, and have each written since.
  private func prepared() throws -> (Family, MemoryStore) {
    let family = try Family()
    let usb = MemoryStore()
    let note = try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[0].edit(note, "mine")
    try family[1].edit(note, "theirs")
    var edit = RecordEdit.newRecord("Scan", note: "n")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 1, in: family[1].emma)
    try family[1].commit(edit)
    try family[1].sync(usb)
    return (family, usb)
  }

  /// Whoever sees the remote at this moment finds a vault that is whole.
  private func expectWholeThere(_ usb: MemoryStore, _ comment: Comment) throws {
    let family = try Family()
    let other = family[1]
    let report = try other.sync(usb, as: "other") { $0.direction = .pull }
    #expect(report.problems.filter { $0.severity > .note } == [], comment)
    try other.expectWhole(comment)
  }

  @Test func cutAtAnyCallOfTheRemote() throws {
    for number in 1... {
      let (family, usb) = try prepared()
      usb.cut(after: number)
      var isWhole = true
      do { try family[0].sync(usb) } catch is SyncError { isWhole = false }
      let left = usb.imageAfterKill()
      try expectWholeThere(left, "remote cut at call \(number)")
      try family[0].reopen()
      try family[0].expectWhole("remote cut at call \(number)")
      try family.meet(at: left)
      try family.expectAgreement()
      if isWhole {
        #expect(number > 3, "nothing was cut")
        return
      }
    }
  }

  @Test func cutAtAnyCallOfTheFolder() throws {
    for number in 1... {
      let (family, usb) = try prepared()
      family[0].store.cut(after: number)
      var isWhole = true
      do { try family[0].sync(usb) } catch is SyncError { isWhole = false }
      try expectWholeThere(usb, "folder cut at call \(number)")
      try family[0].reopen()
      try family[0].expectWhole("folder cut at call \(number)")
      try family.meet(at: usb)
      try family.expectAgreement()
      if isWhole {
        #expect(number > 3, "nothing was cut")
        return
      }
    }
  }

  /// Another device has put everything under new keys, which come with the sync, and what was saved here under the old ones is
  /// put under the new ones; the power goes.
  @Test func newKeysThatComeOutlastAPowerCut() throws {
    for number in 1... {
      let (family, usb) = try prepared()
      try family.meet(at: usb)
      try family[1].vault.beginEpoch(of: family[1].emma, without: [])
      try family[1].sync(usb)
      var edit = RecordEdit.newRecord("Late", note: "saved under the old keys")
      edit.items[try #require(FileName("late"))] =
        try .photo("late", byteCount: 1 << 20, seed: 2, in: family[0].emma)
      try family[0].commit(edit)
      family[0].store.cut(after: number)
      var isWhole = true
      do { try family[0].sync(usb) } catch is SyncError { isWhole = false }
      let (store, state) = (family[0].store, family[0].stateStore)
      for seed in Seeds.first(3) {
        family[0].store = store.imageAfterPowerCut(seed: seed)
        family[0].stateStore = state.imageAfterPowerCut(seed: seed)
        try family[0].reopen()
        try family[0].expectWhole("folder cut at call \(number), power cut \(seed)")
        #expect(try family[0].contents().values.contains("saved under the old keys"))
      }
      try family.meet(at: usb)
      try family.expectAgreement()
      if isWhole {
        #expect(number > 3, "nothing was cut")
        return
      }
    }
  }

  @Test func cutAtAnyCallOfTheState() throws {
    for number in 1... {
      let (family, usb) = try prepared()
      family[0].stateStore.cut(after: number)
      var isWhole = true
      do { try family[0].sync(usb) } catch is SyncError { isWhole = false }
      try family[0].reopen()
      try family[0].expectWhole("state cut at call \(number)")
      try family.meet(at: usb)
      try family.expectAgreement()
      if isWhole {
        #expect(number > 1, "nothing was cut")
        return
      }
    }
  }

  @Test func aFirstPushCutAnywhereIsNoVaultOrAWholeOne() throws {
    for number in 1... {
      let family = try Family()
      let usb = MemoryStore()
      try family[0].write("Visit", "first")
      usb.cut(after: number)
      var isWhole = true
      do { try family[0].sync(usb) } catch is SyncError { isWhole = false }
      let left = usb.imageAfterKill()
      #expect(try left.size(of: "vault.json") != nil || !isWhole)
      let report = try family[0].sync(left)
      #expect(report.problems.filter { $0.severity > .note } == [])
      try expectWholeThere(left, "first push cut at call \(number)")
      if isWhole {
        #expect(number > 3, "nothing was cut")
        return
      }
    }
  }

  @Test func powerCutsOfTheFolderLoseNothingThatTheHeadsName() throws {
    var cutCount = 0
    for number in stride(from: 1, to: 40, by: 3) {
      let (family, usb) = try prepared()
      family[0].store.cut(after: number)
      do { try family[0].sync(usb) } catch is SyncError { cutCount += 1 }
      for seed in Seeds.first(3) {
        let (store, state) = (family[0].store, family[0].stateStore)
        family[0].store = store.imageAfterPowerCut(seed: seed)
        family[0].stateStore = state.imageAfterPowerCut(seed: seed)
        try family[0].reopen()
        try family[0].expectWhole("call \(number), seed \(seed)")
        (family[0].store, family[0].stateStore) = (store, state)
      }
    }
    #expect(cutCount > 1)
  }

  @Test func failuresAreCountedAndForgottenWithTheFirstSuccess() throws {
    let family = try Family(count: 1)
    let usb = MemoryStore()
    let faulty = FaultyStore(usb)
    try family[0].write("Visit", "x")
    faulty.fail(.put, andAllLater: true, with: .noSpace)
    let file = RemoteStateFile(
      state: family[0].vault.state, remote: try #require(RemoteName("usb")))
    for count in 1...6 {
      #expect(throws: SyncError.self) { try family[0].sync(faulty) }
      let failures = try #require(try file.load().failures)
      #expect(failures.count == count)
      #expect(failures.text.contains("no space"))
    }
    #expect(try file.load().isInTrouble)
    faulty.failNothing()
    try family[0].sync(faulty)
    #expect(try file.load().failures == nil)
    #expect(try file.load().lastSuccess != nil)
  }
}
