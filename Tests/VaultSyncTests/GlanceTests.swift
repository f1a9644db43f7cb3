import BlobStore
import MachineState
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// What a mount asks of a remote every half minute.
struct GlanceTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    try family.meet(at: usb)
  }

  private func glance(at remote: any BlobStore) throws -> RemoteGlance {
    RemoteGlance(
      state: StateFolder(store: family[0].stateStore), remote: remote,
      name: try #require(RemoteName("usb")))
  }

  @Test func seesWhatAnotherDevicePutThere() throws {
    // What was put there and not listed since looks new once.
    try family[0].sync(usb)
    var glance = try glance(at: usb)
    #expect(try !glance.hasNews())
    try family[1].write("Visit", "by the other one")
    try family[1].sync(usb)
    #expect(try glance.hasNews())
    try family[0].sync(usb)
    #expect(try !glance.hasNews())
  }

  @Test func seesThatAHeadIsGone() throws {
    try family[1].write("Visit", "by the other one")
    try family[1].sync(usb)
    try family[0].sync(usb)
    let head = VaultPath.head(try family[0].emma.id, family[1].vault.device)
    try usb.remove(BlobPath(head.string))
    var glance = try glance(at: usb)
    #expect(try glance.hasNews())
  }

  /// Of more members than a glance may ask for, the next one takes those that follow.
  @Test func asksFourTimesAtMostAndComesToEveryMember() throws {
    for name in ["B", "C", "D", "E", "F"] {
      _ = try family[0].vault.addMember(named: #require(FileName(name)))
    }
    try family.meet(at: usb)
    try family[0].sync(usb)
    try family[0].sync(usb)
    let counting = CountingStore(usb)
    var glance = try glance(at: counting)
    for _ in 0..<2 {
      let before = counting.traffic.requestCount
      #expect(try !glance.hasNews())
      #expect(counting.traffic.requestCount - before == 4)
    }
    #expect(try !glance.hasNews(isWide: true))
    _ = try family[1].vault.members.last?.commit([RecordEdit.newRecord("rung for")])
    try family[1].sync(usb)
    #expect(try glance.hasNews(isWide: true))
    try family[0].sync(usb)
    for member in family[1].vault.members {
      _ = try member.commit([RecordEdit.newRecord("news")])
      try family[1].sync(usb)
      var isSeen = false
      for _ in 0..<3 where !isSeen { isSeen = try glance.hasNews() }
      #expect(isSeen, "\(member.name.string)")
      try family[0].sync(usb)
    }
  }
}
