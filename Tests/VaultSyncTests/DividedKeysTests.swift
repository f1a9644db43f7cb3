import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// One person changes keys on two machines that have not met: it is told, and neither replaces the other in turns.
@Suite struct DividedKeysTests {
  private let usb = MemoryStore()

  enum Change: CaseIterable { case removesOne, removesTwice, replacesWords }

  /// As `device revoke` and `recovery rotate` do it.
  private func make(_ change: Change, on device: Family.Device, removing lost: Family.Device) throws
  {
    let words = try Family.words
    switch change {
    case .removesOne:
      try device.vault.beginGeneration(removing: [lost.vault.device], words: words.words)
    case .removesTwice:
      try device.vault.beginGeneration(removing: [lost.vault.device], words: words.words)
      try device.vault.beginGeneration(removing: [], words: words.words)
    case .replacesWords:
      try device.vault.replaceWords(words.words, with: .random())
    }
    try device.vault.beginEpoch(of: device.emma, without: [])
    try device.vault.removeOldObjects()
  }

  private func expectDivided(
    _ device: Family.Device, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (here, there) = (device.store.blobs, usb.blobs)
    func isDivided(_ run: () throws -> Void) throws -> Bool {
      do { try run() } catch SyncError.vault(.keysDivided) { return true }
      return false
    }
    #expect(try isDivided { try device.sync(usb) }, sourceLocation: sourceLocation)
    #expect(try isDivided { try device.syncLocked(usb) }, sourceLocation: sourceLocation)
    #expect(
      try isDivided { if try device.quickSync(usb) == nil { try device.sync(usb) } },
      sourceLocation: sourceLocation)
    #expect(device.store.blobs == here, sourceLocation: sourceLocation)
    #expect(usb.blobs == there, sourceLocation: sourceLocation)
    let memory = try RemoteStateFile(
      state: StateFolder(store: device.stateStore), remote: #require(RemoteName("usb"))
    ).load()
    #expect(memory.findings.map(\.kind) == [.keys], sourceLocation: sourceLocation)
    #expect(memory.failures != nil, sourceLocation: sourceLocation)
  }

  @Test(arguments: Change.allCases, Change.allCases)
  func isToldAndReplacesNothing(first: Change, second: Change) throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try make(first, on: family[0], removing: family[2])
    try make(second, on: family[1], removing: family[2])
    try family[0].write("Of the first", "of the first")
    try family[1].write("Of the second", "of the second")
    try family[0].sync(usb)
    let contents = try family.devices.prefix(2).map { try $0.contents() }
    for _ in 0..<2 {
      try expectDivided(family[1])
      #expect(try family[0].sync(usb).problems == [])
      for (device, contents) in zip(family.devices, contents) {
        #expect(try device.contents() == contents)
        try device.reopen()
        #expect(try device.contents() == contents)
        try device.expectWhole()
      }
    }
  }

  @Test func aChangeThatKnowsTheOtherOneIsFollowed() throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try make(.removesOne, on: family[0], removing: family[2])
    try family[0].sync(usb)
    #expect(try family[1].sync(usb).problems == [])
    try make(.replacesWords, on: family[1], removing: family[2])
    try family[1].sync(usb)
    for device in family.devices.prefix(2) {
      #expect(try device.sync(usb).problems.allSatisfy { $0.severity == .note })
    }
    #expect(try family[0].contents() == family[1].contents())
  }
}
