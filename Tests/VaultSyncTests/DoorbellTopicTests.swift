import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Under what a doorbell is rung, and listened to.
struct DoorbellTopicTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    _ = try family[0].vault.addMember(named: #require(FileName("Ben")))
    try family.meet(at: usb)
    for device in family.devices { try device.sync(usb) }
  }

  @Test func everyDeviceListensToATopicOfEachMember() throws {
    let topics = family[0].vault.doorbellTopics
    #expect(Set(topics).count == 2)
    #expect(topics == family[1].vault.doorbellTopics)
    for topic in topics {
      #expect(Hex.decode(topic)?.count == 20)
    }
  }

  @Test func aSyncRingsForTheMembersOfWhichItPutHeads() throws {
    #expect(try family[0].sync(usb).doorbellTopics == [])
    try family[0].write("Visit", "all well")
    let topic = try family[0].emma.carried.doorbellTopic
    #expect(try family[0].sync(usb).doorbellTopics == [topic])
  }

  @Test func aSyncOfHeadsAloneRingsAsWell() throws {
    try family[0].write("Visit", "all well")
    let report = try #require(try family[0].quickSync(usb))
    #expect(try report.doorbellTopics == [family[0].emma.carried.doorbellTopic])
  }

  @Test func aDryRunRingsForNothing() throws {
    try family[0].write("Visit", "all well")
    #expect(try family[0].sync(usb) { $0.isDryRun = true }.doorbellTopics == [])
  }

  @Test func aNewEpochHasAnotherTopicAndTheOtherMemberNot() throws {
    let before = Set(family[0].vault.doorbellTopics)
    let emma = try family[0].emma
    try family[0].vault.beginEpoch(of: emma, without: [])
    let after = Set(family[0].vault.doorbellTopics)
    #expect(after.count == 2)
    #expect(before.intersection(after).count == 1)
    #expect(try after.contains(family[0].emma.carried.doorbellTopic))
  }
}
