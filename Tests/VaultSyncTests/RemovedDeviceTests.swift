import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Whoever has a device that its person removed has its keys for ever, and writes what is well-formed with them.
@Suite struct RemovedDeviceTests {
  private let family: Family
  /// What the thief has: the vault as the removed device still has it open.
  private let thief: Vault
  private let stolen: StatementID

  init() throws {
    let usb = MemoryStore()
    family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    thief = family[2].vault
    stolen = try thief.context.ownCertificate().id
    try family[0].vault.beginGeneration(
      removing: [thief.device], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
  }

  /// What it may have written before it was removed is only told. What comes after a sync that knew is remembered until
  /// somebody has looked at it; each once. So it is where the thief has a stranger certify it.
  @Test(arguments: [false, true])
  func whatItWritesLaterIsTampering(isAStrangersToo: Bool) throws {
    let usb = MemoryStore()
    let family = try Family(count: 2)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[1].write("Note", "of the device, while it was one")
    try family.meet(at: usb)
    let member = try family[1].emma.id
    let head = BlobPath(VaultPath.head(member, family[1].vault.device).string)
    func suspicions() throws -> [String] {
      try family[0].sync(usb).problems.compactMap(\.suspicion).map(\.kind)
    }
    func push(_ title: String) throws {
      try family[1].write(title, "of the thief")
      try usb.replace(head, family[1].store.read(head, limit: 1 << 20), durably: true)
    }
    try push("Unseen")
    try family[0].vault.beginGeneration(
      removing: [family[1].vault.device], words: Family.words.words)
    if isAStrangersToo {
      try Self.certify(family[1].vault.context.device, of: family[0].vault, in: family[0].store)
    }
    #expect(try suspicions() == [])
    #expect(try suspicions() == [])
    for title in ["Late", "Later"] {
      try push(title)
      #expect(try suspicions() == ["untrusted"], "\(title)")
      #expect(try suspicions() == [])
    }
    #expect(try !family[0].contents().values.contains("of the thief"))
  }

  /// A machine that comes later takes nothing of it, and so has nothing to compare it with but what it remembers.
  @Test func aMachineThatComesLaterIsToldOnce() throws {
    let usb = MemoryStore()
    let family = try Family(count: 2)
    try family.meet(at: usb)
    try family[1].write("Note", "of the device, while it was one")
    try family.meet(at: usb)
    let removed = family[1].vault.device
    let head = BlobPath(VaultPath.head(try family[1].emma.id, removed).string)
    try family[0].vault.beginGeneration(removing: [removed], words: Family.words.words)
    try family[0].sync(usb)
    let store = MemoryStore()
    for (path, bytes) in family[0].store.blobs
    where path.string == "vault.json" || path.string.hasPrefix("people/") {
      try store.replace(path, bytes, durably: true)
    }
    let later = try SyncingAdult(
      recovering: family[0].vault.id, in: store, words: Family.words.words)
    func told() throws -> [SyncProblem] {
      try later.sync(usb).problems.filter { $0.kind == .untrusted }
    }
    let first = try told()
    #expect(first.contains { $0.path == head.string })
    #expect(first.allSatisfy { $0.severity == .note })
    for _ in 0..<2 { #expect(try told() == []) }
    // What it writes after that is news.
    try family[1].write("Later", "of the thief")
    try usb.replace(head, #require(family[1].store.blobs[head]), durably: true)
    let news = try told()
    #expect(news.map(\.path) == [head.string] && news.map(\.severity) == [.warning])
    #expect(try told() == [])
  }

  /// A machine that only puts there what it has does not know yet that the device was removed.
  @Test func whoOnlyPushesIsToldToSync() throws {
    let usb = MemoryStore()
    let family = try Family(count: 3)
    try family.meet(at: usb)
    try family[2].write("Visit", "of the phone, while it was one")
    try family.meet(at: usb)
    try family[1].write("Unsent", "of the laptop")
    try family[0].vault.beginGeneration(
      removing: [family[2].vault.device], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(usb)
    let pushed = try family[1].sync(usb) { $0.direction = .push }
    #expect(pushed.problems.allSatisfy { $0.severity < .damage }, "\(pushed.problems)")
    #expect(pushed.problems.contains { $0.kind == .waiting })
    #expect(try family[1].sync(usb).problems.allSatisfy { $0.severity < .damage })
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("of the laptop"))
  }

  /// What somebody had taken from it while it counted shows to who looks now as it does to who looked on: a device that
  /// writes keeps it, one that only reads goes by the heads that count.
  @Test(arguments: [false, true])
  func whatItBroughtInTimeIsTheSameToEveryone(isReadOnly: Bool) throws {
    let usb = MemoryStore()
    let family = try Family(count: 3)
    try family.meet(at: usb)
    let late = try family[2].write("Late", "of the phone, while it was one")
    try family[2].sync(usb)
    // The desk never sees it.
    try family[1].sync(usb)
    let onlooker = try family[1].open(on: family[1].store, OpenOptions(readOnly: true))
    let seen = isReadOnly ? onlooker : family[1].vault
    let id = try family[1].emma.id
    let emma = try #require(seen.openedMembers.first { $0.id == id })
    _ = try emma.refresh()
    try #require(emma.entry(late) != nil)
    try family[0].vault.beginGeneration(
      removing: [family[2].vault.device], words: Family.words.words)
    // The new keys of the member have not come yet.
    for (path, bytes) in family[0].store.blobs where path.string.hasPrefix("people/") {
      try family[1].store.replace(path, bytes, durably: true)
    }
    try seen.context.reloadPeople()
    _ = try emma.refresh()
    if !isReadOnly, emma.isToBeJoined { _ = try emma.joinConcurrent() }
    let fresh = try family[1].open(on: family[1].store, OpenOptions(readOnly: true))
    let anew = try #require(fresh.openedMembers.first { $0.id == emma.id })
    #expect(anew.entry(late) == emma.entry(late))
    #expect((emma.entry(late) != nil) == !isReadOnly)
  }

  /// What a machine had committed when it was cut is not done again, over what others have made of it since, where it was removed
  /// meanwhile and the words have made it a device anew.
  @Test func whatItHadCommittedIsNotDoneAgain() throws {
    let usb = MemoryStore()
    let family = try Family(count: 2)
    let (desk, phone) = (family[0], family[1])
    let note = try desk.write("Visit", "first")
    try family.meet(at: usb)
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("of the phone")
    let emma = try phone.emma
    #expect(try emma.log([edit]))
    _ = try emma.commit([edit], foldsRedo: true)
    try family.meet(at: usb)
    try desk.edit(note, "of the desk")
    try family.meet(at: usb)
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(usb)
    #expect(throws: SyncError.self) { try phone.sync(usb) }
    try phone.recover(Family.words.words)
    try family.meet(at: usb)
    for machine in [desk, phone] {
      #expect(try machine.contents().values.contains("of the desk"))
      #expect(try !machine.contents().values.contains("of the phone"))
    }
  }

  private var owner: Vault { family[0].vault }

  private func put(_ path: VaultPath, _ bytes: [UInt8]) throws {
    try family[0].store.replace(BlobPath(path.string), bytes, durably: true)
  }

  /// A device that the stolen one certifies, in the generation that it was of or in the one without it.
  private func certify(in generation: StatementID) throws -> (device: ThisDevice, id: StatementID) {
    let device = ThisDevice(
      signingSeed: SecretBytes(randomCount: 32), agreementPrivateKey: SecretBytes(randomCount: 32))
    let new = PublicDevice(device, of: owner.person, binding: owner.context.binding)
    let certificate = Certificate(
      person: owner.person, generation: generation,
      signingKey: try #require(VerifyingKey(new.signingPublicKey)),
      agreementKey: new.agreementPublicKey, consent: new.consent, approver: stolen, time: 9)
    let body = certificate.encoded()
    let id = owner.id.statementID(.certificate, body: body)
    let signer = thief.context.device
    try put(
      .certificate(owner.person, id),
      owner.context.signedFiles.statement(.certificate, body) { signer.signingKey.sign($0) })
    return (device, id)
  }

  /// A stranger certifies the removed phone, with its consent, which whoever has its key can give. What was written over its changes
  /// waits for nothing all the same, also where none of its heads ever came.
  @Test func whoeverElseCertifiesItItsPersonHasLeftItOut() throws {
    let usb = MemoryStore()
    let family = try Family(count: 3)
    let (desk, phone, late) = (family[0], family[1], family[2])
    try family.meet(at: usb)
    let note = try phone.write("Visit", "of the phone")
    for machine in [phone, desk] { try machine.sync(usb) }
    try desk.edit(note, "of the desk")
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(usb)
    try Self.certify(phone.vault.context.device, of: desk.vault, in: late.store)
    try late.reopen()
    for _ in 0..<2 {
      try late.sync(usb)
      try #require(!late.vault.context.people.isFormer(phone.vault.device))
      #expect(try !late.emma.holdsEntries)
      #expect(try late.contents().values.contains("of the desk"))
      try late.reopen()
    }
  }

  /// What was done on it before it was removed is read on every machine, also where strangers have certified it since.
  @Test func itsLogComesWhoeverElseCertifiesIt() throws {
    let usb = MemoryStore()
    let family = try Family(count: 3)
    let (desk, phone, late) = (family[0], family[1], family[2])
    for machine in [desk, phone, late, desk] { try machine.sync(usb) }
    let emma = try phone.emma.id
    phone.vault.audit.note(.export, member: emma, record: .root, detail: "all of it")
    try phone.write("Visit", "of the phone")
    try phone.vault.audit.flush()
    for machine in [phone, desk] { try machine.sync(usb) { $0.looksEverywhere = true } }
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    try desk.sync(usb)
    for _ in 0..<16 {
      try Self.certify(phone.vault.context.device, of: desk.vault, in: late.store)
    }
    try late.reopen()
    try late.sync(usb) { $0.looksEverywhere = true }
    let events = try late.vault.audit.read().events
    #expect(events.contains { $0.event.detail == "all of it" })
  }

  /// Puts a person into a folder who is made up, and whose device has certified this one as another one of theirs.
  private static func certify(
    _ device: ThisDevice, of vault: Vault, in store: MemoryStore
  ) throws {
    let context = vault.context
    let stranger = try MadeUp(vault: vault.id, store: store).person()
    let new = PublicDevice(device, of: stranger.id, binding: context.binding)
    let certificate = Certificate(
      person: stranger.id, generation: stranger.generation,
      signingKey: try #require(VerifyingKey(new.signingPublicKey)),
      agreementKey: new.agreementPublicKey, consent: new.consent, approver: stranger.certificate,
      time: 9)
    let body = certificate.encoded()
    let path = VaultPath.certificate(
      stranger.id, vault.id.statementID(.certificate, body: body))
    try store.put(
      BlobPath(path.string),
      context.signedFiles.statement(.certificate, body) { stranger.key.key.sign($0) })
  }

  /// A member that it made before its removal came round is none afterwards, and keeps nothing else from going on.
  @Test func aMemberOfItsOwnEndsNoSync() throws {
    let (usb, disk) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    try family.meet(at: usb)
    let mia = try family[2].vault.addMember(named: #require(FileName("Mia")))
    _ = try mia.commit([.newRecord("Note", note: "x")])
    try family[2].sync(usb)
    try family[1].sync(usb)
    #expect(family[1].vault.member(mia.id) != nil)
    // The desk has not seen it.
    try family[0].vault.beginGeneration(
      removing: [family[2].vault.device], words: Family.words.words)
    try family[0].write("Visit", "after")
    try family[0].sync(disk, as: "disk")
    let first = try family[1].sync(disk, as: "disk")
    #expect(first.problems.allSatisfy { $0.kind != .epoch })
    // The thief goes on with it.
    try family[2].vault.beginEpoch(of: mia, without: [])
    try family[2].sync(usb)
    let second = try family[1].sync(usb)
    #expect(second.problems.allSatisfy { $0.kind != .epoch })
    #expect(family[1].vault.member(mia.id) == nil)
    #expect(try family[1].contents().keys.contains { $0.contains("Visit") })
  }

  /// Somebody of whom nobody knows but this machine's folder.
  private static func makeUpPerson(on device: Family.Device) throws -> PersonID {
    try PersonCreation(
      copy: VaultCopy(
        id: device.vault.id, store: device.store, state: StateFolder(store: MemoryStore()),
        clock: .system)
    ).run(
      Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)), words: .random()
    ).person
  }

  /// A machine that had shown such a member tells how to have it count again, and keeps it until then. What the device gave of it
  /// counts no more.
  @Test func aMemberThatTheClosingMachineNeverSawIsKeptByTheWords() throws {
    let (usb, disk) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    try family.meet(at: usb)
    let mia = try phone.vault.addMember(named: #require(FileName("Mia")))
    _ = try mia.commit([.newRecord("Of the phone", note: "x")])
    let stranger = try Self.makeUpPerson(on: phone)
    try phone.vault.share(mia, with: stranger, role: .owner)
    for machine in [phone, laptop] { try machine.sync(disk, as: "disk") }
    let shown = try #require(laptop.vault.member(mia.id))
    try #require(shown.register.links.access.includes(stranger))
    _ = try shown.commit([.newRecord("Of the laptop", note: "y")])
    // The desk has not seen it.
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    for machine in [desk, laptop, desk] { try machine.sync(usb) }
    try laptop.reopen()
    #expect(laptop.vault.member(mia.id) == nil)
    let root = VaultPath.memberRoot(mia.id).string
    let problem = try #require(laptop.vault.problems.first { $0.path == root })
    #expect(problem.severity == .warning && problem.member == "Mia")
    #expect(problem.reason.contains("kinvault member keep"))
    _ = try laptop.vault.collect(keepDays: 0, acceptsClock: true, isDryRun: false)

    #expect(try desk.vault.unlistedMembers().isEmpty)
    let unlisted = try laptop.vault.unlistedMembers()
    try #require(unlisted.map(\.id) == [mia.id])
    try laptop.vault.keep(unlisted, words: Family.words.words)
    let kept = try #require(laptop.vault.member(mia.id))
    #expect(try laptop.vault.unlistedMembers().isEmpty)
    try laptop.vault.beginEpoch(of: kept, without: [])
    for machine in [laptop, desk, laptop, desk, laptop] { try machine.sync(usb) }
    for machine in [desk, laptop] {
      let member = try #require(machine.vault.member(mia.id))
      #expect(!member.register.links.access.includes(stranger))
      let titles = Set(member.children(of: .root).map(\.title.string))
      #expect(titles.isSuperset(of: ["Of the phone", "Of the laptop"]))
    }
  }

  /// Whom the device had taken out of it before stays out, and is given none of the new keys.
  @Test func whomItHadTakenOutStaysOutOfWhatIsKept() throws {
    let (usb, disk) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    try family.meet(at: usb)
    let mia = try phone.vault.addMember(named: #require(FileName("Mia"))).id
    for machine in [phone, laptop] { try machine.sync(disk, as: "disk") }
    let stranger = try Self.makeUpPerson(on: laptop)
    try laptop.vault.share(
      #require(laptop.vault.member(mia)), with: stranger, role: .editor)
    for machine in [laptop, phone] { try machine.sync(disk, as: "disk") }
    try phone.vault.beginEpoch(of: #require(phone.vault.member(mia)), without: [stranger])
    for machine in [phone, laptop] { try machine.sync(disk, as: "disk") }
    let shown = try #require(laptop.vault.member(mia))
    try #require(!shown.register.links.access.includes(stranger))
    // The desk has not seen it.
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    for machine in [desk, laptop, desk] { try machine.sync(usb) }
    try laptop.reopen()
    let unlisted = try laptop.vault.unlistedMembers()
    try #require(unlisted.map(\.id) == [mia])
    try laptop.vault.keep(unlisted, words: Family.words.words)
    let kept = try #require(laptop.vault.member(mia))
    #expect(!kept.register.links.access.includes(stranger))
    try laptop.vault.beginEpoch(of: kept, without: [])
    #expect(!kept.register.links.holders(of: kept.epoch).contains(stranger))
  }

  /// Whoever has the device makes another one, which is put into the folder of a machine that has heard of its removal.
  @Test func aMemberThatItMakesLaterIsNotToBeKept() throws {
    let mia = try thief.addMember(named: #require(FileName("Mia")))
    for (path, bytes) in family[2].store.blobs
    where path.string.hasPrefix("members/\(mia.id.hex)/") {
      try family[0].store.replace(path, bytes, durably: true)
    }
    for _ in 0..<2 {
      try family[0].reopen()
      #expect(owner.member(mia.id) == nil)
      #expect(try owner.unlistedMembers().isEmpty)
    }
  }

  /// A member that would take the place of another one, and that nobody has accepted, is neither missed nor to be kept.
  @Test func whatNobodyHasAcceptedIsNotToBeKept() throws {
    let (usb, disk) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    try family.meet(at: usb)
    let emma = try phone.emma
    let anew = try phone.vault.addMember(named: emma.name, renewing: emma.id)
    _ = try anew.commit([.newRecord("Note", note: "x")])
    for machine in [phone, laptop] { try machine.sync(disk, as: "disk") }
    try #require(laptop.vault.member(anew.id) != nil)
    // The desk has not seen it.
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    for machine in [desk, laptop, desk] { try machine.sync(usb) }
    try laptop.reopen()
    #expect(laptop.vault.member(anew.id) == nil)
    let root = VaultPath.memberRoot(anew.id).string
    let problem = try #require(laptop.vault.problems.first { $0.path == root })
    #expect(problem.severity == .note && problem.kind == .unlisted)
    #expect(try laptop.vault.unlistedMembers().isEmpty)
  }

  /// What it wrote stays its person's, and readers are told that others may have its key.
  @Test func whatItSignedIsStillItsPersons() throws {
    let usb = MemoryStore()
    let family = try Family(count: 2)
    try family[0].write("First", "of the desk")
    try family.meet(at: usb)
    try family[1].write("Visit", "of the laptop")
    try family.meet(at: usb)
    let laptop = family[1].vault.device
    let emma = try family[0].emma
    let visit = try #require(emma.allEntries().first { $0.title.string == "Visit" }).revision
    func author(isFormer: Bool) -> Authorship {
      .signed(
        .init(
          device: laptop, person: family[0].vault.person, standing: isFormer ? .listed : .counts))
    }
    #expect(try emma.authorship(of: visit) == author(isFormer: false))
    try family[0].vault.beginGeneration(removing: [laptop], words: Family.words.words)
    #expect(try family[0].emma.authorship(of: visit) == author(isFormer: true))
  }

  /// Number 7 of the review, by a thief: the member was never shared, and nobody but its one person ever had keys of it.
  @Test func aRepairTakesNothingThatARemovedDeviceHasPutThere() throws {
    let emma = try family[0].emma
    let old = try #require(thief.members.first { $0.id == emma.id })
    let entry = try #require(old.allEntries().first { $0.title.string == "Visit" })
    var revision = try old.revision(entry.revision)
    revision.version[thief.device] = 1000
    revision.time = revision.time.next(now: 0)
    revision.document?.content = .inline(Array("forged".utf8))
    revision.document?.size = 6
    revision.previous = [entry.revision]
    let signer = thief.context
    let bytes = revision.encodeSigned(by: stolen) { unsigned in
      signer.device.signingKey.sign(
        signer.binding.vault.signedMessage(ofRevision: unsigned, in: old.id))
    } storingPages: { _ in
      .zero
    }
    let forged = try old.objects.write(.record, bytes, under: old.register.keys.current)
    let path = old.objects.path(of: forged)
    try family[0].store.replace(path, family[2].store.read(path, limit: 1 << 20), durably: true)
    try family[0].store.remove(BlobPath(VaultPath.head(emma.id, owner.device).string))
    try family[0].stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    try family[0].reopen()
    let report = try #require(try owner.repair().first)
    let left = try #require(report.unvouched.first { $0.digest == forged })
    let author = Authorship.Author(device: thief.device, person: owner.person, standing: .unlisted)
    #expect(left.refusal == .removedDevice(author))
    let now = try #require(family[0].emma.entry(entry.record)).revision
    #expect(try family[0].emma.revision(now).document?.content == .inline(Array("first".utf8)))
  }

  /// Number 2 of the review.
  @Test func aRemovedDeviceCertifiesNobody() throws {
    let open = try #require(try owner.context.ownPerson().generation)
    let forged = [try certify(in: thief.context.keys.generation), try certify(in: open)]
    try family[0].reopen()
    // Nor is one of them let in when the words are used again.
    try owner.beginGeneration(removing: [], words: Family.words.words)
    let own = try owner.context.ownPerson()
    #expect(Set(own.devices.keys) == [family[0].vault.device, family[1].vault.device])
    let after = try #require(own.generation)
    for (device, id) in forged {
      #expect(owner.context.people.trust.device(id) != .counts)
      #expect(
        family[0].store.blobs[BlobPath(VaultPath.wrap(own.id, after, device.id).string)] == nil)
      // What it writes counts for nothing.
      let emma = try family[0].emma
      let path = VaultPath.head(emma.id, device.id)
      let body = HeadFile(
        member: emma.id, person: own.id, certificate: id, device: device.id, counter: 9,
        epoch: emma.epoch, follows: emma.register.links.history.tips,
        sealed: Sealed(
          nonce: [UInt8](repeating: 0, count: 12), ciphertext: [UInt8](repeating: 0, count: 32)
        ).encoded(), generation: after)
      try put(
        path,
        owner.context.signedFiles.statement(.head, body.encoded()) { device.signingKey.sign($0) })
      #expect(throws: VaultError.self) {
        try HeadJudges(
          people: owner.context.people, links: emma.register.links, current: nil, own: nil
        )
        .judge(device.id, in: owner.context.signedFiles).requireCounting()
      }
    }
  }

  /// A link signed by the stolen device, put into the owner's folder.
  private func forge(_ link: Link) throws -> StatementID {
    let (body, signer) = (link.encoded(), thief.context.device)
    let id = owner.id.statementID(.link, body: body)
    try put(
      .link(link.member, id),
      owner.context.signedFiles.statement(.link, body) { signer.signingKey.sign($0) })
    return id
  }

  /// Number 1 of the review: a gift to somebody made up, by a device that was removed, is not given again, whatever it
  /// follows; and number 14: nor do epochs count that it begins, one after another.
  @Test func aRemovedDeviceGivesNothingAndBeginsNothing() throws {
    let emma = try family[0].emma
    let stranger = try Self.makeUpPerson(on: family[0])
    try owner.context.reloadPeople()
    let current = emma.epoch
    let theirs = try #require(owner.context.people[stranger]?.generation)
    let history = emma.register.links.history
    let seat = try #require(history.seats(of: owner.person).first)
    var last = try #require(history.tips.first)
    // From before the removal, after it, and each after the one before.
    for follows in [[], history.tips] + (0..<20).map({ _ in [StatementID]() }) {
      last = try forge(
        Link(
          member: emma.id, person: owner.person, certificate: stolen, place: seat,
          follows: follows.isEmpty ? [last] : follows,
          changes: [.give(stranger, .owner, until: 0)], epoch: .random(),
          wraps: [
            Wrap(epoch: nil, person: stranger, generation: theirs, file: .random()),
            Wrap(
              epoch: nil, person: owner.person, generation: thief.context.keys.generation,
              file: .random()),
          ], time: 99))
    }
    // An innocent owner's link that follows them launders nothing.
    try family[0].reopen()
    let again = try family[0].emma
    #expect(again.epoch == current)
    #expect(!again.register.links.access.includes(stranger))
    #expect(try owner.tendEpochs().get() == [])
    #expect(try again.accesses().map(\.person) == [owner.person])
    let signer = owner.context.device
    let innocent = Link(
      member: emma.id, person: owner.person,
      certificate: try owner.context.ownCertificate().id, place: seat,
      follows: again.register.links.history.tips + [last], time: 100)
    let body = innocent.encoded()
    try put(
      .link(emma.id, owner.id.statementID(.link, body: body)),
      owner.context.signedFiles.statement(.link, body) { signer.signingKey.sign($0) })
    try family[0].reopen()
    #expect(try !family[0].emma.register.links.access.includes(stranger))
    #expect(try family[0].emma.epoch == current)
  }

  /// What the removed device had given before stays: the closing lists it.
  @Test func whatADepartingDeviceGaveGoesOnCounting() throws {
    let emma = try family[0].emma
    let listed = try owner.context.ownPerson().history.valid.values.flatMap(\.counted)
    let signed = emma.register.links.history.signed(by: [stolen])
    #expect(signed.isSubset(of: Set(listed)))
  }

  /// Whoever can write to the folder has put something in the place of a member's root, or taken it away: the member is open all
  /// the same, and falls for nobody.
  @Test(arguments: [[1, 2, 3], nil] as [[UInt8]?])
  func whatADepartingDeviceMadeGoesOnWhateverLiesInThePlaceOfItsRoot(bytes: [UInt8]?) throws {
    let usb = MemoryStore()
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    try family.meet(at: usb)
    let liam = try laptop.vault.addMember(named: #require(FileName("Liam"))).id
    try family.meet(at: usb)
    let made = try laptop.vault.context.ownCertificate().id
    let signed = try #require(desk.vault.member(liam)).register.links.history.signed(by: [made])
    #expect(!signed.isEmpty)
    let root = BlobPath(VaultPath.memberRoot(liam).string)
    if let bytes {
      try desk.store.replace(root, bytes, durably: true)
    } else {
      try desk.store.remove(root)
    }
    try desk.vault.beginGeneration(removing: [laptop.vault.device], words: Family.words.words)
    let listed = try desk.vault.context.ownPerson().history.valid.values.flatMap(\.counted)
    #expect(signed.union([liam.root]).isSubset(of: Set(listed)))
    for device in [desk, phone] { try device.sync(usb) }
    try phone.reopen()
    #expect(phone.vault.member(liam) != nil)
  }

  /// Number 8 of the review: a folder that a copier puts back, which leaves no watermark.
  @Test(arguments: [false, true])
  func aFolderPutBackReadmitsNoDevice(readOnly: Bool) throws {
    let own = try owner.context.ownPerson()
    let tip = VaultPath.closing(own.id, try #require(own.generation))
    try family[0].store.remove(BlobPath(tip.string))
    try family[0].reopen(OpenOptions(readOnly: readOnly))
    let now = try owner.context.ownPerson()
    #expect(now.generation == own.generation)
    #expect(now.removal(of: thief.device) != nil)
    #expect(owner.problems.contains { $0.kind == .rollback && $0.path == tip.string })
    #expect((family[0].store.blobs[BlobPath(tip.string)] == nil) == readOnly)
    if readOnly { return }
    // Told once, for it is there again; and to a sync that knows no keys it is the same.
    try family[0].reopen()
    #expect(!owner.problems.contains { $0.kind == .rollback })
  }

  /// A new machine is made with the words from a store that withholds the removal. Nobody is let in by that: not the thief,
  /// nor the new machine, which is told so as soon as it meets the removal, and becomes one with the words.
  @Test func recoveryFromAStoreThatWithholdsTheRemoval() throws {
    let (usb, withholding) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: withholding)
    let thief = family[2].vault.device
    try family[0].vault.beginGeneration(removing: [thief], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(usb, as: "real")
    try family[1].sync(usb, as: "real")
    try family[0].sync(usb, as: "real")

    let (store, state) = (MemoryStore(), MemoryStore())
    _ = try VaultClone.begin(from: withholding, into: store, called: "Family")
    let password = SecretBytes(copying: Array("pw".utf8))
    func recover() throws -> Vault {
      let key = try Vault.recover(
        VaultCopy(
          id: family[0].vault.id, store: store, state: StateFolder(store: state), clock: .system),
        words: Family.words.words, device: Family.newDevice, password: password)
      return try Vault.open(
        VaultCopy(
          id: family[0].vault.id, store: store, state: StateFolder(store: state), clock: .system),
        key: key, options: OpenOptions())
    }
    func sync(_ vault: Vault, _ remote: MemoryStore) throws {
      let name = try #require(RemoteName(remote === usb ? "real" : "withholding"))
      _ = try RemoteSync(vault: vault, remote: remote, name: name).run()
    }
    let apart = try recover()
    try sync(apart, withholding)
    #expect(apart.context.removal == nil)
    let emma = try #require(apart.members.first)
    let edit = RecordEdit.newRecord("Written apart", note: "by the new machine")
    _ = try emma.commit([edit])
    try sync(apart, withholding)
    // It meets the removal: it is out as well, and says so.
    #expect {
      try sync(apart, usb)
    } throws: {
      if case SyncError.vault(.thisDeviceRemoved) = $0 { true } else { false }
    }
    #expect(apart.context.removal != nil)
    #expect(throws: VaultError.self) { try emma.commit([.newRecord("More")]) }
    for device in [family[0], family[1]] {
      try device.sync(usb, as: "real")
      let own = try #require(device.vault.context.people[device.vault.person])
      #expect(Set(own.devices.keys) == [family[0].vault.device, family[1].vault.device])
      #expect(own.removal(of: thief) != nil)
    }
    // The words make it one that counts, and what it wrote goes on with it.
    let again = try recover()
    #expect(again.context.removal == nil)
    #expect(again.problems.contains { $0.kind == .takenAlong })
    try sync(again, usb)
    try family[0].sync(usb, as: "real")
    let own = try #require(family[0].vault.context.people[family[0].vault.person])
    #expect(own.devices.count == 3 && own.devices[again.device] != nil)
    #expect(own.devices[thief] == nil)
    _ = try #require(again.members.first).commit([.newRecord("By the new device")])
    try sync(again, usb)
    try family[0].sync(usb, as: "real")
    for title in ["Visit", "Written apart", "By the new device"] {
      #expect(try family[0].emma.record(titled: title) != nil)
    }
    #expect(try again.check(readsData: true).problems.allSatisfy { $0.severity == .note })
  }

  /// Number 16 of the review.
  @Test func recoverTakesNothingThatARemovedDeviceSays() throws {
    let path = VaultPath.device(owner.person, thief.device)
    try put(path, thief.madeUpRegister(of: thief.device, counter: 99, at: path))
    let (store, state) = (family[0].store.imageAfterKill(), MemoryStore())
    let key = try Vault.recover(
      VaultCopy(id: owner.id, store: store, state: StateFolder(store: state), clock: .system),
      words: Family.words.words, device: Family.newDevice,
      password: SecretBytes(copying: Array("pw".utf8)))
    let vault = try Vault.open(
      VaultCopy(id: owner.id, store: store, state: StateFolder(store: state), clock: .system),
      key: key, options: OpenOptions())
    #expect(try vault.personalProfile().name == "Adult A")
  }
}
