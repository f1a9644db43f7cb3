import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

@testable import Vault

/// A member that is made anew without an owner who is lost for good. Docs/Format.md, "A member made anew".
@Suite struct RenewalTests {
  /// Anna, the first owner, is lost; Ben is an owner after her.
  private func bereaved(carla: Role) throws -> Adults {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, carla)
    return adults
  }

  /// Brings what one has to another, who accepts nothing.
  private func carry(from source: Adults.Adult, to target: Adults.Adult) throws {
    try Replicas.carry(from: source.store, to: target.store)
    _ = try target.vault.refreshMembers()
    for member in target.vault.openedMembers { _ = try member.refresh() }
  }

  private func old(_ adult: Adults.Adult) throws -> Member {
    try #require(adult.vault.openedMembers.first { $0.renews == nil })
  }

  private func new(_ adult: Adults.Adult, of maker: Adults.Adult) throws -> Member {
    try #require(
      adult.vault.openedMembers.first { $0.renews != nil && $0.creator == maker.id })
  }

  private func shown(_ member: Member, _ adult: Adults.Adult) -> String? {
    adult.vault.shownNames[member.id]?.string
  }

  private func isOffered(_ member: Member, _ adult: Adults.Adult) -> Bool {
    adult.vault.offeredMembers.contains { $0.member.id == member.id }
  }

  /// Everything that shows of a member: paths with contents.
  private func contents(_ member: Member) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for entry in member.allEntries() where !entry.isDeleted {
      let path = entry.record == .root ? "" : member.displayPath(of: entry.record)
      let tail = path.split(separator: "/").dropFirst().joined(separator: "/")
      found["\(tail)/"] = []
      for item in try member.items(of: member.revision(entry.revision)) {
        found["\(tail)/\(item.name.string)"] = try member.beginning(
          of: item, byteCount: Int(item.size))
      }
    }
    return found
  }

  /// A record with a large file and one in it, and a file in the member's own folder.
  private func fill(_ adult: Adults.Adult) throws {
    let emma = try #require(adult.emma)
    var visit = RecordEdit.newRecord("Visit", note: "all well")
    // More than stand in an item, with a hole.
    var chunks: [ContentDigest?] = try (0..<17).map { number in
      try emma.objects.put(.chunk, [UInt8](repeating: UInt8(number), count: Limits.chunkBytes))
    }
    chunks[3] = nil
    let scan = try #require(FileName("scan.tif"))
    visit.items[scan] = Item(
      name: scan, file: .random(), size: UInt64(17 * Limits.chunkBytes),
      content: try emma.content(of: chunks), time: .zero)
    var result = RecordEdit.newRecord("Result", in: visit.record, note: "negative")
    let photo = try Item.file("photo.jpg", [1, 2, 3], in: emma)
    result.items[photo.name] = photo
    var root = RecordEdit(record: .root)
    let card = try Item.file("card.jpg", [4, 5, 6], in: emma)
    root.items[card.name] = card
    #expect(try emma.commit([visit, result, root]).firstFailure == nil)
    try adult.write("Removed")
    let removed = try #require(emma.children(of: .root).first { $0.title.string == "Removed" })
    var removal = RecordEdit(record: removed.record)
    removal.place = RecordPlace(parent: .root, title: removed.title, isDeleted: true)
    #expect(try emma.commit([removal]).firstFailure == nil)
  }

  @Test func allThatIsHereGoesOnWithoutTheOneWhoIsLost() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try fill(anna)
    try adults.meet()
    let renewal = try ben.vault.renew(try old(ben), without: [anna.id])
    #expect(renewal.shared == [carla.id] && renewal.left == [] && renewal.incomplete == [])
    #expect(try contents(renewal.member) == contents(old(ben)))
    #expect(try contents(renewal.member).keys.contains { $0.contains("photo.jpg") })
    #expect(shown(renewal.member, ben) == "Emma")
    #expect(try shown(old(ben), ben)?.hasPrefix("Emma (") == true)
    let roles = try renewal.member.accesses().map { ($0.person, $0.role) }
    #expect(roles.map(\.0) == [ben.id, carla.id] && roles.map(\.1) == [.owner, .editor])

    // Carla is asked, and sees the old one as before until she says yes.
    try carry(from: ben, to: carla)
    let hers = try new(carla, of: ben)
    let offer = try #require(carla.vault.offeredMembers.first { $0.member.id == hers.id })
    #expect(try offer.renews?.id == old(carla).id && offer.without == [anna.id])
    #expect(!carla.vault.members.contains { $0.id == hers.id })
    #expect(try shown(old(carla), carla) == "Emma")
    try carla.vault.accept(hers.id)
    try carla.reopen()
    let accepted = try new(carla, of: ben)
    #expect(shown(accepted, carla) == "Emma" && !isOffered(accepted, carla))
    #expect(try shown(old(carla), carla)?.hasPrefix("Emma (") == true)
    #expect(try contents(accepted) == contents(old(carla)))

    // From here on what is written is not for Anna, nor for whoever has her keys.
    let edit = RecordEdit.newRecord("Vaccine", note: "given")
    #expect(try accepted.commit([edit]).firstFailure == nil)
    try carry(from: carla, to: ben)
    #expect(try contents(new(ben, of: ben)).keys.contains("Vaccine/record.md"))
    try carry(from: carla, to: anna)
    #expect(!anna.vault.openedMembers.contains { $0.renews != nil })
    #expect(try ben.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  @Test func whatWasInterruptedIsGoneOnWith() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben) = (adults.anna, adults.ben)
    try fill(anna)
    try adults.meet()
    let begun = try ben.vault.addMember(named: old(ben).name, renewing: old(ben).id)
    let entry = try #require(old(ben).children(of: .root).first { $0.title.string == "Visit" })
    #expect(
      try begun.commit([.newRecord("Of the meantime")]).firstFailure == nil)
    try ben.reopen()
    // It shows, but the name is the old one's until it is whole.
    #expect(try shown(old(ben), ben) == "Emma")
    let renewal = try ben.vault.renew(old(ben), without: [anna.id])
    #expect(renewal.member.id == begun.id && renewal.member.entry(entry.record) != nil)
    let again = try ben.vault.renew(old(ben), without: [anna.id])
    #expect(again.member.id == begun.id && again.shared == renewal.shared)
    var expected = try contents(old(ben))
    expected["Of the meantime/"] = []
    #expect(try contents(again.member) == expected)
    #expect(shown(again.member, ben) == "Emma")
  }

  @Test func nobodyWhoCanBeTakenOutIsLeftOutSo() throws {
    let adults = try bereaved(carla: .owner)
    let ben = adults.ben
    let emma = try old(ben)
    do throws(VaultError) {
      _ = try ben.vault.renew(emma, without: [adults.carla.id])
      Issue.record("a member was made anew without somebody who can be taken out")
    } catch { guard case .notNeeded = error else { throw error } }
    do throws(VaultError) {
      _ = try ben.vault.renew(emma, without: [])
      Issue.record("a member was made anew without anybody being lost")
    } catch { guard case .notNeeded = error else { throw error } }
    #expect(throws: VaultError.self) { try ben.vault.renew(old(ben), without: [ben.id]) }
  }

  /// An editor, or an owner who was taken out, makes a member that says it takes the place of Emma.
  @Test(arguments: [Role.editor, .owner])
  func whoIsNoOwnerTakesNoName(role: Role) throws {
    let adults = try bereaved(carla: role)
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    if role == .editor {
      #expect(throws: VaultError.self) {
        try carla.vault.renew(old(carla), without: [anna.id])
      }
    }
    let forged = try carla.vault.addMember(named: old(carla).name, renewing: old(carla).id)
    try carla.vault.share(forged, with: ben.id, role: .editor)
    if role == .owner {
      try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.id])
      try carry(from: anna, to: ben)
    }
    try carry(from: carla, to: ben)
    let theirs = try new(ben, of: carla)
    #expect(ben.vault.renewed(by: theirs) == nil)
    if isOffered(theirs, ben) {
      #expect(ben.vault.offeredMembers.first { $0.member.id == theirs.id }?.renews == nil)
      try ben.vault.accept(theirs.id)
    }
    #expect(try shown(old(ben), ben) == "Emma")
    #expect(shown(theirs, ben)?.hasPrefix("Emma (") == true)
  }

  @Test func ofTwoOwnersWhoDoItAtOnceTheFirstThatIsAcceptedHasTheName() throws {
    let adults = try bereaved(carla: .owner)
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try fill(anna)
    try adults.meet()
    let bens = try ben.vault.renew(old(ben), without: [anna.id]).member
    let carlas = try carla.vault.renew(old(carla), without: [anna.id]).member
    try carry(from: ben, to: carla)
    try carry(from: carla, to: ben)
    for (adult, own, other) in [(ben, bens, carlas), (carla, carlas, bens)] {
      #expect(shown(own, adult) == "Emma")
      let theirs = try #require(adult.vault.openedMembers.first { $0.id == other.id })
      #expect(isOffered(theirs, adult))
      try adult.vault.accept(theirs.id)
      #expect(shown(own, adult) == "Emma")
      #expect(shown(theirs, adult)?.hasPrefix("Emma (") == true)
      #expect(Set(adult.vault.shownNames.values).count == 3)
    }
    // Whoever knows of one makes no second.
    let late = try bereaved(carla: .owner)
    _ = try late.ben.vault.renew(old(late.ben), without: [late.anna.id])
    try carry(from: late.ben, to: late.carla)
    let carlasOld = try old(late.carla)
    do throws(VaultError) {
      _ = try late.carla.vault.renew(carlasOld, without: [late.anna.id])
      Issue.record("a member was made anew twice by owners who knew of it")
    } catch { guard case .alreadyExists = error else { throw error } }
  }

  /// Whoever has the keys of the one who is lost makes one as well, and shares it.
  @Test func whoIsLeftOutKeepsNobodyFromIt() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben) = (adults.anna, adults.ben)
    let annas = try anna.vault.addMember(named: old(anna).name, renewing: old(anna).id)
    try anna.vault.share(annas, with: ben.id, role: .owner)
    try carry(from: anna, to: ben)
    #expect(try ben.vault.renewed(by: new(ben, of: anna))?.id == old(ben).id)
    let renewal = try ben.vault.renew(old(ben), without: [anna.id])
    #expect(renewal.member.creator == ben.id)
    #expect(shown(renewal.member, ben) == "Emma")
  }

  /// One of Ben's machines was stolen: what it has made it may have shared with anybody. So he says on the other one first that
  /// he wants it.
  @Test func whatAnotherMachineHasBegunIsAcceptedFirst() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben) = (adults.anna, adults.ben)
    let begun = try ben.vault.addMember(named: old(ben).name, renewing: old(ben).id)
    let copy = VaultCopy(
      id: ben.vault.id, store: ben.store.imageAfterKill(), state: StateFolder(store: MemoryStore()),
      clock: ben.clock.wallClock)
    let words = try RecoveryWords(parsing: ben.words.joined(separator: " "))
    let key = try Vault.recover(
      copy, words: words, device: Adults.newDevice(of: "Ben"), password: Adults.password)
    let laptop = try Vault.open(copy, key: key)
    let emma = try #require(laptop.openedMembers.first { $0.renews == nil })
    do throws(VaultError) {
      _ = try laptop.renew(emma, without: [anna.id])
      Issue.record("what nobody has accepted was gone on with")
    } catch { guard case .alreadyExists = error else { throw error } }
    try laptop.accept(begun.id)
    #expect(try laptop.renew(emma, without: [anna.id]).member.id == begun.id)
  }

  /// The one who was lost, or whoever has their keys, is back, and takes out who made the member anew.
  @Test func whoComesBackTakesNothingThatWasAccepted() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try fill(anna)
    try adults.meet()
    let made = try ben.vault.renew(old(ben), without: [anna.id]).member
    try carry(from: ben, to: carla)
    try carla.vault.accept(made.id)
    try carry(from: carla, to: anna)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    try anna.write("Anna is back")
    for adult in [ben, carla] { try carry(from: anna, to: adult) }
    // Who had accepted it keeps it, under the name; and reads what Anna writes in the old one.
    try carla.reopen()
    #expect(shown(try new(carla, of: ben), carla) == "Emma")
    #expect(try contents(old(carla)).keys.contains("Anna is back/record.md"))
    try ben.reopen()
    #expect(ben.vault.members.map(\.id) == [made.id])
    #expect(shown(try new(ben, of: ben), ben) == "Emma")
    // She has no key of it, and is let in as anybody is.
    #expect(!anna.vault.openedMembers.contains { $0.renews != nil })
    try ben.vault.share(new(ben, of: ben), with: anna.id, role: .editor)
    try carry(from: ben, to: anna)
    let hers = try new(anna, of: ben)
    // Ben is no owner of the old one any more as far as she knows, so it takes no name from hers.
    if isOffered(hers, anna) { try anna.vault.accept(hers.id) }
    #expect(try shown(old(anna), anna) == "Emma")
    #expect(shown(hers, anna)?.hasPrefix("Emma (") == true)
  }

  /// Until it is accepted, what the old one's owners do decides whether it is offered in its place.
  @Test func whoWasTakenOutBeforeItWasAcceptedTakesNoName() throws {
    let adults = try bereaved(carla: .editor)
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    let made = try ben.vault.renew(old(ben), without: [anna.id]).member
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    try carry(from: anna, to: carla)
    try carry(from: ben, to: carla)
    let hers = try #require(carla.vault.openedMembers.first { $0.id == made.id })
    #expect(carla.vault.renewed(by: hers) == nil)
    if isOffered(hers, carla) { try carla.vault.accept(hers.id) }
    #expect(try shown(old(carla), carla) == "Emma")
    #expect(shown(hers, carla)?.hasPrefix("Emma (") == true)
  }
}
