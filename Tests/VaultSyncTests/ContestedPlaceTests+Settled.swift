import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// What becomes of a machine whose person has said which end is true.
extension ContestedPlaceTests {
  private func warnings(_ problems: [Problem]) -> [String] {
    problems.filter { $0.severity > .note }.map { "\($0.path): \($0.reason)" }
  }

  /// Says yes to whom the puppet, who has the place for her, has let in.
  private func letDoraIn(as role: Role) throws -> MemberID {
    try handOverToThePuppet(isTaken: false, in: thiefs)
    for adult in [carla, puppet, carla, puppet] { try syncWithTheThief(adult) }
    try puppet.vault.share(#require(puppet.emma), with: dora.vault.person, role: role)
    for adult in [puppet, dora] { try syncWithTheThief(adult) }
    for _ in 0..<3 { try dora.sync(usb) }
    return try #require(dora.emma).id
  }

  @Test func theNextSyncBringsWhatHangsOnTheTrueEndAndThenThereIsNothingToSay() throws {
    _ = try misleadCarla()
    try ben.write("Ben's")
    try sync(ben, carla)
    #expect(try carla.titles == ["Misled", "Visit"])
    try carla.vault.settle(#require(carla.emma).id, on: truth)
    #expect(try carla.sync(usb).problems == [])
    #expect(try carla.titles == ["Ben's", "Misled", "Visit"])
    #expect(try access.includes(dora.vault.person))
    let again = try carla.sync(usb)
    #expect(again.problems == [] && again.pulled == SyncTally() && again.pushed == SyncTally())
    // Nor has the puppet's store.
    #expect(try carla.sync(thiefs, as: "thiefs").problems == [])
    #expect(try warnings(carla.vault.check(readsData: true).problems) == [])
    #expect(try warnings(reopened().problems) == [])
    try sync(ben, carla)
    #expect(try Family.Device.contents(of: ben.vault) == Family.Device.contents(of: carla.vault))
  }

  /// A mount beside the command: a head that did not hold before is looked at again, though no statement came.
  @Test func aProcessThatRunsBesideFindsWhatHangsOnTheTrueEnd() throws {
    _ = try misleadCarla()
    try ben.write("Ben's")
    try sync(ben, carla)
    let mount = try reopened()
    let emma = try #require(mount.openedMembers.first { $0.name.string == "Emma" })
    // A program that copies brings what carries no weight yet.
    let own = VaultPath.head(emma.id, carla.vault.device).string
    for (path, bytes) in usb.blobs
    where path.string.hasPrefix("members/\(emma.id.hex)/") && path.string != own {
      try carla.store.replace(path, bytes, durably: true)
    }
    _ = try emma.refresh()
    #expect(Set(emma.children(of: .root).map(\.title.string)) == ["Misled", "Visit"])
    try carla.vault.settle(emma.id, on: truth)
    _ = try emma.refresh()
    #expect(Set(emma.children(of: .root).map(\.title.string)) == ["Ben's", "Misled", "Visit"])
  }

  @Test func aViewerNeedsNoFullSyncEither() throws {
    let member = try letDoraIn(as: .viewer)
    try dora.vault.settle(member, on: truth)
    #expect(dora.emma == nil)
    try sync(dora)
    #expect(try dora.titles == ["Visit"])
    #expect(try dora.sync(usb).problems == [])
  }

  @Test func whoCouldWriteByTheOtherEndAloneIsToldThatTheyCannotAnyMore() throws {
    let member = try letDoraIn(as: .editor)
    try dora.write("Dora's")
    try syncWithTheThief(dora)
    try dora.vault.settle(member, on: truth)
    #expect(dora.emma == nil)
    let told = dora.vault.problems.filter { $0.path == "members/\(member.hex)/links" }
    #expect(told.map(\.kind) == [.accessEnded])
    try sync(dora)
    // By the true end she reads.
    #expect(try dora.titles == ["Visit"])
    #expect(try dora.sync(usb).problems == [])
  }

  /// By the true end they have access, and a key of no epoch that counts.
  @Test func whoHasNoKeyByTheTrueEndYetIsToldThatItComes() throws {
    _ = try misleadCarla()
    let second = try SyncingAdult(joining: puppet.vault.invite(), as: "Second")
    for adult in [second, puppet] { try syncWithTheThief(adult) }
    #expect(try puppet.vault.acceptIntroductions() == [second.vault.person])
    try puppet.vault.share(#require(puppet.emma), with: second.vault.person, role: .editor)
    for adult in [puppet, second] { try syncWithTheThief(adult) }
    try second.write("Second's")
    try second.sync(usb)
    let member = try #require(second.emma).id
    _ = try forge(
      by: ben, as: place, follows: [truth], .give(second.vault.person, .viewer, until: 0),
      into: second.store)
    try second.vault.settle(member, on: truth)
    #expect(second.emma == nil)
    let told = second.vault.problems.filter { $0.path == "members/\(member.hex)/links" }
    #expect(told.map(\.severity) == [.note], "\(told)")
  }

  @Test func aProcessThatWasOpenGoesOnAndLosesNothing() throws {
    _ = try misleadCarla()
    let beside = try reopened()
    try sync(carla)
    let member = try #require(carla.emma).id
    try carla.vault.settle(member, on: truth)
    let other = try #require(beside.member(member))
    func titles() -> Set<String> { Set(other.children(of: .root).map(\.title.string)) }
    #expect(try other.commit([.newRecord("Beside", note: "a note")]).failures.isEmpty)
    try carla.sync(usb)
    _ = try other.refresh()
    #expect(other.epoch == carla.emma?.epoch)
    #expect(other.register.links.access.owners == [ben.vault.person, carla.vault.person])
    #expect(try other.commit([.newRecord("After", note: "a note")]).failures.isEmpty)
    try sync(carla, ben)
    let all: Set = ["After", "Beside", "Misled", "Visit"]
    #expect(titles() == all)
    #expect(try ben.titles == all && carla.titles == all)
  }

  @Test func settlingBackAndForthLosesNothing() throws {
    let forged = try misleadCarla()
    try sync(carla)
    let member = try #require(carla.emma).id
    var all: Set = ["Misled", "Visit"]
    for (number, end) in [truth, forged, truth, forged, truth].enumerated() {
      try carla.vault.settle(member, on: end)
      let first = end == truth ? ben : puppet
      #expect(try access.owners == [first.vault.person, carla.vault.person])
      try carla.write("\(number)")
      all.insert("\(number)")
      try sync(carla)
      #expect(try carla.titles == all)
    }
    try sync(ben, carla, ben)
    #expect(try ben.titles == all)
    #expect(try warnings(carla.vault.check(readsData: true).problems) == [])
  }

  /// Ben was never misled; he is told of the other end until he says so, too.
  @Test func whoWasNotMisledSettlesItAsWell() throws {
    let forged = try misleadCarla()
    try sync(carla, ben)
    let member = try #require(ben.emma).id
    func told() throws -> [String] {
      try warnings(ben.vault.context.opening(of: member).loadLinks().problems)
    }
    #expect(try told().contains { $0.contains(forged.hex) })
    #expect(try ben.vault.placesToSettle().map(\.place.isSettled) == [false])
    try ben.vault.settle(member, on: truth)
    #expect(try told() == [])
    #expect(try ben.vault.placesToSettle().map(\.place.isSettled) == [true])
    #expect(try ben.vault.placesToSettle().flatMap(\.place.ends).map(\.link) == [truth, forged])
  }

  /// Carla has gone on from what the puppet wrote, and an owner of the puppet's: that comes to Ben with her own.
  @Test func whatWasWrittenOverTheIntrudersComesToEverybody() throws {
    _ = try misleadCarla()
    let second = try SyncingAdult(joining: puppet.vault.invite(), as: "Second")
    for adult in [second, puppet] { try syncWithTheThief(adult) }
    #expect(try puppet.vault.acceptIntroductions() == [second.vault.person])
    try puppet.vault.share(#require(puppet.emma), with: second.vault.person, role: .owner)
    for adult in [puppet, second, carla, second] { try syncWithTheThief(adult) }
    try second.vault.beginEpoch(of: #require(second.emma), without: [])
    for (adult, title) in [(puppet, "Puppet's"), (second, "Second's")] {
      var edit = RecordEdit(record: try #require(record("Visit", of: carla)))
      edit.items[.record] = .note("by \(title)")
      #expect(try #require(adult.emma).commit([edit]).failures.isEmpty)
      try adult.write(title)
      for adult in [adult, carla, puppet, second] { try syncWithTheThief(adult) }
    }
    var edit = RecordEdit(record: try #require(record("Visit", of: carla)))
    edit.items[.record] = .note("by Carla")
    #expect(try #require(carla.emma).commit([edit]).failures.isEmpty)
    // What she writes as an owner follows what they wrote.
    try carla.vault.share(#require(carla.emma), with: dora.vault.person, role: .viewer)
    try sync(carla, ben)
    try carla.vault.settle(#require(carla.emma).id, on: truth)
    try sync(carla, ben, carla)
    for adult in [carla, ben] {
      #expect(try adult.titles == ["Misled", "Puppet's", "Second's", "Visit"])
      let texts = try Family.Device.contents(of: adult.vault)
      #expect(texts.contains { $0.key.contains("Visit") && $0.value == "by Carla" })
      #expect(try warnings(adult.vault.check(readsData: true).problems) == [])
      #expect(try adult.sync(usb).problems == [])
    }
  }

  private func record(_ title: String, of adult: SyncingAdult) -> RecordID? {
    adult.emma?.children(of: .root).first { $0.title.string == title }?.record
  }

  /// Ben has let Eve in, who knows nobody else, and she meets both ends at once: no member shows.
  @Test func whoKnowsNobodyOfThoseWhomItConcernsSettlesItByTheMembersID() throws {
    let eve = try SyncingAdult(joining: ben.vault.invite(), as: "Eve")
    for adult in [eve, ben] { try adult.sync(usb) }
    #expect(try ben.vault.acceptIntroductions() == [eve.vault.person])
    try ben.vault.share(#require(ben.emma), with: eve.vault.person, role: .viewer)
    try ben.sync(usb)
    try handOverToThePuppet(isTaken: true, in: usb)
    try sync(eve)
    let member = try #require(ben.emma).id
    #expect(eve.emma == nil)
    #expect(try eve.vault.placesToSettle().isEmpty)
    let places = try eve.vault.placesToSettle { $0 == member }
    #expect(places.map(\.member) == [member])
    #expect(places.map(\.place.isRemembered) == [false])
    try eve.vault.settle(member, on: truth)
    try sync(eve)
    #expect(try eve.titles == ["Visit"])
  }
}
