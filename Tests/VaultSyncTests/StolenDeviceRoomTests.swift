import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultPeople
@testable import VaultSync

/// An owner's machine is stolen, and fills what there is room for: with its signatures, with devices that it lets in, with people
/// whom it says that its person knows. It is removed all the same, and afterwards nothing of that takes the room of others.
@Suite struct StolenDeviceRoomTests {
  private let remote = MemoryStore()
  private let family: Family
  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }
  private var stolen: Family.Device { family[2] }
  private var other: Family.Device { family[3] }

  init() throws {
    family = try Family(count: 4)
    try desk.write("First", "first")
    try syncAll()
  }

  private func syncAll() throws {
    for _ in 0..<2 { try sync([desk, laptop, stolen, other]) }
  }

  private func sync(_ devices: [Family.Device]) throws {
    for device in devices { try device.sync(remote) { $0.looksEverywhere = true } }
  }

  private func remove(_ devices: Set<DeviceID>) throws {
    try desk.vault.beginGeneration(removing: devices, words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try sync([desk, laptop, desk, laptop])
  }

  // MARK: What it signs

  /// What one closing has no room for stands in several. Before the last one nobody is left out but who has no room.
  @Test func whatAClosingDoesNotListTheNextOneDoes() throws {
    let devices = [DeviceID.random(), DeviceID.random()]
    let counted = (0..<5).map { _ in StatementID.random() }
    let lists = (0..<(Limits.headLists + 1)).map { _ in ContentDigest.random() }
    let content = ClosingWriter.Content(
      removing: Set(devices), withoutRoom: [devices[0]], counted: counted, authored: lists)
    let parts = content.parts(countedLimit: 2)
    #expect(parts.map(\.counted.count) == [2, 2, 1])
    #expect(parts.map(\.authored.count) == [Limits.headLists, 1, 0])
    #expect(parts.map(\.removing) == [[devices[0]], [devices[0]], Set(devices)])
    #expect(parts.flatMap(\.counted) == counted)
    #expect(parts.flatMap(\.authored) == lists)
    #expect(ClosingWriter.Content().parts().count == 1)
  }

  /// The first of several closings leaves out who has no room: what these have signed is on it, and falls nowhere where the others
  /// are not written.
  @Test func whatDevicesWithoutRoomHaveSignedIsListedFirst() throws {
    for machine in [laptop, stolen] { try machine.write("By itself", "by itself") }
    try syncAll()
    let first = try laptop.makeMembers(count: 20, into: desk.store)
    let then = try stolen.makeMembers(count: 20, into: desk.store)
    let (known, lost) = (laptop.vault.device, stolen.vault.device)
    let content = try desk.vault.closingContent(of: Leaving([known, lost]), withoutRoom: [known])
    #expect(Set(content.counted.prefix(20)) == Set(first))
    #expect(Set(content.counted.dropFirst(20)) == Set(then))
    #expect(content.authored.count == 2)
  }

  /// It has made more members than a closing lists.
  @Test func howeverMuchItSignsItIsRemoved() throws {
    let certificate = try stolen.vault.context.ownCertificate().id
    let roots = try stolen.makeMembers(count: ClosingWriter.countedLimit + 1, into: desk.store)
    try desk.vault.beginGeneration(removing: [stolen.vault.device], words: Family.words.words)
    let trust = desk.vault.context.people.trust
    #expect(trust.device(certificate) == .former)
    #expect(roots.allSatisfy { trust.stands($0, by: certificate) })
    let own = try desk.vault.context.ownPerson()
    #expect(own.devices[laptop.vault.device] != nil && own.generation != nil)
  }

  /// What its log says may be by whoever has it, also after it was removed.
  @Test func whatItsLogSaysIsShownAsARemovedDevices() throws {
    let emma = try stolen.emma.id
    stolen.vault.audit.note(.export, member: emma, record: .root, detail: "all of it")
    try stolen.write("By itself", "by itself")
    try stolen.vault.audit.flush()
    try syncAll()
    func standing() throws -> LoggedEvent.Standing? {
      try desk.vault.audit.read().events.first { $0.event.detail == "all of it" }?.standing
    }
    #expect(try standing() == .counts)
    try remove([stolen.vault.device])
    #expect(try standing() == .removedDevice)
  }

  // MARK: Whom it lets in

  /// Two machines were stolen, and one has let in as many devices as there is room for. The other one alone cannot be removed,
  /// which is said, and by whom; both can.
  @Test func twoOfThemAreRemovedAtOnce() throws {
    try other.letInDevices(count: 1_024, into: desk.store)
    try desk.reopen()
    let (one, two) = (stolen.vault.device, other.vault.device)
    let refusal = #expect(throws: VaultError.self) {
      _ = try desk.vault.closingPreview(removing: [one])
    }
    guard case .limit(let what, _, let limit)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(what.contains("your device \(two.shortHex) has let in 1024 of them"))
    #expect(limit == 1_024)
    #expect(try desk.vault.closingPreview(removing: [one, two]).goingAlongCount == 1_024)
    try remove([one, two])
    for machine in [desk, laptop] {
      let devices = try machine.vault.context.ownPerson().devices.keys
      #expect(Set(devices) == [desk.vault.device, laptop.vault.device])
    }
  }

  // MARK: What it says of lines

  /// Of as many devices as a head has room for it says that they have taken over its line, and is believed. After its removal
  /// there is room for a machine that was copied.
  @Test func whatItSaysOfLinesTakesNoRoomAfterwards() throws {
    func told() throws -> [Head.Retold] {
      let own = desk.vault.device
      return try desk.emma.heads.withLock { try #require($0.loaded[own]).head.retold }
    }
    let (thief, approver) = (stolen.vault.device, try stolen.vault.context.ownCertificate().id)
    try stolen.letInDevices(count: Limits.headRetold, into: desk.store)
    try desk.reopen()
    let takers = try desk.vault.context.ownPerson().devices.filter {
      $0.value.certificate.approver == approver
    }.keys.sorted()
    try #require(takers.count == Limits.headRetold)
    let member = try stolen.emma
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        head.retold = takers.map { taker in
          let mark = HeadMark(counter: 1 << 20, hash: .zero)
          return Head.Retold(device: thief, above: 0, by: taker, marks: [mark])
        }
      }
      heads = writer.heads
    }
    try sync([stolen, desk])
    try desk.write("Then", "then")
    try #require(told().map(\.by).sorted() == takers)
    try remove(Set([thief] + takers))

    let copy = try laptop.clone()
    for (machine, text) in [(laptop, "of the laptop"), (copy, "of the copy")] {
      try machine.write(text, text)
      try machine.sync(remote)
    }
    let (old, new) = (laptop.vault.device, copy.vault.device)
    try #require(old != new)
    try sync([desk])
    try desk.write("Later", "later")
    #expect(try told().contains { $0.device == old && $0.by == new })
    #expect(try told().count == Limits.headRetold)
  }

  // MARK: Whom it knows

  private func acquaintance(
    _ name: String, _ verification: Verification = .trustedOnFirstUse, time: UInt64 = 1
  ) -> Acquaintance {
    Acquaintance(person: .random(), name: name, verification: verification, time: time)
  }

  private func known(at device: Family.Device) throws -> Set<Acquaintance> {
    Set(try device.vault.personalProfile().people)
  }

  /// It has as much room in its register as all of them took from one another, and the desk writes something meanwhile.
  @Test func whatItSaysOfPeopleTakesNoRoomAfterwards() throws {
    let crowd = acquaintance(String(repeating: "x", count: Limits.profileBytes - 300))
    try stolen.vault.changePersonalProfile { $0.note(crowd) }
    try syncAll()
    try desk.vault.changePersonalProfile { $0.note(acquaintance("of the desk")) }
    try remove([stolen.vault.device])
    let friend = acquaintance(String(repeating: "y", count: 200), .wordsCompared)
    try laptop.vault.changePersonalProfile { $0.note(friend) }
    try sync([laptop, desk])
    #expect(try known(at: desk).contains(friend))
    for device in [desk, laptop] {
      let people = try known(at: device)
      #expect(people.count == 2 && !people.contains { $0.person == crowd.person })
    }
  }

  /// It need not be in wrong hands: what was said on it alone is known on the others when it is gone.
  @Test func whomItAloneKnewStaysKnown() throws {
    let friend = acquaintance("Dora", .wordsCompared)
    try stolen.vault.changePersonalProfile { $0.note(friend) }
    try syncAll()
    try remove([stolen.vault.device])
    for device in [desk, laptop] { #expect(try known(at: device) == [friend]) }
    try desk.reopen()
    #expect(try known(at: desk) == [friend])
  }

  /// It says of somebody whom the desk knows what nobody could ever say anything later than. That ends with its removal.
  @Test func whatItSaysForEverEndsWithIt() throws {
    let friend = acquaintance("Dora", .wordsCompared)
    try desk.vault.changePersonalProfile { $0.note(friend) }
    var lie = friend
    (lie.name, lie.time) = ("Zoe", Limits.time)
    let stranger = acquaintance("Stranger", .wordsCompared, time: Limits.time)
    try stolen.vault.changePersonalProfile { profile in
      profile.note(lie)
      profile.note(stranger)
    }
    try syncAll()
    #expect(try known(at: desk).contains(lie))
    try remove([stolen.vault.device])
    for device in [desk, laptop] {
      let people = try known(at: device)
      #expect(people.contains(friend) && !people.contains(lie))
      let taken = try #require(people.first { $0.person == stranger.person })
      #expect(taken.time < Limits.time)
    }
  }

  /// A machine that becomes a device while it counts calls its person what it says, and does not afterwards.
  @Test func aNewDeviceForgetsTheNameThatItGaveAsWell() throws {
    let name = try desk.vault.personalProfile().name
    try stolen.vault.changePersonalProfile { profile in
      (profile.name, profile.time) = ("Mallory", HybridTime(milliseconds: Limits.time))
    }
    try syncAll()
    try other.recover(Family.words.words)
    #expect(try other.vault.personalProfile().name == "Mallory")
    try syncAll()
    try remove([stolen.vault.device])
    try sync([other, desk])
    for device in [desk, laptop, other] {
      #expect(try device.vault.personalProfile().name == name)
    }
  }

  @Test func whatHasNoRoomIsTold() throws {
    let crowd = (0..<400).map { number in
      acquaintance("\(number) \(String(repeating: "x", count: 240))")
    }
    let friend = acquaintance("Dora", .wordsCompared)
    try stolen.vault.changePersonalProfile { profile in
      for one in crowd + [friend] { profile.note(one) }
    }
    try syncAll()
    let preview = try desk.vault.closingPreview(removing: [stolen.vault.device])
    #expect(preview.forgottenCount > 0 && preview.forgottenCount < crowd.count)
    try remove([stolen.vault.device])
    let people = try known(at: desk)
    #expect(people.contains(friend))
    #expect(people.count == crowd.count + 1 - preview.forgottenCount)
    // It can go on saying what it likes.
    try desk.vault.renameDevice(to: "desk")
    try desk.vault.changePersonalProfile { $0.note(acquaintance("Emil")) }
    try desk.reopen()
    #expect(try known(at: desk).count == people.count + 1)
  }
}

extension Family.Device {
  /// This machine makes so many members, of which nothing but the roots is there.
  func makeMembers(count: Int, into store: MemoryStore) throws -> [StatementID] {
    let context = vault.context
    let (certificate, signer) = (try context.ownCertificate().id, context.device)
    return try (0..<count).map { _ in
      let root = MemberRoot(
        person: context.person, certificate: certificate, random: .random(), time: 1)
      let body = root.encoded()
      let id = context.binding.vault.statementID(.root, body: body)
      let file = context.signedFiles.statement(.root, body) { signer.signingKey.sign($0) }
      try store.put(BlobPath(VaultPath.memberRoot(MemberID(root: id)).string), file)
      return id
    }
  }

  /// This machine certifies as many made-up devices, as whoever has its key can.
  func letInDevices(count: Int, into store: MemoryStore) throws {
    let context = vault.context
    let (vault, person) = (context.binding.vault, context.person)
    let (approver, signer) = (try context.ownCertificate().id, context.device)
    let generation = try #require(context.ownPerson().generation)
    for _ in 0..<count {
      let key = SigningKey(seed: SecretBytes(randomCount: 32))
      var certificate = Certificate(
        person: person, generation: generation,
        signingKey: try #require(VerifyingKey(key.publicKey)), approver: approver, time: 1)
      certificate.consent = key.sign(vault.signedMessage(.device, certificate.consentBody))
      let body = certificate.encoded()
      let path = VaultPath.certificate(person, vault.statementID(.certificate, body: body))
      let file = context.signedFiles.statement(.certificate, body) { signer.signingKey.sign($0) }
      try store.put(BlobPath(path.string), file)
    }
  }
}
