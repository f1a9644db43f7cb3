import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// An owner's machine is stolen, and nobody has removed it yet. Its key is real and its owner is believed, and it says of the
/// owner's other machines what never was. It can write what it likes over any record, as its own; but nothing that another
/// machine has written, or will write, goes out of sight by what it says of that one's line, nothing that it made up is passed on,
/// and after its removal nothing waits.
@Suite struct StolenDeviceTests {
  private let remote = MemoryStore()
  private let family: Family
  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }
  private var stolen: Family.Device { family[2] }
  /// Meets the others when all is said.
  private var late: Family.Device { family[3] }

  init() throws {
    family = try Family(count: 4)
    try desk.write("First", "first")
    try syncAll([desk, laptop, stolen])
  }

  /// What the stolen machine says of the laptop's line.
  enum Lie: CaseIterable {
    /// It was the laptop itself before.
    case branches
    /// It, or the desk, has taken over the laptop's newest head, and very many that are yet to be written.
    case retold, retoldByTheDesk
  }

  private func syncAll(_ devices: [Family.Device]) throws {
    for _ in 0..<2 { for device in devices { try device.sync(remote) } }
  }

  private func removeTheStolenOne() throws {
    try desk.vault.beginGeneration(
      removing: [stolen.vault.device], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try syncAll([desk, laptop])
  }

  /// The program of the stolen machine is changed so that it writes what it likes.
  private func tell(_ lie: Lie) throws {
    let (device, own) = (laptop.vault.device, stolen.vault.device)
    let newest = try laptop.emma.heads.withLock { try #require($0.loaded[device]?.mark) }
    let others = (1..<UInt64(Limits.retoldMarks)).map {
      HeadMark(counter: newest.counter + $0, hash: .zero)
    }
    let taker = lie == .retoldByTheDesk ? desk.vault.device : own
    let member = try stolen.emma
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      if lie == .branches { writer.heads.lines.lineages[own, default: Lineage()].add(newest) }
      try writer.writeHead(.checkpoint) { head in
        if lie == .branches {
          head.branches.append(Head.Branch(device: device, above: 0))
        } else {
          head.retold = [
            Head.Retold(device: device, above: 0, by: taker, marks: [newest] + others)
          ]
        }
      }
      heads = writer.heads
    }
    try stolen.sync(remote)
  }

  /// The stolen machine certifies another one once more: the consent for that stands in the true certificate. What it makes goes
  /// before that, by its id.
  private func certifyAnew(_ machine: Family.Device) throws {
    let context = stolen.vault.context
    let known = try #require(context.ownPerson().devices[machine.vault.device])
    var certificate = known.certificate
    certificate.approver = try context.ownCertificate().id
    certificate.approval = []
    var (body, id) = (certificate.encoded(), known.id)
    while id >= known.id {
      certificate.time += 1
      body = certificate.encoded()
      id = context.binding.vault.statementID(.certificate, body: body)
    }
    let signer = context.device
    let file = context.signedFiles.statement(.certificate, body) { signer.signingKey.sign($0) }
    try remote.put(BlobPath(VaultPath.certificate(context.person, id).string), file)
  }

  /// All of these machines show the texts, as they are, and as a program that begins anew.
  private func expect(
    _ texts: Set<String>, on devices: [Family.Device], _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for device in devices {
      for _ in 0..<2 {
        let shown = Set(try device.contents().values)
        #expect(shown.isSuperset(of: texts), comment, sourceLocation: sourceLocation)
        try device.reopen()
      }
    }
  }

  /// No head of an honest machine says anything of lines.
  private func expectNothingPassedOn(by devices: [Family.Device]) throws {
    for device in devices {
      let own = device.vault.device
      let told = try device.emma.heads.withLock { try #require($0.loaded[own]).head.retold }
      #expect(told.isEmpty)
    }
  }

  @Test(arguments: Lie.allCases)
  func itTakesOverNoLineOfAnotherMachines(lie: Lie) throws {
    try laptop.write("Mine", "mine")
    try syncAll([laptop, desk, stolen])
    let device = laptop.vault.device
    try tell(lie)
    try syncAll([desk, late, laptop])
    #expect(laptop.vault.device == device)
    try expect(["first", "mine"], on: [desk, late, laptop], "after the lie")
    for (number, machine) in [desk, laptop, late].enumerated() {
      try machine.write("Later \(number)", "later \(number)")
    }
    try syncAll([desk, late, laptop])
    let texts: Set = ["first", "mine", "later 0", "later 1", "later 2"]
    try expect(texts, on: [desk, late, laptop], "after more was written")
    try expectNothingPassedOn(by: [desk, laptop, late])

    try removeTheStolenOne()
    try syncAll([late, desk, laptop])
    try expect(texts, on: [desk, late, laptop], "after the removal")
    for machine in [desk, laptop, late] { #expect(try !machine.emma.holdsEntries) }
  }

  /// A copy of the laptop's disk has become a device of its own. That stays known, and nothing else is.
  @Test func itMakesNoMachineAnotherOneBefore() throws {
    let copy = try laptop.clone()
    for (machine, text) in [(laptop, "of the laptop"), (copy, "of the copy")] {
      try machine.write(text, text)
      try machine.sync(remote)
    }
    try syncAll([copy, laptop, desk, stolen])
    let (old, new, own) = (laptop.vault.device, copy.vault.device, stolen.vault.device)
    try #require(new != old)
    for machine in [copy, laptop] { try certifyAnew(machine) }
    try desk.sync(remote)
    try desk.vault.context.reloadPeople()
    let witnesses = try desk.emma.witnesses
    #expect(witnesses.person(of: old, and: new)?.certificates[new]?.count == 2)
    #expect(witnesses.hasBecome(new, from: old))
    for device in [old, new] {
      let mark = HeadMark(counter: 1, hash: .zero)
      let line = Head.Retold(device: own, above: 0, by: device, marks: [mark])
      #expect(!witnesses.believes(own, of: line))
    }
    try expect(["first", "of the laptop", "of the copy"], on: [desk], "after the lie")
  }

  /// The desk made the member, and signed that under its own certificate.
  @Test func whatAMachineSignedStaysThoughItIsCertifiedOnceMore() throws {
    let context = desk.vault.context
    let own = try context.ownCertificate().id
    try certifyAnew(desk)
    try desk.sync(remote)
    try context.reloadPeople()
    let least = try #require(context.ownPerson().devices[desk.vault.device])
    #expect(least.id != own)
    try removeTheStolenOne()
    #expect(context.people.trust.device(own) == .counts)
    try expect(["first"], on: [desk, laptop], "after the removal")
  }

  /// When the desk removes the stolen machine it has not seen what that has handed the laptop, and its closing does not list it.
  @Test func aMachineGoesOnWithTheCertificateThatItHasUsed() throws {
    try laptop.write("Before", "before")
    let own = try laptop.vault.context.ownCertificate().id
    try certifyAnew(laptop)
    try laptop.sync(remote)
    for _ in 0..<2 {
      let context = laptop.vault.context
      try context.reloadPeople()
      let least = try #require(context.ownPerson().devices[laptop.vault.device])
      #expect(least.id != own)
      #expect(try context.ownCertificate().id == own)
      try laptop.reopen()
    }
    try laptop.write("Mine", "mine")
    try laptop.sync(remote)
    try removeTheStolenOne()
    try expect(["first", "before", "mine"], on: [desk, laptop], "after the removal")
  }

  /// It lets in more devices than a change of keys can leave in, so that none that leaves it out could be written. They go with it.
  @Test func howeverManyDevicesItLetsInItIsRemoved() throws {
    try stolen.letInDevices(count: 1_024, into: desk.store)
    try desk.reopen()
    try #require(desk.vault.context.ownPerson().devices.count > 1_024)
    #expect(try desk.vault.closingPreview(removing: [stolen.vault.device]).goingAlongCount == 1_024)
    try removeTheStolenOne()
    for machine in [desk, laptop] {
      let devices = try machine.vault.context.ownPerson().devices.keys
      #expect(devices.contains(desk.vault.device) && devices.contains(laptop.vault.device))
      #expect(!devices.contains(stolen.vault.device) && devices.count < 10)
    }
    try expect(["first"], on: [desk, laptop], "after the removal")
  }

  /// It says of people as much as its register holds. What the desk says has room all the same, and the vault opens there.
  @Test func whatItSaysOfPeopleLeavesRoom() throws {
    func acquaintance(_ letter: String, count: Int) -> Acquaintance {
      Acquaintance(
        person: .random(), name: String(repeating: letter, count: count),
        verification: .trustedOnFirstUse, time: 1)
    }
    let friend = acquaintance("y", count: 20_000)
    try stolen.vault.changePersonalProfile { $0.note(acquaintance("x", count: 1_040_000)) }
    try syncAll([stolen, desk])
    try desk.vault.changePersonalProfile { $0.note(friend) }
    try desk.reopen()
    #expect(try desk.vault.personalProfile().people.contains(friend))
    try expect(["first"], on: [desk], "after it was filled")
  }

  /// It says that it has seen very much of the laptop, and that it was the laptop up to there. The entry is told and waits,
  /// what the laptop writes to the record is shown, and the removal ends it.
  @Test func aMadeUpCounterOfAnotherMachineHidesNothing() throws {
    let note = try laptop.write("Note", "before")
    try syncAll([laptop, desk, stolen])
    let before = try #require(desk.emma.entry(note)).revision
    let lie = try writeOver(note, claiming: 1 << 40)
    for machine in [desk, laptop] {
      try machine.sync(remote)
      #expect(try machine.emma.entry(note)?.revision == before)
      #expect(try machine.emma.heads.withLock { $0.held.map(\.entry.revision) } == [lie])
      let told = try machine.vault.check(readsData: false).problems
      #expect(told.contains { $0.kind == .waiting && $0.severity == .warning })
    }
    try laptop.edit(note, "by the laptop")
    try syncAll([laptop, desk])
    try expect(["by the laptop"], on: [desk, laptop], "while it waits")
    try removeTheStolenOne()
    try expect(["first", "by the laptop"], on: [desk, laptop], "after the removal")
    for machine in [desk, laptop] {
      #expect(try !machine.emma.holdsEntries)
      #expect(try !machine.contents().values.contains("by the thief"))
    }
  }

  /// - Returns: The revision, which has seen this counter of the laptop's.
  private func writeOver(_ note: RecordID, claiming counter: UInt64) throws -> ContentDigest {
    let (device, own) = (laptop.vault.device, stolen.vault.device)
    let member = try stolen.emma
    let digest = try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      let base = try #require(member.entry(note))
      var revision = try member.revision(base.revision)
      revision.version[own] = writer.counter
      revision.version[device] = counter
      revision.time = writer.time(over: revision)
      revision.device = own
      revision.previous = [base.revision]
      var text = Item.note("by the thief")
      text.time = revision.time
      revision.document = text
      let digest = try writer.write(&revision, base: nil, entry: nil)
      let entry = try #require(writer.written[note])
      member.state.withLock { _ = $0.take([entry]) }
      try writer.writeHead(.checkpoint) { head in
        head.branches.append(Head.Branch(device: device, above: counter))
      }
      heads = writer.heads
      return digest
    }
    try stolen.sync(remote)
    return digest
  }
}
