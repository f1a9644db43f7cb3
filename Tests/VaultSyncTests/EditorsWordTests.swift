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

/// An editor with a real key says of somebody else's machine what never was: how far its counters have come, and that what it wrote
/// was taken over. Neither takes anything away that the owner, or another editor, has written.
@Suite struct EditorsWordTests {
  private let remote = MemoryStore()

  /// Where an editor's head says how far somebody else's device has come.
  enum Claim: CaseIterable { case cover, takenOver, reached, branches }

  /// Ben joins, and may write.
  private func invite(_ family: Family) throws -> SyncingAdult {
    try family.meet(at: remote)
    let ben = try letIn("Ben", by: family[0])
    for _ in 0..<2 {
      try family.meet(at: remote)
      try ben.sync(remote)
    }
    return ben
  }

  /// Somebody joins and is let in as an editor, and has nothing of the member yet.
  private func letIn(_ name: String, by desk: Family.Device) throws -> SyncingAdult {
    let new = try SyncingAdult(joining: desk.vault.invite(), as: name)
    try new.sync(remote)
    try desk.sync(remote)
    try desk.vault.share(desk.emma, with: new.vault.person, role: .editor)
    try desk.sync(remote)
    return new
  }

  private func texts(_ device: Family.Device) throws -> Set<String> { try texts(device.vault) }

  private func texts(_ vault: Vault) throws -> Set<String> {
    Set(try Family.Device.contents(of: vault).values)
  }

  /// Whose word is taken of whose devices depends on who owns the member: a process that runs on judges anew when that changes.
  @Test func allIsReadAnewWhenSomebodyBecomesAnOwner() throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    let ben = try invite(family)
    let person = ben.vault.person
    #expect(try laptop.emma.heads.withLock { $0.owners }?.contains(person) == false)
    try desk.vault.share(desk.emma, with: person, role: .owner)
    try family.meet(at: remote)
    _ = try laptop.emma.refresh()
    let heads = try laptop.emma.heads.withLock { $0 }
    #expect(heads.owners?.contains(person) == true)
    #expect(!heads.isToBeRead)
  }

  // MARK: Counters

  /// The owner's laptop has no head of the epoch in use: what it wrote was taken over. Ben signs a revision that says it was written
  /// over a change of the laptop's that never was, and his head says that the laptop has come so far. What the laptop writes
  /// to that record after that is shown by everybody all the same.
  ///
  /// - Parameter isLate: Whether the laptop writes before it hears of the new epoch.
  @Test(arguments: [Claim.cover, .takenOver, .reached], [false, true])
  func aMadeUpCounterOfADeviceThatWasTakenOverHidesNothing(claim: Claim, isLate: Bool) throws {
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    let note = try desk.write("Visit", "visit")
    try family.meet(at: remote)
    // So that everybody has a head of the laptop's.
    try laptop.write("Before", "before")
    let ben = try invite(family)
    try laptop.write("Of the laptop", "of the laptop")
    try laptop.sync(remote)
    try desk.sync(remote)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.write("Later", "later")
    for device in [desk, tablet] { try device.sync(remote) }
    try ben.sync(remote)
    let before = try #require(laptop.emma.entry(note)).revision
    let counter = try #require(laptop.emma.knownCounters[laptop.vault.device]) + 1_000
    let lie = try lie(of: ben, about: note, (laptop.vault.device, counter), claim)
    try ben.sync(remote)
    for device in [desk, tablet] {
      try device.sync(remote)
      #expect(try device.emma.entry(note)?.revision == before)
      #expect(try texts(device).isSuperset(of: ["visit", "of the laptop", "later"]))
      let path = try device.emma.objects.path(of: lie).string
      let told = try device.vault.check(readsData: false).problems.filter {
        $0.kind == .waiting && $0.path == path
      }
      #expect(told.count == 1)
      #expect(told.allSatisfy { $0.reason.contains(laptop.vault.device.shortHex) })
    }
    if !isLate { try laptop.sync(remote) }
    try laptop.edit(note, "severe")
    for _ in 0..<2 {
      for device in [laptop, desk, tablet] { try device.sync(remote) }
    }
    for device in family.devices {
      for isFresh in [false, true] {
        if isFresh { try device.reopen() }
        let shown = try texts(device)
        #expect(shown.isSuperset(of: ["severe", "of the laptop", "later"]), "fresh: \(isFresh)")
        #expect(shown.isDisjoint(with: ["visit", "by Ben"]), "fresh: \(isFresh)")
        #expect(try device.emma.keptConflicts().isEmpty)
      }
    }
  }

  /// The same on a machine that has never had a head of the laptop's, nor the key for one: Carla has been let in since.
  @Test(arguments: Claim.allCases)
  func aMadeUpCounterHidesNothingOnANewcomersMachine(claim: Claim) throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    let note = try desk.write("Visit", "visit")
    let ben = try invite(family)
    try laptop.write("Of the laptop", "of the laptop")
    try laptop.sync(remote)
    try desk.sync(remote)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.write("Later", "later")
    let carla = try letIn("Carla", by: desk)
    try ben.sync(remote)
    let device = laptop.vault.device
    let before = try #require(laptop.emma.entry(note)).revision
    let counter = try #require(laptop.emma.knownCounters[device]) + 1_000
    let lie = try lie(of: ben, about: note, (device, counter), claim)
    try ben.sync(remote)

    try carla.sync(remote)
    let emma = try #require(carla.emma)
    #expect(emma.knownCounters[device] == nil)
    #expect(emma.entry(note)?.revision == before)
    #expect(try texts(carla.vault).isSuperset(of: ["visit", "of the laptop", "later"]))
    #expect(emma.heads.withLock { $0.held.map(\.entry.revision) } == [lie])
    // Nor does she say so after him.
    try carla.write("By Carla")
    let own = try emma.heads.withLock { try #require($0.loaded[carla.vault.device]).head }
    let said =
      own.basis.map { ($0.device, $0.counter) } + own.reached.map { ($0.device, $0.counter) }
    #expect(said.allSatisfy { $0.0 != device || $0.1 < counter })

    try laptop.sync(remote)
    try laptop.edit(note, "severe")
    try laptop.sync(remote)
    try carla.sync(remote)
    for vault in [carla.vault, try carla.opened()] {
      let shown = try texts(vault)
      #expect(shown.isSuperset(of: ["severe", "of the laptop", "later"]))
      #expect(shown.isDisjoint(with: ["visit", "by Ben"]))
    }
  }

  /// Ben has edited the note over a change of the laptop's. Carla has never had a head of the laptop's, and gets Ben's first: what
  /// he wrote is told and waits, for that head, or for the word of another one of the owner's devices.
  @Test(arguments: [false, true])
  func whatWasWrittenOverAnOwnersHeadThatHasNotComeWaits(isSaidByAnOwner: Bool) throws {
    let family = try Family()
    let (desk, laptop, second) = (family[0], family[1], MemoryStore())
    let note = try desk.write("Visit", "visit")
    let ben = try invite(family)
    let carla = try letIn("Carla", by: desk)
    try laptop.edit(note, "by the laptop")
    try laptop.sync(second, as: "second")
    try ben.sync(second, as: "second")
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("by Ben")
    _ = try #require(ben.emma).commit([edit])
    let device = laptop.vault.device
    let head = try BlobPath(VaultPath.head(laptop.emma.id, device).string)
    try ben.sync(remote)
    try remote.remove(head)

    try carla.sync(remote)
    #expect(try #require(carla.emma).knownCounters[device] == nil)
    #expect(try texts(carla.vault).contains("visit"))
    #expect(try texts(carla.vault).isDisjoint(with: ["by the laptop", "by Ben"]))
    let told = try carla.vault.check(readsData: false).problems.filter { $0.kind == .waiting }
    #expect(told.contains { $0.reason.contains(device.shortHex) })

    if isSaidByAnOwner {
      try desk.sync(second, as: "second")
      try desk.write("Later", "later")
      try desk.sync(remote)
      try remote.remove(head)
    } else {
      try laptop.sync(remote)
    }
    try carla.sync(remote)
    #expect(try #require(carla.emma).heads.withLock { $0.loaded[device] == nil } == isSaidByAnOwner)
    for vault in [carla.vault, try carla.opened()] {
      #expect(try texts(vault).contains("by Ben"))
      #expect(try texts(vault).isDisjoint(with: ["visit", "by the laptop"]))
      #expect(vault.members.allSatisfy { !$0.holdsEntries })
    }
  }

  /// Ben alone has what the laptop wrote under the key before, and has taken it over; the laptop comes no more. Nobody takes his
  /// word for it, until its person removes it.
  @Test func whatALostDeviceWroteIsTakenWhenItIsRemoved() throws {
    let family = try Family()
    let (desk, laptop, second) = (family[0], family[1], MemoryStore())
    try desk.write("Visit", "visit")
    let ben = try invite(family)
    try laptop.write("Of the laptop", "of the laptop")
    try laptop.sync(second, as: "second")
    try ben.sync(second, as: "second")
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    let carla = try letIn("Carla", by: desk)
    for _ in 0..<2 { try ben.sync(remote) }
    let device = laptop.vault.device
    try remote.remove(BlobPath(VaultPath.head(desk.emma.id, device).string))
    try desk.sync(remote)
    try carla.sync(remote)
    for vault in [desk.vault, carla.vault] {
      #expect(try texts(vault).contains("visit"))
      #expect(try !texts(vault).contains("of the laptop"))
      #expect(vault.members.contains { $0.holdsEntries })
    }
    try desk.vault.beginGeneration(removing: [device], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    for _ in 0..<2 {
      try desk.sync(remote)
      try carla.sync(remote)
    }
    for vault in [desk.vault, carla.vault, try carla.opened()] {
      #expect(try texts(vault).isSuperset(of: ["visit", "of the laptop"]))
      #expect(vault.members.allSatisfy { !$0.holdsEntries })
    }
  }

  // MARK: Another editor's counters

  /// Carla may write, and has not yet. Ben says that he has seen very much of her device: nobody takes his word for it, nor
  /// passes it on, and what she writes then is shown by everybody. What he wrote is told until he is out.
  @Test(arguments: Claim.allCases)
  func aMadeUpCounterOfAnotherEditorsDeviceHidesNothing(claim: Claim) throws {
    let family = try Family()
    let desk = family[0]
    let note = try desk.write("Visit", "visit")
    let ben = try invite(family)
    let carla = try letIn("Carla", by: desk)
    try ben.sync(remote)
    let device = carla.vault.device
    let before = try #require(desk.emma.entry(note)).revision
    let lie = try lie(of: ben, about: note, (device, 1_000), claim)
    try ben.sync(remote)
    for number in 0..<2 {
      // What they write after it says nothing of her either.
      try syncTwice(family)
      for machine in family.devices {
        let emma = try machine.emma
        #expect(emma.knownCounters[device] == nil)
        #expect(emma.entry(note)?.revision == before)
        #expect(emma.heads.withLock { $0.held.map(\.entry.revision) } == [lie])
        try machine.write("Later \(number)", "later")
        let own = try emma.heads.withLock { try #require($0.loaded[machine.vault.device]).head }
        #expect(!own.basis.contains { $0.device == device })
        #expect(!own.reached.contains { $0.device == device })
      }
    }
    try syncTwice(family)

    try carla.sync(remote)
    try edit(note, "by Carla", by: carla)
    try carla.sync(remote)
    try syncTwice(family)
    for machine in family.devices {
      for isFresh in [false, true] {
        if isFresh { try machine.reopen() }
        #expect(try texts(machine).contains("by Carla"), "fresh: \(isFresh)")
        #expect(try texts(machine).isDisjoint(with: ["visit", "by Ben"]), "fresh: \(isFresh)")
        #expect(try machine.emma.holdsEntries)
      }
    }
    try desk.vault.beginEpoch(of: desk.emma, without: [ben.vault.person])
    try syncTwice(family)
    for machine in family.devices {
      #expect(try texts(machine).contains("by Carla"))
      #expect(try !machine.emma.holdsEntries)
    }
  }

  /// Ben says under the keys of before that he has taken over very much of Carla's. The owner takes his head over, and passes on what
  /// she has written and no more: else the owner's word would prove the rest.
  @Test func aMadeUpCounterOfAnotherEditorsLateHeadIsNotPassedOn() throws {
    let family = try Family()
    let (desk, laptop, second) = (family[0], family[1], MemoryStore())
    let note = try desk.write("Visit", "visit")
    let ben = try invite(family)
    let carla = try letIn("Carla", by: desk)
    try carla.sync(remote)
    try edit(note, "by Carla", by: carla)
    try carla.sync(remote)
    try syncTwice(family)
    try ben.sync(remote)
    let device = carla.vault.device
    let written = try #require(desk.emma.knownCounters[device])
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    let member = try #require(ben.emma)
    let lie = try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { Claim.takenOver.apply(device, 1_000, to: &$0) }
      heads = writer.heads
      return try #require(heads.loaded[ben.vault.device]).counter
    }
    try ben.sync(second, as: "second")
    try desk.sync(second, as: "second")
    try desk.write("Later", "later")
    let said = try desk.emma.heads.withLock {
      try #require($0.loaded[desk.vault.device]).head.takenOver
    }
    #expect(said.contains { $0.device == ben.vault.device && $0.counter == lie })
    #expect(said.allSatisfy { $0.device != device || $0.counter == written })

    try syncTwice(family)
    for _ in 0..<2 { try ben.sync(remote) }
    _ = try self.lie(of: ben, about: note, (device, 1_000), .reached)
    try ben.sync(remote)
    try laptop.sync(remote)
    #expect(try texts(laptop).contains("by Carla"))
    #expect(try !texts(laptop).contains("by Ben"))
  }

  /// What lets go of what an editor wrote over another one's head that has not come.
  enum Release: CaseIterable { case itsHead, anOwnersWord, itsPersonIsOut }

  /// Ben has honestly gone on from what Carla wrote, and the laptop has no head of hers.
  @Test(arguments: Release.allCases)
  func whatWasWrittenOverAnotherEditorsHeadThatHasNotComeWaits(until release: Release) throws {
    let family = try Family()
    let (desk, laptop, second) = (family[0], family[1], MemoryStore())
    let note = try desk.write("Visit", "visit")
    let ben = try invite(family)
    let carla = try letIn("Carla", by: desk)
    for adult in [carla, ben] { try adult.sync(remote) }
    try family.meet(at: remote)
    try edit(note, "by Carla", by: carla)
    try carla.sync(second, as: "second")
    try ben.sync(second, as: "second")
    try edit(note, "by Ben", by: ben)
    let device = carla.vault.device
    let head = try BlobPath(VaultPath.head(laptop.emma.id, device).string)
    try ben.sync(remote)
    if remote.blobs[head] != nil { try remote.remove(head) }
    try laptop.sync(remote)
    #expect(try laptop.emma.knownCounters[device] == nil)
    #expect(try texts(laptop).contains("visit"))
    #expect(try texts(laptop).isDisjoint(with: ["by Carla", "by Ben"]))
    #expect(try laptop.emma.holdsEntries)

    switch release {
    case .itsHead: try carla.sync(remote)
    case .anOwnersWord:
      try desk.sync(second, as: "second")
      try desk.write("Later", "later")
      try desk.sync(remote)
      if remote.blobs[head] != nil { try remote.remove(head) }
    case .itsPersonIsOut:
      try desk.sync(remote)
      try desk.vault.beginEpoch(of: desk.emma, without: [carla.vault.person])
      try desk.sync(remote)
    }
    for _ in 0..<2 { try laptop.sync(remote) }
    for isFresh in [false, true] {
      if isFresh { try laptop.reopen() }
      #expect(try texts(laptop).contains("by Ben"), "fresh: \(isFresh)")
      #expect(try texts(laptop).isDisjoint(with: ["visit", "by Carla"]), "fresh: \(isFresh)")
      #expect(try !laptop.emma.holdsEntries)
    }
  }

  private func syncTwice(_ family: Family) throws {
    for _ in 0..<2 { for machine in family.devices { try machine.sync(remote) } }
  }

  private func edit(_ note: RecordID, _ text: String, by adult: SyncingAdult) throws {
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note(text)
    let commit = try #require(adult.emma).commit([edit])
    if let failure = commit.failures.values.first { throw failure }
  }

  /// Ben's client is changed so that it writes what he likes: a revision of the note that has seen more of somebody's device than
  /// there is, and a head that says so too.
  ///
  /// - Returns: The revision.
  private func lie(
    of ben: SyncingAdult, about note: RecordID, _ seen: (device: DeviceID, counter: UInt64),
    _ claim: Claim
  ) throws -> ContentDigest {
    let member = try #require(ben.emma)
    return try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      let base = try #require(member.entry(note))
      var revision = try member.revision(base.revision)
      revision.version[ben.vault.device] = writer.counter
      revision.version[seen.device] = seen.counter
      revision.time = writer.time(over: revision)
      revision.device = ben.vault.device
      revision.previous = [base.revision]
      var text = Item.note("by Ben")
      text.time = revision.time
      revision.document = text
      let digest = try writer.write(&revision, base: nil, entry: nil)
      let entry = try #require(writer.written[note])
      member.state.withLock { _ = $0.take([entry]) }
      try writer.writeHead(.checkpoint) { claim.apply(seen.device, seen.counter, to: &$0) }
      heads = writer.heads
      return digest
    }
  }

  // MARK: Heads whose key is not here

  /// Ben says that what the laptop wrote under a key of which no wrap is to be had was taken over, and has never seen it. Whoever
  /// has no key of it is told of the head as before, leaves all that it may name, and shows it as soon as it can.
  ///
  /// - Parameter isRestored: Whether the wraps come back; else the laptop comes, and writes under the key in use.
  @Test(arguments: [false, true])
  func aHeadWhoseKeyIsNotHereIsNotTakenOverOnAnEditorsWord(isRestored: Bool) throws {
    let family = try Family(count: 3)
    let (desk, laptop, late, second) = (family[0], family[1], family[2], MemoryStore())
    for device in family.devices { try device.knowRemotes(["usb", "second"]) }
    try desk.write("First", "first")
    let ben = try invite(family)
    for device in family.devices { try device.sync(second, as: "second") }
    try ben.sync(second, as: "second")
    let before = Set(remote.blobs.keys)
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.write("Of the laptop", "of the laptop")
    try laptop.sync(remote)
    let device = laptop.vault.device
    let head = try laptop.emma.heads.withLock { try #require($0.loaded[device]) }
    // The desk knows nothing of that, and goes further.
    for _ in 0..<2 { try desk.vault.beginEpoch(of: desk.emma, without: []) }
    try desk.write("Of the desk", "of the desk")
    try desk.sync(second, as: "second")
    try ben.sync(second, as: "second")
    try callTakenOver(head, by: ben)
    try ben.sync(second, as: "second")
    try late.sync(second, as: "second")
    let wraps = try takeWraps(of: laptop)
    let names = Set(remote.blobs.keys).subtracting(before)
      .filter { $0.string.contains("/objects/") || $0.string.contains("/heads/") }
    for round in 0..<2 {
      let told = try late.sync(remote).problems
      if round == 0 { #expect(!told.isEmpty) }
      #expect(try texts(late).isSuperset(of: ["first", "of the desk"]))
      #expect(try !texts(late).contains("of the laptop"))
      #expect(names.isSubset(of: remote.blobs.keys))
      _ = try late.vault.collect(keepDays: 0, isDryRun: false)
      try late.reopen()
    }
    if isRestored {
      for (path, bytes) in wraps { try remote.put(path, bytes) }
    } else {
      for _ in 0..<2 {
        try laptop.sync(second, as: "second")
        try laptop.write("More", "more")
      }
      try laptop.sync(second, as: "second")
      try late.sync(second, as: "second")
    }
    try late.sync(remote) { $0.looksEverywhere = true }
    for isFresh in [false, true] {
      if isFresh { try late.reopen() }
      #expect(
        try texts(late).isSuperset(of: ["first", "of the desk", "of the laptop"]),
        "fresh: \(isFresh)")
      #expect(try late.emma.keptConflicts().isEmpty)
    }
  }

  private func callTakenOver(_ late: LoadedHead, by ben: SyncingAdult) throws {
    let member = try #require(ben.emma)
    let taken = Head.Cover(device: late.device, counter: late.counter, headHash: late.hash)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { $0.sayOnly(taken) }
      heads = writer.heads
    }
  }

  /// Takes the wraps of the epoch that a device has in use from the remote.
  private func takeWraps(of device: Family.Device) throws -> [BlobPath: [UInt8]] {
    let emma = try device.emma
    let wraps = try #require(emma.register.links.trust.epochs.wraps[emma.epoch])
    let paths = Set(wraps.map { BlobPath(VaultPath.epochWrap(emma.id, $0.file).string) })
    let taken = remote.blobs.filter { paths.contains($0.key) }
    try #require(!taken.isEmpty)
    for path in taken.keys { try remote.remove(path) }
    return taken
  }
}

extension EditorsWordTests.Claim {
  fileprivate func apply(_ device: DeviceID, _ counter: UInt64, to head: inout Head) {
    let mark = Head.Cover(device: device, counter: counter, headHash: .zero)
    switch self {
    case .cover: head.sayOnly(mark)
    case .takenOver:
      head.takenOver.removeAll { $0.device == device }
      head.takenOver.append(mark)
      head.takenOver.sort { $0.device < $1.device }
    case .reached:
      head.reached.removeAll { $0.device == device }
      head.reached.append(Head.Reached(device: device, counter: counter))
      head.reached.sort { $0.device < $1.device }
    case .branches: head.branches.append(Head.Branch(device: device, above: counter))
    }
  }
}

extension Head {
  /// Says of a device nothing else than this.
  fileprivate mutating func sayOnly(_ mark: Cover) {
    cover.removeAll { $0.device == mark.device }
    cover.append(mark)
    cover.sort { $0.device < $1.device }
  }
}
