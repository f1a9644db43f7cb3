import BlobStore
import MachineState
import Synchronization
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

/// A machine that was put back to an earlier state, or copied, writes beside what it or its copy has written before:
/// both lines are joined as of two devices. Docs/Sync.md, "Put back or copied".
@Suite struct LineTests {
  private let remote = MemoryStore()

  /// All of these meet at the remote until nothing moves.
  private func meet(_ devices: [Family.Device], at remote: any BlobStore) throws {
    for _ in 0..<8 {
      let reports = try devices.map { try $0.sync(remote) }
      if reports.allSatisfy({ $0.pulled.isEmpty && $0.pushed.isEmpty }) { return }
    }
    Issue.record("they do not come to rest")
  }

  private func expectAll(
    _ notes: [String], on devices: [Family.Device], _ comment: Comment = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (number, device) in devices.enumerated() {
      let contents = Set(try device.contents().values)
      for note in notes {
        #expect(
          contents.contains(note), "\(comment), on \(number)", sourceLocation: sourceLocation)
      }
      try device.expectWhole("\(comment), on \(number)", sourceLocation: sourceLocation)
      try device.reopen()
      #expect(
        Set(try device.contents().values) == contents, "\(comment), on \(number)",
        sourceLocation: sourceLocation)
    }
    let first = try devices[0].contents()
    for device in devices {
      #expect(try device.contents() == first, comment, sourceLocation: sourceLocation)
    }
  }

  /// The machine that was copied meets heads of others that follow its copy. It is itself that was copied, and it goes on as
  /// another device: it says nothing else of anybody.
  @Test(arguments: [false, true])
  func whoWasCopiedBlamesNobodyElse(changesKeys: Bool) throws {
    let family = try Family(count: 2)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Before", "before")
    try meet(family.devices, at: remote)
    // Whoever is judged before one's own head, and after it.
    let devices = family.devices.sorted { $0.vault.device < $1.vault.device }
    for (other, copied) in [(devices[0], devices[1]), (devices[1], devices[0])] {
      let copy = try copied.clone()
      try copy.write("By the copy", "by the copy")
      try copy.sync(remote)
      try other.sync(remote)
      try other.write("After it", "after it")
      if changesKeys {
        try other.vault.beginEpoch(of: other.emma, without: [])
        try other.vault.removeOldObjects().requireNone()
      }
      try other.sync(remote)
      try copied.write("By itself", "by itself")
      let problems = try copied.sync(remote).problems
      #expect(problems.contains { $0.kind == .parted })
      #expect(problems.allSatisfy { $0.severity <= .note }, "\(problems)")
      try meet(family.devices + [copy], at: remote)
      try expectAll(["by the copy", "after it", "by itself"], on: family.devices + [copy])
    }
  }

  /// Somebody has read what a copy wrote, and the copy has read that, when it becomes a device of its own: it has heard of the line
  /// that it goes on with. Neither it nor who follows the other line takes that for another one.
  @Test func whoHasReadTheLineOfACopyKeepsNobodyFromIt() throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone, two) = (family[0], family[1], family[2], MemoryStore())
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    try desk.sync(two, as: "two")
    let twin = try desk.clone()
    try desk.write("By itself", "by itself")
    try desk.sync(two, as: "two")
    try phone.sync(two, as: "two")
    try twin.write("By the twin", "by the twin")
    try twin.sync(remote)
    try laptop.sync(remote)
    try laptop.write("After it", "after it")
    try laptop.sync(remote)
    try twin.sync(remote)
    try twin.sync(two, as: "two")
    try #require(twin.vault.device != desk.vault.device)
    try twin.reopen()
    #expect(try twin.emma.damageReason == nil)
    try phone.sync(two, as: "two")
    #expect(try phone.contents().values.contains("by the twin"))
    try meet(family.devices + [twin], at: remote)
    try expectAll(
      ["before", "by itself", "by the twin", "after it"], on: family.devices + [twin])
  }

  /// Something that somebody wrote over a change of the copy's waits for a third device when the copy becomes a device of its own.
  /// It does not come out later with counters of the line that the copy has left.
  @Test func whatWaitsIsReadAnewAsOfTheNewDevice() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    try laptop.write("Of the laptop", "of the laptop")
    try meet(family.devices, at: remote)
    let twin = try desk.clone()
    try desk.write("By itself", "by itself")
    try desk.sync(remote)
    let note = try twin.write("By the twin", "by the twin")
    var entry = try #require(twin.emma.entry(note))
    entry.version[laptop.vault.device] = 1 << 20
    let waiting = HeldEntry(
      entry: entry, source: laptop.vault.device, device: laptop.vault.device)
    try twin.emma.heads.withLock { $0.held = [waiting] }
    _ = try twin.emma.refresh()
    #expect(try twin.emma.heads.withLock { $0.held } == [waiting])
    try twin.sync(remote)
    try #require(twin.vault.device != desk.vault.device)
    // No head that is here brings it: it was made up.
    #expect(try twin.emma.heads.withLock { $0.held.isEmpty && !$0.isToBeRead })
    try meet(family.devices + [twin], at: remote)
    try expectAll(["before", "by itself", "by the twin"], on: family.devices + [twin])
  }

  /// A copy that has become a device of its own is copied in its turn. What becomes of that is no device that was the first one by
  /// what it says itself: it goes on saying who has taken over that one's line, also while nobody else does.
  @Test func whoseCopyIsCopiedGoesOnSayingWhatItTookOver() throws {
    let family = try Family()
    let desk = family[0]
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let twin = try parted(1, from: desk)[0]
    let copy = try twin.clone()
    let former = twin.vault.device
    try twin.write("Of the twin", "of the twin")
    try copy.write("Of its copy", "of its copy")
    try copyFiles(from: twin, to: copy)
    _ = try copy.emma.refresh()
    try #require(copy.vault.device != former)
    try expectTold([[desk.vault.device, former], [former, copy.vault.device]], by: copy)
    let all = family.devices + [twin, copy]
    try meet(all, at: remote)
    try expectAll(
      ["before", "of the machine", "of copy 0", "of the twin", "of its copy"], on: all)
  }

  /// A machine is copied while it runs, so one process goes on on both with the same numbers. What the one commits says nothing of
  /// what was made durable on the other one, which is cut.
  @Test func whatACopiedProcessHasLoggedIsItsOwn() throws {
    let family = try Family(count: 1)
    let desk = family[0]
    let note = try desk.write("Before", "before")
    try desk.sync(remote)
    let twin = try desk.clone()
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("logged by the twin")
    #expect(try desk.emma.log([edit]))
    let logged = desk.stateStore.blobs.filter { $0.key.string.hasPrefix("redo/") }
    try #require(!logged.isEmpty)
    _ = try desk.emma.commit(
      [RecordEdit.newRecord("By itself", note: "by itself")], foldsRedo: true)
    try desk.sync(remote)
    try twin.write("By the twin", "by the twin")
    try twin.sync(remote)
    try #require(twin.vault.device != desk.vault.device)
    for (path, bytes) in logged { try twin.stateStore.put(path, bytes) }
    try twin.reopen()
    #expect(try twin.contents().values.contains("logged by the twin"))
    try meet([desk, twin], at: remote)
    try expectAll(["logged by the twin", "by itself", "by the twin"], on: [desk, twin])
  }

  /// Both copies have said of somebody that they know them, and invited somebody, in the register of one device, which is one
  /// machine's from then on.
  @Test func whomACopiedMachineKnowsStaysKnown() throws {
    let family = try Family(count: 1)
    let desk = family[0]
    try desk.write("Before", "before")
    try desk.sync(remote)
    let twin = try desk.clone()
    let known = ["Dora", "Emil", "Flora"].map {
      Acquaintance(person: .random(), name: $0, verification: .wordsCompared, time: 1)
    }
    try desk.vault.changePersonalProfile { $0.note(known[0]) }
    try desk.write("By itself", "by itself")
    try twin.vault.changePersonalProfile { $0.note(known[1]) }
    try twin.write("By the twin", "by the twin")
    let secrets = [try desk.vault.invite().secret, try twin.vault.invite().secret]
    try desk.sync(remote)
    try twin.sync(remote)
    try meet([desk, twin], at: remote)
    #expect(twin.vault.device != desk.vault.device)
    // The twin has put its own register of that device on the remote, in the place of the desk's.
    try desk.vault.changePersonalProfile { $0.note(known[2]) }
    try meet([desk, twin], at: remote)
    for device in [desk, twin] {
      try device.reopen()
      let people = try device.vault.personalProfile().people
      #expect(Set(people) == Set(known), "\(device.vault.device): \(people.map(\.name))")
      let open = try device.vault.openInvitations(now: device.clock.milliseconds())
      #expect(Set(open.compactMap(\.secret)) == Set(secrets), "\(device.vault.device)")
    }
  }

  /// A remote's head of the device that this machine was has the greater counter, and is of the line that it has taken
  /// over. (Schedule 6255 of a campaign: every sync sent the objects again, and never the head.)
  @Test func aHeadOfATakenOverLineIsReplacedWhateverItsCounter() throws {
    let family = try Family(count: 1)
    let desk = family[0]
    try desk.write("Before", "before")
    try desk.sync(remote)
    let other = MemoryStore()
    try desk.sync(other, as: "other")
    let twin = try desk.clone()
    let shared = desk.vault.device
    for number in 0..<3 { try desk.write("Mine \(number)", "mine \(number)") }
    try desk.sync(remote)
    try twin.write("Of the twin", "of the twin")
    try twin.sync(other, as: "other")
    // It finds the twin's head under its own key, and goes on as another device.
    try desk.sync(other, as: "other")
    #expect(desk.vault.device != shared)
    try desk.sync(remote)
    let again = try desk.sync(remote)
    #expect(again.pushed.isEmpty && again.pulled.isEmpty, "\(again.pushed) \(again.pulled)")
    let path = BlobPath(VaultPath.head(try desk.emma.id, shared).string)
    let isReplaced = remote.blobs[path] == desk.store.blobs[path]
    #expect(isReplaced)
    let notes = ["before", "mine 0", "mine 1", "mine 2", "of the twin"]
    try meet([desk, twin], at: remote)
    try expectAll(notes, on: [desk, twin])
  }

  /// Both copies have become devices of their own, and the head of the device that they were stays with whoever had it. What
  /// the head that takes it over names is gone, since another device has replaced it. (Schedule 8327 of a campaign: every
  /// sync put the former device's head on the remote again, and every look read all heads anew.)
  @Test func aHeadThatWasTakenOverIsForgottenWhateverIsGone() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    let other = MemoryStore()
    let record = try desk.write("Before", "before")
    try desk.sync(remote)
    try desk.sync(other, as: "other")
    let shared = desk.vault.device
    let twin = try desk.clone()
    let mine = try desk.write("Mine", "mine")
    try desk.sync(remote)
    try laptop.sync(remote)
    try twin.write("Of the twin", "of the twin")
    try twin.sync(other, as: "other")
    // Each finds the other one's head under its own key.
    try desk.sync(other, as: "other")
    try twin.sync(remote)
    #expect(desk.vault.device != shared && twin.vault.device != shared)
    try meet([desk, twin, laptop], at: remote)
    let replaced = try #require(try laptop.emma.entry(mine)).revision
    try laptop.edit(mine, "edited")
    try laptop.edit(record, "edited, too")
    try laptop.sync(remote)
    try laptop.store.remove(BlobPath(laptop.emma.objects.path(of: replaced).string))

    for _ in 0..<2 {
      try laptop.emma.heads.withLock { $0.isToBeRead = true }
      _ = try laptop.emma.refresh()
      _ = try laptop.emma.refresh()
      #expect(try laptop.emma.heads.withLock { !$0.isToBeRead })
      #expect(try !laptop.emma.openedHeads.contains { $0.device == shared })
      try laptop.reopen()
    }
    let report = try laptop.sync(remote)
    #expect(report.pushed.isEmpty && report.pulled.isEmpty, "\(report.pushed) \(report.pulled)")
    let contents = try laptop.contents()
    #expect(
      Set(contents.values) == ["", "edited", "edited, too", "of the twin"], "\(contents)")
  }

  /// What a machine wrote has been taken over under new keys, and the machine is gone. Its copy has begun new keys as well.
  /// (Schedule 39599 of a campaign: the copy followed nobody any more, and nobody it.)
  @Test func copyLearnsOfALineThatWasTakenOver() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("First", "first")
    try meet([desk, laptop], at: remote)
    try laptop.write("Before", "before")
    try meet([desk, laptop], at: remote)
    let twin = try laptop.clone()
    for number in 0..<4 { try laptop.write("Mine", "mine \(number)") }
    try laptop.sync(remote)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(remote)
    let shared = twin.vault.device
    try twin.vault.beginEpoch(of: twin.emma, without: [])
    try twin.write("Of the twin", "of the twin")
    try meet([twin, desk], at: remote)
    #expect(twin.vault.device != shared)
    try expectAll(["first", "before", "mine 0", "mine 3", "of the twin"], on: [desk, twin])
  }

  /// A machine was copied, and has gone on as another device, which is then left out. Ben has written over what it had as the
  /// device that it was, and has met nobody since: how his counters are to be read only the owner's machine can tell him,
  /// which never read the head that he had.
  @Test func whoKnewALineLearnsOfItsTakerThoughThatIsGone() throws {
    let family = try Family()
    let (desk, laptop, bens) = (family[0], family[1], MemoryStore())
    try desk.write("First", "first")
    try meet([desk, laptop], at: remote)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    try desk.sync(remote)
    _ = try desk.vault.acceptIntroductions()
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    let note = try laptop.write("Note", "before")
    try meet([desk, laptop], at: remote)
    try ben.sync(remote)
    let twin = try laptop.clone()
    for number in 0..<6 { try laptop.edit(note, "mine \(number)") }
    try laptop.sync(bens, as: "bens")
    try ben.sync(bens, as: "bens")
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("by Ben")
    _ = try #require(ben.emma).commit([edit])

    try twin.write("Of the twin", "of the twin")
    try twin.sync(remote)
    let shared = laptop.vault.device
    try laptop.sync(remote)
    let taker = laptop.vault.device
    #expect(taker != shared)
    try meet([desk, laptop], at: remote)
    try desk.write("After", "after")
    try expectTold([[shared, taker]], by: desk)
    try desk.vault.beginGeneration(removing: [taker], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    for _ in 0..<3 {
      try desk.sync(remote)
      try ben.sync(remote)
    }
    try desk.sync(remote)
    for _ in 0..<2 {
      let contents = try desk.contents()
      let wanted: Set = ["first", "by Ben", "of the twin", "after"]
      #expect(wanted.isSubset(of: contents.values), "\(contents)")
      #expect(try !desk.emma.holdsEntries)
      #expect(try Family.Device.contents(of: ben.vault) == contents)
      try desk.reopen()
    }
    try expectTold([[shared, taker]], by: desk)
  }

  /// Both copies of a machine have gone on as other devices, which are left out, and a remote that few meet has a head of the
  /// machine from long before: whoever makes a copy from there sees all that the machine wrote since, and waits for nothing.
  @Test func anOlderHeadOfALineThatIsGoneHoldsNothingBack() throws {
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    let (other, old) = (MemoryStore(), MemoryStore())
    try desk.write("First", "first")
    try meet([desk, laptop, tablet], at: remote)
    try laptop.write("Early", "early")
    try meet([desk, laptop], at: remote)
    try laptop.sync(old, as: "old")
    try laptop.write("Common", "of both")
    try meet([desk, laptop], at: remote)
    try laptop.sync(other, as: "other")
    let shared = laptop.vault.device
    let twin = try laptop.clone()
    try laptop.write("Mine", "mine")
    try laptop.sync(remote)
    try twin.write("Of the twin", "of the twin")
    try twin.sync(other, as: "other")
    try laptop.sync(other, as: "other")
    try twin.sync(remote)
    let takers = [laptop.vault.device, twin.vault.device]
    #expect(!takers.contains(shared))
    try meet([laptop, twin, desk], at: remote)
    try desk.write("After", "after")
    try desk.vault.beginGeneration(removing: Set(takers), words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(remote)
    try desk.sync(old, as: "old")
    let told = takers.map { [shared, $0] }
    try expectTold(told, by: desk)

    try tablet.sync(old, as: "old")
    for _ in 0..<2 {
      let contents = try tablet.contents()
      let wanted: Set = ["early", "of both", "mine", "of the twin", "after"]
      #expect(wanted.isSubset(of: contents.values), "\(contents)")
      #expect(try !tablet.emma.holdsEntries)
      try tablet.reopen()
    }
    // It goes from head to head, also of who never met those that took the lines over.
    for number in 0..<2 {
      try tablet.write("By the tablet", "\(number)")
      try expectTold(told, by: tablet)
      try tablet.reopen()
    }
  }

  /// Another device of the person says that this one's newest head is of a line that it has taken over.
  @Test func nobodyTellsADeviceThatItsOwnLineIsAnothers() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("First", "first")
    try meet([desk, laptop], at: remote)
    try laptop.write("Mine", "mine")
    try meet([desk, laptop], at: remote)
    let device = laptop.vault.device
    try call(newestOf: laptop, aHeadOf: desk, by: desk.emma)
    try desk.sync(remote)
    try laptop.sync(remote)
    for _ in 0..<2 {
      #expect(laptop.vault.device == device)
      #expect(try laptop.emma.heads.withLock { $0.loaded[device] != nil })
      #expect(try laptop.contents().values.contains("mine"))
      try laptop.reopen()
    }
  }

  /// A head says that somebody else has taken over a line, and names that line all the same: its writer has not gone by it, and what
  /// it brings counts in that line. Who follows the other one does not take it.
  @Test func whoSaysWhoseALineIsAndGoesOnFromItIsNotFollowed() throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone, two) = (family[0], family[1], family[2], MemoryStore())
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let taker = try parted(1, from: desk)[0]
    let (id, other) = try (desk.emma.id, taker.vault.device)
    // Nothing but its certificate is left of it.
    try remote.remove(BlobPath(VaultPath.head(id, other).string))
    try laptop.sync(remote)
    try phone.sync(remote)
    #expect(try phone.emma.knownCounters[other] == nil)
    let twin = try desk.clone()
    for number in 0..<2 { try desk.write("By itself \(number)", "by itself") }
    try desk.sync(two, as: "two")
    try phone.sync(two, as: "two")
    try twin.write("By the twin", "by the twin")
    try twin.sync(remote)
    try laptop.sync(remote)
    try laptop.write("After it", "after it")
    try call(newestOf: twin, aHeadOf: taker, by: laptop.emma)
    let head = BlobPath(VaultPath.head(id, laptop.vault.device).string)
    for (path, bytes) in laptop.store.blobs
    where path == head || path.string.contains("/objects/") {
      if phone.store.blobs[path] != bytes {
        try phone.store.replace(path, bytes, durably: true)
      }
    }
    _ = try phone.emma.refresh()
    #expect(try phone.emma.heads.withLock { $0.lines.apart.contains(laptop.vault.device) })
    let shown = try phone.contents().values
    #expect(shown.contains("by itself") && !shown.contains("after it"))
  }

  /// An editor says that an owner's newest head is of a line that another one of the owner's devices has taken over, and has
  /// nothing of it.
  @Test func anEditorTellsNobodyWhoseAnOwnersLineIs() throws {
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    try desk.write("First", "first")
    try meet(family.devices, at: remote)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    try desk.sync(remote)
    _ = try desk.vault.acceptIntroductions()
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    try meet(family.devices, at: remote)
    try ben.sync(remote)
    try laptop.write("Mine", "mine")
    try call(newestOf: laptop, aHeadOf: desk, by: #require(ben.emma))
    try ben.sync(remote)
    try tablet.sync(remote)
    try laptop.sync(remote)
    try tablet.sync(remote)
    for _ in 0..<2 {
      #expect(try tablet.contents().values.contains("mine"))
      try tablet.reopen()
    }
    // Nor does anybody say so after them.
    try tablet.write("By the tablet", "later")
    try expectTold([], by: tablet)
  }

  /// Whoever owns nothing may still certify any number of devices that take over one another: the heads of others have room for
  /// few such lines of theirs, and for all of owners'.
  @Test func nobodyFillsTheHeadsOfOthersWithLinesOfTheirDevices() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("First", "first")
    try meet(family.devices, at: remote)
    let takers = try parted(Limits.headRetoldOfPerson + 1, from: laptop).map(\.vault.device)
    try desk.sync(remote)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    let lines = takers.map { taker in
      Head.Retold(
        device: laptop.vault.device, above: 0, by: taker,
        marks: [HeadMark(counter: 1 << 20, hash: .zero)])
    }
    func told(by member: Member) -> [Head.Retold] {
      let witnesses = member.witnesses
      return member.heads.withLock { heads in
        var heads = heads
        heads.lines.retold = lines
        return heads.retold(by: witnesses, besides: [])
      }
    }
    #expect(try Set(told(by: desk.emma).map(\.by)) == Set(takers))
    // In a member of Ben's the family owns nothing.
    let bens = try ben.vault.addMember(named: #require(FileName("Ben")))
    #expect(told(by: bens).count == Limits.headRetoldOfPerson)
  }

  /// Two heads that know one another's lines say each, of another device, that the newest head of its line was taken over.
  /// Whichever is read first, the other one tells something that concerns it: all heads are read anew with that, and then there
  /// is nothing more to read.
  @Test func readingAnewEndsThoughHeadsTellOfLinesLate() throws {
    let family = try Family(count: 3)
    let reader = family[2]
    for device in family.devices {
      try device.write("Note", "of \(device.vault.device.shortHex)")
      try meet(family.devices, at: remote)
    }
    let machines = family.devices.prefix(2)
    let tellers = try machines.map { try parted(1, from: $0)[0] }
    try meet(family.devices + tellers, at: remote)
    for (machine, teller) in zip(machines, tellers) {
      try call(newestOf: machine, aHeadOf: teller, by: teller.emma)
    }
    let member = try reader.emma.id
    for teller in tellers {
      let head = BlobPath(VaultPath.head(member, teller.vault.device).string)
      for (path, bytes) in teller.store.blobs
      where path == head || path.string.contains("/objects/") {
        if reader.store.blobs[path] != bytes {
          try reader.store.replace(path, bytes, durably: true)
        }
      }
    }

    _ = try reader.emma.refresh()
    for _ in 0..<2 {
      let heads = try reader.emma.heads.withLock { $0 }
      for teller in tellers {
        #expect(heads.loaded[teller.vault.device]?.head.retold.count == 1)
      }
      #expect(!heads.isToBeRead && heads.lines.toldLate.isEmpty)
      let contents = try reader.contents()
      #expect(try reader.emma.refresh().isEmpty)
      #expect(try reader.contents() == contents)
    }
  }

  /// What a device has said of lines that is left out since is in no head yet when all heads are read anew.
  @Test(arguments: [false, true])
  func whatIsToBeToldOfLinesStaysWhileAllIsReadAnew(changesKeys: Bool) throws {
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    try desk.write("First", "first")
    try meet(family.devices, at: remote)
    let taker = try parted(1, from: laptop)[0].vault.device
    let own = laptop.vault.device
    // Nothing but its certificate is left of it.
    try remote.remove(BlobPath(VaultPath.head(desk.emma.id, taker).string))
    try desk.sync(remote)
    #expect(try desk.emma.knownCounters[taker] == nil)
    let mark = HeadMark(counter: 1 << 20, hash: .zero)
    let line = Head.Retold(device: own, above: 1 << 10, by: taker, marks: [mark])
    try desk.emma.heads.withLock { heads in
      heads.lines.retold = [line]
      heads.isToBeRead = true
    }
    _ = try desk.emma.refresh()
    #expect(try desk.emma.heads.withLock { $0.lines.retold } == [line])
    #expect(try desk.emma.heads.withLock { !$0.isToBeRead })
    #expect(try desk.emma.hasLinesToTell)
    if changesKeys {
      try tablet.vault.beginEpoch(of: tablet.emma, without: [])
      try tablet.sync(remote)
      try desk.sync(remote)
    }
    try desk.write("Next", "next")
    try expectTold([[own, taker]], by: desk)
    #expect(try desk.emma.heads.withLock { $0.lines.retold.isEmpty })
  }

  /// Several owners' devices say of one head that they have taken it over: all machines take it as that of the same one.
  @Test func ofSeveralWhoTookALineOverItIsOnesForEverybody() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("First", "first")
    try meet(family.devices, at: remote)
    let takers = try parted(3, from: laptop).map(\.vault.device)
    try desk.sync(remote)
    let (own, told) = (desk.vault.device, laptop.vault.device)
    let mark = HeadMark(counter: 1 << 20, hash: .zero)
    let witnesses = try desk.emma.witnesses
    let retelling = try desk.emma.heads.withLock { heads in
      var heads = heads
      let known = try #require(heads.loaded[own])
      for taker in takers {
        let line = Head.Retold(device: told, above: 1, by: taker, marks: [mark])
        heads.loaded[taker] = LoadedHead(
          device: taker, counter: 1, hash: known.hash, late: nil, head: Head(retold: [line]),
          body: known.body)
      }
      return heads.retelling(of: told, mark, by: witnesses)
    }
    #expect(retelling?.to == takers.min())
    #expect(retelling?.above == 1)
  }

  /// Copies of a machine's disk, each of which has become a device of its own, since it met what the machine wrote.
  private func parted(_ count: Int, from machine: Family.Device) throws -> [Family.Device] {
    let copies = try (0..<count).map { _ in try machine.clone() }
    try machine.write("Of the machine", "of the machine")
    try machine.sync(remote)
    for (number, copy) in copies.enumerated() {
      try copy.write("Of copy \(number)", "of copy \(number)")
      try copy.sync(remote)
      #expect(copy.vault.device != machine.vault.device)
    }
    return copies
  }

  /// A program was changed so that its head says that the newest one of a device is of a line that another one has taken over.
  private func call(
    newestOf device: Family.Device, aHeadOf taker: Family.Device, by member: Member
  ) throws {
    let (own, other) = (device.vault.device, taker.vault.device)
    let mark = try device.emma.heads.withLock { try #require($0.loaded[own]?.mark) }
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        head.retold = [Head.Retold(device: own, above: 0, by: other, marks: [mark])]
      }
      heads = writer.heads
    }
  }

  /// Of which devices a device's head says that their lines were taken over, each with who has done so.
  private func expectTold(
    _ lines: [[DeviceID]], by device: Family.Device,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let own = device.vault.device
    let told = try device.emma.heads.withLock { $0.loaded[own]?.head.retold ?? [] }
    #expect(
      Set(told.map { [$0.device, $0.by] }) == Set(lines), sourceLocation: sourceLocation)
    #expect(told.allSatisfy { !$0.marks.isEmpty }, sourceLocation: sourceLocation)
  }

  /// A copy has begun new keys and written under them, and meets newer ones of an owner and its twin's head: it is another
  /// device before it can write what is its own under the keys that count. (Real schedule 188 of a campaign: it followed the
  /// twin's head meanwhile, as of the device that it had been, and what it had written was gone.)
  @Test(
    arguments: [(1, false), (1, true), (2, false), (2, true), (5, false), (5, true)], [false, true])
  func copyWaitsForKeysAsAnotherDevice(
    _ laptops: (count: Int, changesWords: Bool), comesInFolder: Bool
  ) throws {
    let (count, changesWords) = laptops
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("First", "first")
    try meet([desk, laptop], at: remote)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    try desk.sync(remote)
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    try laptop.write("Before", "before")
    try meet([desk, laptop], at: remote)
    let twin = try laptop.clone()
    let shared = twin.vault.device
    try twin.vault.beginEpoch(of: twin.emma, without: [ben.vault.person])
    if changesWords {
      try desk.vault.replaceWords(Family.words.words, with: RecoveryWords.random())
    }
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    for number in 0..<count { try laptop.write("Mine", "mine \(number)") }
    try twin.write("Of the twin", "of the twin")
    try desk.sync(remote)
    try laptop.sync(remote)
    if comesInFolder { try copyFiles(from: laptop, to: twin) }
    try twin.sync(remote)
    #expect(twin.vault.device != shared)
    try meet([twin, desk, laptop], at: remote)
    let mine = (0..<count).map { "mine \($0)" }
    try expectAll(["first", "before", "of the twin"] + mine, on: [desk, laptop, twin])
  }

  /// A remote that few machines meet shows a head of a line that another device has taken over since, of an epoch whose key
  /// nobody is given any more: whoever knows that device is told nothing. (Key schedule 1255: with every sync, for ever.)
  @Test(arguments: [false, true])
  func aClosedHeadOfATakenOverLineIsNothingToBeTold(writesMore: Bool) throws {
    let family = try Family(count: 3)
    let (desk, late, second) = (family[0], family[2], MemoryStore())
    try desk.write("First", "first")
    for device in family.devices { try device.knowRemotes(["origin", "second"]) }
    for _ in 0..<2 {
      for device in family.devices {
        try device.sync(remote)
        try device.sync(second, as: "second")
      }
    }
    let twin = try desk.clone()
    try twin.vault.beginEpoch(of: twin.emma, without: [])
    let epoch = try twin.emma.epoch
    try twin.write("Of the twin", "of the twin")
    try twin.sync(remote)
    let wraps = try #require(twin.emma.register.links.trust.epochs.wraps[epoch])
    try desk.write("Of the desk", "of the desk")
    for device in [desk, twin, desk] { try device.sync(second, as: "second") }
    #expect(twin.vault.device != desk.vault.device)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.vault.removeOldObjects().requireNone()
    for device in [desk, twin] { try device.sync(second, as: "second") }
    if writesMore { try twin.write("More", "more") }
    for device in [twin, desk] { try device.sync(second, as: "second") }
    for wrap in wraps {
      try remote.remove(BlobPath(VaultPath.epochWrap(desk.emma.id, wrap.file).string))
    }
    try late.sync(second, as: "second")
    let told = try late.sync(remote).problems
    #expect(told == [], "\(told.map(\.text))")
    try expectAll(
      ["first", "of the twin", "of the desk"] + (writesMore ? ["more"] : []),
      on: [desk, twin, late])
  }

  /// A machine becomes a device of its own under the keys of before, where another one has read its line under new ones.
  /// (Schedule 7343 of a campaign: what had been read was not renamed, and the copy waited for it for ever.)
  @Test func whatWasReadOfALineUnderNewKeysIsRenamed() throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    let other = MemoryStore()
    try desk.write("First", "first")
    try meet([desk, laptop], at: remote)
    let note = try laptop.write("Before", "before")
    try meet([desk, laptop], at: remote)
    try laptop.sync(other, as: "other")
    let twin = try laptop.clone()
    try laptop.edit(note, "mine")
    try laptop.delete(note)
    try laptop.sync(remote)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(remote)
    try twin.write("Of the twin", "of the twin")
    try twin.sync(other, as: "other")
    // It finds the twin's head under its own key where nothing is known of the new keys yet.
    let shared = laptop.vault.device
    try laptop.sync(other, as: "other")
    #expect(laptop.vault.device != shared)
    try laptop.sync(remote)
    try meet([desk, laptop, twin], at: remote)
    try expectAll(["first", "of the twin"], on: [desk, laptop, twin])
    for device in [desk, laptop, twin] {
      #expect(try !device.contents().values.contains("mine"))
    }
  }

  /// A copy writes under old keys and is taken over; then the machine itself writes under them, more than the copy had. What
  /// comes of it has the greater counter, but is of another line. (Schedule 2029391 of a campaign.)
  @Test(arguments: [false, true])
  func aLongerLineUnderOldKeysIsNoLaterOne(reopens: Bool) throws {
    let family = try Family(count: 3)
    let (desk, laptop) = (family[0], family[1])
    let other = MemoryStore()
    let note = try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    for device in family.devices { try device.sync(other, as: "other") }
    let copy = try desk.clone()
    try copy.edit(note, "by the copy")
    try copy.sync(remote)
    try desk.edit(note, "by itself")
    try desk.write("More", "more")
    try desk.sync(other, as: "other")
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.sync(remote)
    if reopens { try laptop.reopen() }
    try laptop.sync(other, as: "other")
    #expect(try Set(laptop.contents().values).isSuperset(of: ["by the copy"]))
    let devices = family.devices + [copy]
    for _ in 0..<4 {
      for device in devices { try device.sync(remote) }
      for device in devices { try device.sync(other, as: "other") }
    }
    try expectAll(["by the copy", "by itself", "more"], on: devices)
  }

  /// Two machines have each taken over another one of two lines that were written under old keys, and meet before those two do.
  /// Either line's version may be the one with the later time.
  @Test(arguments: [false, true], [(false, false), (true, false), (false, true), (true, true)])
  func whoTookOverDifferentLinesLosesNeither(
    isLonger: Bool, _ course: (Bool, Bool)
  ) throws {
    let (reopens, isLater) = course
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    let (other, meeting) = (MemoryStore(), MemoryStore())
    let note = try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    for device in family.devices { try device.sync(other, as: "other") }
    let copy = try desk.clone()
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.sync(meeting, as: "meeting")
    try phone.sync(meeting, as: "meeting")
    try copy.edit(note, "by the copy")
    try copy.sync(remote)
    if isLater { desk.clock.turn(bySeconds: 5) }
    try desk.edit(note, "by itself")
    if isLonger { try desk.write("More", "more") }
    try desk.sync(other, as: "other")
    try laptop.sync(remote)
    try phone.sync(other, as: "other")
    for device in [laptop, phone] {
      if reopens { try device.reopen() }
      try device.sync(meeting, as: "meeting")
    }
    for device in [laptop, phone, laptop] { try device.sync(meeting, as: "meeting") }
    try phone.sync(other, as: "other")
    try desk.sync(other, as: "other")
    let devices = family.devices + [copy]
    for _ in 0..<5 {
      for device in devices {
        try device.sync(remote)
        try device.sync(other, as: "other")
        try device.sync(meeting, as: "meeting")
      }
    }
    try expectAll(["by the copy", "by itself"] + (isLonger ? ["more"] : []), on: devices)
  }

  /// How one who follows a machine's own line meets the head of one who follows its copy's.
  enum Meeting: CaseIterable { case besideTheStray, besideALaterStray, byTheirWord }

  /// Two copies of a machine go on under the same keys, with one who follows each. What is written over the copy's line has as
  /// great a counter of the machine's as what the machine wrote, and does not take the place of that, though nobody hears of the
  /// machine any more; and when both come, nothing of either is lost.
  @Test(arguments: Meeting.allCases)
  func whoFollowsTheOtherLineReplacesNothing(how: Meeting) throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    let (other, meeting) = (MemoryStore(), MemoryStore())
    let note = try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    for device in family.devices { try device.sync(other, as: "other") }
    let copy = try desk.clone()
    try copy.edit(note, "by the copy")
    for number in 0..<3 { try copy.write("Copy \(number)", "of the copy \(number)") }
    try copy.sync(remote)
    try phone.sync(remote)
    try phone.edit(note, "over the copy")
    try desk.edit(note, "by itself")
    try desk.sync(other, as: "other")
    try laptop.sync(other, as: "other")
    if how == .byTheirWord { try laptop.sync(meeting, as: "meeting") }
    try phone.sync(meeting, as: "meeting")
    if how == .besideALaterStray {
      try copy.write("Copy 3", "of the copy 3")
      try copy.sync(meeting, as: "meeting")
    }
    for _ in 0..<2 {
      try laptop.sync(meeting, as: "meeting")
      for isFresh in [false, true] {
        if isFresh { try laptop.reopen() }
        let shown = Set(try laptop.contents().values)
        #expect(shown.contains("by itself"), "fresh: \(isFresh)")
        #expect(
          shown.isDisjoint(with: ["over the copy", "of the copy 0"]), "fresh: \(isFresh)")
        #expect(try !laptop.emma.holdsEntries, "fresh: \(isFresh)")
      }
    }
    let devices = family.devices + [copy]
    for _ in 0..<5 {
      for device in devices {
        try device.sync(remote)
        try device.sync(other, as: "other")
        try device.sync(meeting, as: "meeting")
      }
    }
    try expectAll(
      ["by itself", "over the copy"] + (0..<3).map { "of the copy \($0)" }, on: devices)
  }

  /// What this device's head calls a stray is one also for a process that has not met it: whoever goes on from it comes by a
  /// program that copies, without the stray.
  ///
  /// - Parameter strayCount: There is another copy besides, which has counted further, or whoever has the device's key.
  @Test(arguments: 1...2)
  func whatGoesOnFromAStrayThatWasToldReplacesNothing(strayCount: Int) throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    let (other, meeting, far) = (MemoryStore(), MemoryStore(), MemoryStore())
    let note = try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    for device in family.devices { try device.sync(other, as: "other") }
    let (copy, second) = (try desk.clone(), try desk.clone())
    try copy.edit(note, "by the copy")
    for number in 0..<3 { try copy.write("Copy \(number)", "of the copy \(number)") }
    try copy.sync(remote)
    try phone.sync(remote)
    try phone.edit(note, "over the copy")
    try desk.edit(note, "by itself")
    try desk.sync(other, as: "other")
    try laptop.sync(other, as: "other")
    try phone.sync(meeting, as: "meeting")
    try laptop.sync(meeting, as: "meeting")
    if strayCount > 1 {
      for number in 0..<9 { try second.write("Second \(number)", "of the second copy") }
      try second.sync(far, as: "far")
      try laptop.sync(far, as: "far")
    }
    let (own, shared) = (laptop.vault.device, desk.vault.device)
    let told: [DeviceID] = try laptop.emma.heads.withLock {
      $0.loaded[own]?.head.strays.map(\.device) ?? []
    }
    #expect(told == Array(repeating: shared, count: strayCount))
    try bring(from: phone, to: laptop)
    for isFresh in [false, true] {
      if isFresh { try laptop.reopen() }
      _ = try laptop.emma.refresh()
      let shown = Set(try laptop.contents().values)
      #expect(shown.contains("by itself"), "fresh: \(isFresh)")
      #expect(!shown.contains("over the copy"), "fresh: \(isFresh)")
    }
  }

  /// One machine was copied twice, and each copy syncs with another remote: whoever goes to and fro between these does not write a
  /// head each time. (Adversary's seed 9700018: a store showed an editor's heads of three lines.)
  @Test func whoMeetsTwoStraysInTurnComesToRest() throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    // The last one stays behind.
    let places = [MemoryStore(), MemoryStore(), MemoryStore()]
    try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    for number in 0..<2 {
      let copy = try desk.clone()
      for round in 0...number {
        try copy.write("Copy \(round)", "of the copy \(number)")
        if round < number { try copy.sync(places[2], as: "place-2") }
      }
      try copy.sync(places[number], as: "place-\(number)")
    }
    try desk.write("More", "by itself")
    try meet(family.devices, at: remote)
    let own = laptop.vault.device
    func newest() throws -> Head? { try laptop.emma.heads.withLock { $0.loaded[own]?.head } }
    func meetAll() throws {
      for (number, place) in places.enumerated() {
        try laptop.sync(place, as: "place-\(number)")
      }
    }
    for _ in 0..<2 { try meetAll() }
    let told = try newest()
    #expect(told?.strays.map(\.device) == Array(repeating: desk.vault.device, count: 3))
    for _ in 0..<2 { try meetAll() }
    #expect(try newest() == told)
  }

  /// Another program of this machine finds out that it was copied, while this one syncs. (Schedule 49631 of a campaign: the
  /// sync ended, since the new device's log was not known to be anybody's.)
  @Test(arguments: PassingStore.Moment.allCases)
  func aMachineMayBecomeAnotherDeviceWhileItSyncs(moment: PassingStore.Moment) throws {
    let family = try Family(count: 2)
    let desk = family[0]
    try desk.write("Before", "before")
    try family.meet(at: remote)
    let other = MemoryStore()
    try desk.sync(other, as: "other")
    let twin = try desk.clone()
    let shared = desk.vault.device
    try twin.write("Of the twin", "of the twin")
    try twin.sync(other, as: "other")
    try desk.write("Mine", "mine")
    try family[1].write("Of the laptop", "of the laptop")
    try family[1].sync(remote)
    let second = try desk.open(on: desk.store)
    let name = try #require(RemoteName("other"))
    let passing = PassingStore(remote, moment) {
      do { _ = try RemoteSync(vault: second, remote: other, name: name).run() } catch {
        Issue.record(error)
      }
    }
    let report = try desk.sync(passing) { $0.looksEverywhere = true }
    #expect(passing.hasPassed)
    #expect(report.problems.filter { $0.severity > .note } == [])
    #expect(second.device != shared)
    try meet([desk, twin, family[1]], at: remote)
    #expect(desk.vault.device == second.device)
    try expectAll(["before", "of the twin", "mine", "of the laptop"], on: [desk, twin, family[1]])
  }

  /// A program that only reads runs while another one makes this machine a device of its own. (Schedule 18259 of a
  /// campaign: its next look failed.)
  @Test func whoOnlyReadsFollowsWhenTheMachineBecomesAnotherDevice() throws {
    let family = try Family(count: 1)
    let desk = family[0]
    try desk.write("Before", "before")
    try desk.sync(remote)
    let reader = try desk.open(on: desk.store, OpenOptions(readOnly: true))
    let twin = try desk.clone()
    try twin.write("Of the twin", "of the twin")
    try twin.sync(remote)
    for number in 0..<3 { try desk.write("Mine \(number)", "mine \(number)") }
    for member in reader.members { _ = try member.refresh() }
    try desk.sync(remote)
    for member in reader.members { _ = try member.refresh() }
    let fresh = try desk.open(on: desk.store, OpenOptions(readOnly: true))
    #expect(
      try Family.Device.contents(of: reader) == Family.Device.contents(of: fresh))
    let notes = ["before", "mine 0", "mine 1", "mine 2", "of the twin"]
    #expect(try Set(Family.Device.contents(of: reader).values).isSuperset(of: notes))
    #expect(reader.device == desk.vault.device)
    // And goes on to see what comes.
    try desk.write("Later", "later")
    for member in reader.members { _ = try member.refresh() }
    #expect(try Family.Device.contents(of: reader).values.contains("later"))
  }

  /// Beside another program of this machine, which has found out that it was copied, stands the copy's head under old keys, of
  /// which somebody has everything by now and nothing else is here. (Schedule 5002475 of a campaign: whoever only read took it
  /// for the machine's own, and stopped.)
  @Test(arguments: [false, true])
  func whoLooksOnFollowsWhereTheHeadOfTheCopyWasTakenOver(isReadOnly: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let reader = try desk.open(on: desk.store, OpenOptions(readOnly: isReadOnly))
    let former = BlobPath(VaultPath.head(try desk.emma.id, desk.vault.device).string)
    let copy = try desk.clone()
    try copy.write("Of the copy", "of the copy")
    try copy.sync(remote)
    let late = try #require(copy.store.blobs[former])
    try laptop.sync(remote)
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.vault.removeOldObjects().requireNone()
    try laptop.sync(remote)
    try desk.write("Mine", "mine")
    for member in reader.members { _ = try member.refresh() }
    try desk.sync(remote)
    #expect(desk.vault.device != copy.vault.device)
    try desk.store.replace(former, late, durably: true)
    for member in reader.members { _ = try member.refresh() }
    #expect(reader.device == desk.vault.device)
    #expect(
      try Set(Family.Device.contents(of: reader).values)
        == ["", "before", "of the copy", "mine"])
    try desk.write("Later", "later")
    for member in reader.members { _ = try member.refresh() }
    #expect(try Family.Device.contents(of: reader).values.contains("later"))
  }

  /// The same head comes by a program that copies, in the place of the machine's own, before that knows that it was copied.
  @Test(arguments: [false, true])
  func theHeadOfACopyThatWasTakenOverComesInThePlaceOfTheOwn(reopens: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let copy = try desk.clone()
    try copy.write("Of the copy", "of the copy")
    try copy.write("More of it", "more of it")
    try copy.sync(remote)
    try laptop.sync(remote)
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.vault.removeOldObjects().requireNone()
    try desk.write("Mine", "mine")
    try copyFiles(from: laptop, to: desk)
    if reopens { try desk.reopen() }
    try desk.write("Later", "later")
    #expect(desk.vault.device != copy.vault.device)
    try meet([desk, laptop, copy], at: remote)
    try expectAll(
      ["before", "of the copy", "more of it", "mine", "later"], on: [desk, laptop, copy])
  }

  /// A power cut took what this machine had kept of its newest head, and not the head itself. Somebody takes that over, and it is
  /// this machine's own all the same.
  @Test(arguments: [false, true])
  func aHeadOfWhichNothingWasKeptIsNoCopys(reopens: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let state = desk.stateStore.imageAfterKill()
    try desk.write("Mine", "mine")
    desk.stateStore = state
    try desk.reopen()
    let device = desk.vault.device
    try desk.sync(remote)
    try laptop.sync(remote)
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.sync(remote)
    if reopens { try desk.reopen() }
    try meet(family.devices, at: remote)
    #expect(desk.vault.device == device)
    try expectAll(["before", "mine"], on: family.devices)
  }

  /// The phone's newest head was taken over by the laptop under new keys. Here is one that it wrote before: what it wrote after
  /// that does not wait for the newer one, which may never come.
  ///
  /// - Parameter isBegunBefore: Whether the new keys come before the laptop has taken anything of that over.
  @Test(arguments: [false, true])
  func whatWasTakenOverOfANewerHeadThanIsHereDoesNotWait(isBegunBefore: Bool) throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    let (other, meeting) = (MemoryStore(), MemoryStore())
    let note = try desk.write("Note", "first")
    try meet(family.devices, at: remote)
    try phone.edit(note, "second")
    try phone.sync(other, as: "other")
    try desk.sync(other, as: "other")
    let reader = try desk.open(on: desk.store, OpenOptions(readOnly: true))
    if isBegunBefore {
      try laptop.vault.beginEpoch(of: laptop.emma, without: [])
      try bring(from: laptop, to: desk)
      for member in reader.members { _ = try member.refresh() }
    }
    try phone.edit(note, "third")
    try phone.sync(meeting, as: "meeting")
    try laptop.sync(meeting, as: "meeting")
    if !isBegunBefore { try laptop.vault.beginEpoch(of: laptop.emma, without: []) }
    try laptop.write("Other", "other")
    try bring(from: laptop, to: desk)
    for member in reader.members { _ = try member.refresh() }
    let fresh = try desk.open(on: desk.store, OpenOptions(readOnly: true))
    for vault in [reader, fresh] {
      #expect(try Set(Family.Device.contents(of: vault).values) == ["", "third", "other"])
    }
  }

  /// Two heads come before what they name. Once that is here it makes no difference which of them is read first: the one says
  /// that it goes on from a newer head than the other one is.
  @Test(arguments: [false, true])
  func headsThatWaitedCountAsForAProcessThatBegins(isSwapped: Bool) throws {
    let family = try Family(count: 3)
    let desk = family[0]
    let (laptop, phone) = isSwapped ? (family[2], family[1]) : (family[1], family[2])
    let other = MemoryStore()
    let note = try desk.write("Note", "first")
    try meet(family.devices, at: remote)
    try phone.edit(note, "second")
    let early = phone.store.blobs
    try phone.edit(note, "third")
    for device in [phone, laptop] { try device.sync(other, as: "other") }
    try laptop.write("Other", "other")
    let all = laptop.store.blobs
    for (device, blobs) in [(phone, early), (laptop, all)] {
      let path = BlobPath(VaultPath.head(try device.emma.id, device.vault.device).string)
      try desk.store.replace(path, #require(blobs[path]), durably: true)
    }
    for _ in 0..<2 { _ = try desk.emma.refresh() }
    #expect(try !desk.contents().values.contains("other"))
    for (path, bytes) in early.merging(all, uniquingKeysWith: { first, _ in first })
    where !path.string.hasPrefix("staging") && desk.store.blobs[path] == nil {
      try desk.store.replace(path, bytes, durably: true)
    }
    _ = try desk.emma.refresh()
    let fresh = try desk.open(on: desk.store, OpenOptions(readOnly: true))
    #expect(try desk.contents() == Family.Device.contents(of: fresh))
    #expect(try desk.contents().values.contains("other"))
  }

  /// A program that copies brings what is not there, and of the heads that of the machine it comes from alone.
  private func bring(from one: Family.Device, to other: Family.Device) throws {
    let head = BlobPath(VaultPath.head(try one.emma.id, one.vault.device).string)
    let known = other.store.blobs
    for (path, bytes) in one.store.blobs where !path.string.hasPrefix("staging") {
      let isNew = known[path] == nil && !path.string.contains("/heads/")
      if isNew || path == head { try other.store.replace(path, bytes, durably: true) }
    }
  }

  /// `lost` notes are written and seen by the others, then the machine goes back to before them and writes `new` ones.
  @Test(arguments: [(3, 1), (2, 2), (1, 3), (2, 0), (1, 40)])
  func aMachineThatWasPutBackLosesNothing(lost: Int, new: Int) throws {
    let family = try Family(count: 2)
    try family[0].write("Before", "before")
    try family.meet(at: remote)
    let snapshot = family[0].snapshot()
    var notes: [String] = ["before"]
    for number in 0..<lost {
      notes.append("lost \(number)")
      try family[0].write("Lost \(number)", "lost \(number)")
    }
    try family.meet(at: remote)
    try family[0].putBack(snapshot)
    for number in 0..<new {
      notes.append("new \(number)")
      try family[0].write("New \(number)", "new \(number)")
    }
    try meet(family.devices, at: remote)
    try expectAll(notes, on: family.devices)
    #expect(try family[1].vault.devices().count == (new == 0 ? 2 : 3))
  }

  /// Its first head goes on from another device's segments, before and after; and these may be gone everywhere else by
  /// then.
  @Test(arguments: [false, true])
  func aFirstHeadThatWasPutBackLosesNothing(areSegmentsGone: Bool) throws {
    let family = try Family(count: 2)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    _ = try family[0].emma.commit((0..<300).map { .newRecord("Record \($0)", note: "\($0)") })
    try family.meet(at: remote)
    let shared = try #require(family[0].emma.openedHeads.first).segments
    let snapshot = family[1].snapshot()
    try family[1].write("Lost", "lost")
    let own = family[1].vault.device
    let first = try #require(family[1].emma.openedHeads.first { $0.device == own })
    #expect(first.segments.starts(with: shared))
    try family.meet(at: remote)
    if areSegmentsGone {
      for device in family.devices { try device.emma.commitCheckpoint() }
      for number in 0..<4 {
        for device in family.devices {
          _ = try device.vault.collect(keepDays: 0, isDryRun: false)
          try device.write("Later", "later \(number)")
        }
        try family.meet(at: remote)
      }
    }
    let objects = try family[0].emma.objects
    let areGone = shared.contains {
      remote.blobs[BlobPath(objects.vaultPath(of: $0).string)] == nil
    }
    #expect(areGone == areSegmentsGone)
    try family[1].putBack(snapshot)
    try family[1].write("New", "new")
    try meet(family.devices, at: remote)
    for device in family.devices { _ = try device.vault.collect(keepDays: 0, isDryRun: false) }
    try meet(family.devices, at: remote)
    try expectAll(["0", "299", "lost", "new"], on: family.devices)
    #expect(try family[0].vault.devices().count == 3)
  }

  @Test func bothLinesOfAnEditedNoteAreKept() throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    try family.meet(at: remote)
    let snapshot = family[0].snapshot()
    try family[0].edit(record, "lost")
    try family.meet(at: remote)
    try family[0].putBack(snapshot)
    try family[0].edit(record, "one")
    try family[0].edit(record, "new")
    try meet(family.devices, at: remote)
    try expectAll(["lost", "new"], on: family.devices)
  }

  @Test func twoCopiesOfOneMachineAreTwoDevices() throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    try family.meet(at: remote)
    let copy = try family[0].clone()
    try family[0].edit(record, "original")
    try copy.edit(record, "first")
    try copy.edit(record, "copy")
    let devices = [family[0], copy, family[1]]
    try meet(devices, at: remote)
    try expectAll(["original", "copy"], on: devices)
    #expect(copy.vault.device != family[0].vault.device)
    let names = try family[0].vault.devices().compactMap { $0.profile?.deviceName }.sorted()
    #expect(names.contains("desk-2"))
    // And they go on as two.
    try family[0].edit(record, "original 2")
    try copy.write("Other", "copy 2")
    try meet(devices, at: remote)
    try expectAll(["original 2", "copy 2"], on: devices)
  }

  /// Both copies have written the register of the device that they were, under one number, and have become devices of their own
  /// before they met: nobody writes that register anew, and both have chosen one name.
  @Test func twoCopiesThatBothGoOnLeaveOneRegisterAndTwoNames() throws {
    let family = try Family(count: 1)
    let desk = family[0]
    let (one, two) = (MemoryStore(), MemoryStore())
    try desk.write("Before", "before")
    try desk.sync(one, as: "one")
    try desk.sync(two, as: "two")
    let shared = desk.vault.device
    let twin = try desk.clone()
    for (device, name) in [(desk, "Dora"), (twin, "Emil")] {
      let known = Acquaintance(
        person: .random(), name: name, verification: .wordsCompared, time: 1)
      try device.vault.changePersonalProfile { $0.note(known) }
      try device.write("By one", "by \(name)")
    }
    try desk.sync(one, as: "one")
    try twin.sync(two, as: "two")
    for _ in 0..<5 {
      for device in [desk, twin] {
        try device.sync(one, as: "one")
        try device.sync(two, as: "two")
      }
    }
    #expect(desk.vault.device != shared && twin.vault.device != shared)
    for device in [desk, twin] {
      for (remote, name) in [(one, "one"), (two, "two")] {
        #expect(try device.sync(remote, as: name).problems.filter { $0.kind == .fork } == [])
      }
      let devices = try device.vault.devices()
      let names = devices.compactMap { $0.profile?.deviceName }.sorted()
      #expect(names == ["desk", "desk-2", "desk-3"])
      #expect(devices.allSatisfy { $0.lastWrite != nil }, "\(devices)")
    }
    // Who keeps the name is the same for all.
    let new = try desk.vault.devices().filter { $0.id != shared }.sorted { $0.id < $1.id }
    #expect(new.map { $0.profile?.deviceName } == ["desk-2", "desk-3"])
  }

  /// Two machines have each met one of two copies, and then meet: it is the copied machine that is named.
  @Test func whoHasMetACopyIsNotSaidToBeCopied() throws {
    let family = try Family(count: 3)
    let (desk, one, other) = (family[0], family[1], family[2])
    let (near, far) = (MemoryStore(), MemoryStore())
    try desk.write("Before", "before")
    try meet(family.devices, at: remote)
    let twin = try desk.clone()
    for (copy, store, name, friend) in [(desk, near, "near", one), (twin, far, "far", other)] {
      try copy.write("By a copy", "by a copy, \(name)")
      try copy.sync(store, as: name)
      try friend.sync(store, as: name)
      try friend.write("By a friend", "by a friend, \(name)")
    }
    try one.sync(remote)
    for (reader, writer) in [(other, one), (one, other)] {
      let head = VaultPath.head(try reader.emma.id, writer.vault.device).string
      let told = try reader.sync(remote).problems.filter { $0.path == head }.map(\.text)
      let name = reader.vault.name(of: desk.vault.device)
      #expect(told.count == 1 && told.allSatisfy { $0.contains("machine of “\(name)”") }, "\(told)")
    }
  }

  /// The two copies sync with remotes of their own, and a third machine with both.
  @Test func twoCopiesMeetThroughAThirdMachine() throws {
    let family = try Family(count: 2)
    let (one, two) = (MemoryStore(), MemoryStore())
    let record = try family[0].write("Note", "before")
    try meet(family.devices, at: one)
    try family[0].sync(two, as: "two")
    let copy = try family[0].clone()
    try family[0].edit(record, "original")
    try family[0].write("Original", "only the original")
    try copy.edit(record, "first")
    try copy.edit(record, "copy")
    try copy.write("Copy", "only the copy")
    try family[0].sync(one)
    try copy.sync(two, as: "two")
    for _ in 0..<3 {
      try family[1].sync(one)
      let shown = try family[1].contents()
      try family[1].sync(two, as: "two")
      #expect(try family[1].contents() == shown, "one line at a time is shown")
    }
    #expect(Set(try family[1].contents().values).isSuperset(of: ["original", "only the original"]))
    try copy.sync(two, as: "two")
    #expect(copy.vault.device != family[0].vault.device)
    for _ in 0..<3 {
      try family[1].sync(two, as: "two")
      try family[1].sync(one)
      try copy.sync(two, as: "two")
      try family[0].sync(one)
    }
    try expectAll(
      ["original", "copy", "only the original", "only the copy"],
      on: [family[0], family[1], copy])
  }

  /// A device is left out of which a stray is known: nobody tells of it any more, nor keeps for its sake what nobody needs.
  @Test func aStrayOfADeviceThatWasLeftOutIsNoneAnyMore() throws {
    let family = try Family(count: 2)
    let (desk, laptop, two) = (family[0], family[1], MemoryStore())
    try desk.write("Note", "before")
    try meet(family.devices, at: remote)
    try desk.sync(two, as: "two")
    let copy = try desk.clone()
    try desk.write("Original", "of the original")
    for number in 0..<2 { try copy.write("Copy \(number)", "of the copy") }
    try desk.sync(remote)
    try copy.sync(two, as: "two")
    try laptop.sync(remote)
    try laptop.sync(two, as: "two")
    let (own, shared) = (laptop.vault.device, desk.vault.device)
    func told() throws -> [DeviceID] {
      try laptop.emma.heads.withLock { $0.loaded[own]?.head.strays.map(\.device) ?? [] }
    }
    #expect(try told() == [shared])
    #expect(try laptop.emma.hasLinesApart)
    try laptop.vault.beginGeneration(removing: [shared], words: Family.words.words)
    _ = try laptop.emma.refresh()
    #expect(try !laptop.emma.hasLinesApart)
    try laptop.write("After", "after")
    for isFresh in [false, true] {
      if isFresh { try laptop.reopen() }
      #expect(try told() == [], "fresh: \(isFresh)")
      #expect(try !laptop.emma.hasLinesApart, "fresh: \(isFresh)")
      let shown = Set(try laptop.contents().values)
      #expect(
        shown.isSuperset(of: ["before", "of the original", "after"]), "fresh: \(isFresh)")
    }
  }

  /// Two machines follow a line each, and the one whose line it is goes on as another device.
  @Test func whoFollowedALineFollowsItsMachine() throws {
    let family = try Family(count: 3)
    let (one, two) = (MemoryStore(), MemoryStore())
    let record = try family[0].write("Note", "before")
    try meet(family.devices, at: one)
    for device in family.devices { try device.sync(two, as: "two") }
    let copy = try family[0].clone()
    try family[0].edit(record, "original")
    try copy.edit(record, "first")
    try copy.edit(record, "copy")
    try copy.write("Copy", "only the copy")
    try family[0].sync(one)
    try copy.sync(two, as: "two")
    try family[1].sync(one)
    try family[2].sync(two, as: "two")
    try family[2].edit(record, "on top of the copy")
    try family[2].sync(two, as: "two")
    // Everybody meets everybody.
    let all = family.devices + [copy]
    for _ in 0..<4 {
      for device in all {
        try device.sync(one)
        try device.sync(two, as: "two")
      }
    }
    try expectAll(["original", "on top of the copy", "only the copy"], on: all)
  }

  /// A copier like `rsync -a` puts one machine's files in the place of the other's, whichever is newer.
  private func copyFiles(from one: Family.Device, to other: Family.Device) throws {
    for (path, bytes) in one.store.blobs
    where !path.string.hasPrefix("staging") && other.store.blobs[path] != bytes {
      try other.store.replace(path, bytes, durably: true)
    }
  }

  @Test func twoCopiesMeetThroughAFileCopier() throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    try copyFiles(from: family[0], to: family[1])
    try family[1].reopen()
    let copy = try family[0].clone()
    try family[0].edit(record, "original")
    try copy.edit(record, "first")
    try copy.edit(record, "copy")
    let all = [family[0], copy, family[1]]
    for _ in 0..<3 {
      for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 2), (2, 1), (1, 0)] {
        try copyFiles(from: all[from], to: all[to])
        try all[to].reopen()
        _ = try all[to].emma.joinConcurrent()
      }
    }
    try expectAll(["original", "copy"], on: all)
    #expect(family[0].vault.device != copy.vault.device)
  }

  @Test func aRunningMachineNoticesACopiersHead() throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    let copy = try family[0].clone()
    try family[0].edit(record, "original")
    try copy.edit(record, "copy")
    try copyFiles(from: copy, to: family[0])
    // Without being opened anew.
    try family[0].write("Later", "later")
    #expect(family[0].vault.device != copy.vault.device)
    // It may have been a mount in the background, which has nobody to tell: whoever opens the vault next is told, once.
    for isTold in [true, false] {
      try family[0].reopen()
      #expect(family[0].vault.problems.contains { $0.kind == .parted } == isTold)
    }
    try expectAll(
      ["original", "copy", "later", "before"].filter { $0 != "before" }, on: [family[0]])
  }

  /// A stick with an older copy is copied back over the machine's folder.
  @Test func anOlderOwnHeadIsPutRightWithoutAQuestion() throws {
    let family = try Family(count: 1)
    let record = try family[0].write("Note", "before")
    let stick = family[0].store.blobs
    try family[0].edit(record, "after")
    let newest = try #require(family[0].vault.members.first).knownCounters
    for (path, bytes) in stick where !path.string.hasPrefix("staging") {
      try family[0].store.replace(path, bytes, durably: true)
    }
    try family[0].reopen()
    try expectAll(["after"], on: family.devices)
    #expect(try family[0].emma.knownCounters == newest)
    // The same while it runs.
    for (path, bytes) in stick where !path.string.hasPrefix("staging") {
      try family[0].store.replace(path, bytes, durably: true)
    }
    try family[0].write("Next", "next")
    try expectAll(["after", "next"], on: family.devices)
  }

  /// Somebody has removed it, or a program that copies has not brought it.
  @Test(arguments: [false, true])
  func anOwnHeadThatIsGoneIsPutBackWhereAllIsThere(lacksARevision: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Note", "before")
    try family.meet(at: remote)
    let record = try desk.write("Not synced", "after")
    let emma = try desk.emma
    let head = BlobPath(VaultPath.head(emma.id, desk.vault.device).string)
    let whole = try #require(desk.store.blobs[head])
    try desk.store.remove(head)
    if lacksARevision {
      try desk.store.remove(emma.objects.path(of: #require(emma.entry(record)).revision))
    }
    try desk.reopen()
    #expect(desk.store.blobs[head] == (lacksARevision ? nil : whole))
    #expect((desk.vault.member(emma.id)?.damageReason != nil) == lacksARevision)
    let told = try desk.sync(remote) { $0.direction = .push }.problems
    if lacksARevision {
      #expect(told.contains { $0.text.contains("check --repair --remote NAME") })
      return
    }
    #expect(told == [])
    try laptop.sync(remote)
    try expectAll(["before", "after"], on: family.devices)
  }

  /// The state of this machine was put back, and its folder was not: the head that is gone was a newer one, as the other
  /// device knows, and its counters are used.
  @Test func anOwnHeadThatIsGoneAndWasNewerIsNotReplaced() throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Note", "before")
    try family.meet(at: remote)
    let before = desk.snapshot()
    try desk.write("Later", "after")
    try desk.sync(remote)
    try laptop.sync(remote)
    try laptop.write("Of the laptop", "goes on from that")
    try laptop.sync(remote)
    try desk.sync(remote)
    let emma = try desk.emma.id
    let head = BlobPath(VaultPath.head(emma, desk.vault.device).string)
    let folder = desk.store.imageAfterKill()
    try folder.remove(head)
    try desk.putBack(before)
    desk.store = folder
    try desk.reopen()
    #expect(desk.store.blobs[head] == nil)
    #expect(desk.vault.member(emma)?.damageReason != nil)
  }

  @Test func twicePutBackAndACopyOfACopy() throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    try family.meet(at: remote)
    let snapshot = family[0].snapshot()
    var notes: [String] = []
    for round in 0..<2 {
      try family[0].edit(record, "round \(round)")
      try family[0].write("Round \(round)", "written \(round)")
      try family.meet(at: remote)
      notes.append("written \(round)")
      try family[0].putBack(snapshot)
    }
    try family[0].edit(record, "third")
    let copy = try family[0].clone()
    let second = try copy.clone()
    try copy.write("Copy", "copy")
    try second.write("Second", "second")
    let all = family.devices + [copy, second]
    try meet(all, at: remote)
    try expectAll(notes + ["third", "copy", "second"], on: all)
    #expect(Set(all.map { $0.vault.device }).count == 4)
  }

  @Test(arguments: [true, false])
  func cutAnywhereWhileItBecomesADevice(isState: Bool) throws {
    for number in 1... {
      let family = try Family(count: 2)
      let remote = MemoryStore()
      let record = try family[0].write("Note", "before")
      try family.meet(at: remote)
      let snapshot = family[0].snapshot()
      try family[0].edit(record, "lost")
      try family.meet(at: remote)
      try family[0].putBack(snapshot)
      try family[0].edit(record, "new")
      try family[0].write("Other", "other")
      let store = isState ? family[0].stateStore : family[0].store
      store.cut(after: number)
      var isWhole = true
      do { try family[0].sync(remote) } catch is SyncError { isWhole = false }
      if number.isMultiple(of: 2) {
        family[0].store = family[0].store.imageAfterPowerCut(seed: UInt64(number))
        family[0].stateStore = family[0].stateStore.imageAfterPowerCut(seed: UInt64(number))
      }
      try family[0].reopen()
      try family.meet(at: remote)
      try expectAll(["lost", "new", "other"], on: family.devices, "cut at \(number)")
      #expect(try family[1].vault.devices().count == 3, "cut at \(number)")
      if isWhole { return }
    }
  }

  @Test func aLockedSyncReplacesNoHeadOfAnotherLine() throws {
    let family = try Family(count: 2)
    try family[0].write("Before", "before")
    try family.meet(at: remote)
    let snapshot = family[0].snapshot()
    try family[0].write("Lost", "lost")
    try family[0].sync(remote)
    try family[0].putBack(snapshot)
    for number in 0..<3 { try family[0].write("New \(number)", "new \(number)") }
    for _ in 0..<2 {
      _ = try RemoteSync(
        .locked(
          VaultCopy(
            id: family[0].vault.id, store: family[0].store,
            state: StateFolder(store: family[0].stateStore))), remote: remote,
        name: #require(RemoteName("usb"))
      ).run()
      #expect(try family[0].quickSync(remote) == nil)
    }
    try meet(family.devices, at: remote)
    try expectAll(["lost", "new 0", "new 2"], on: family.devices)
  }

  /// Three machines write under one key. One of them has become a device of its own, whose head is all that another one sees at
  /// first: what both say of the record has the same counter and is not the same (simulated schedule 549383).
  @Test func whatACopySaysOfTheTimeBeforeItPartedIsNotTakenForOnesOwn() throws {
    let family = try Family(count: 1)
    let first = family[0]
    let record = try first.write("Note", "text 1")
    try meet([first], at: remote)
    let (second, third) = (try first.clone(), try first.clone())
    try third.edit(record, "text 4")
    second.clock.turn(bySeconds: 60)
    try second.edit(record, "text 2")
    try meet([second, first], at: remote)
    try second.write("Other", "by the second one")
    try first.edit(record, "text 3")
    try meet([first, second], at: remote)
    #expect(second.vault.device != third.vault.device)
    // The head of the device that they were comes later than the others.
    let head = try BlobPath("members").appending(#require(first.vault.members.first).id.hex)
      .appending("heads").appending(third.vault.device.hex)
    let hidden = try remote.read(head, limit: 1 << 20)
    try remote.remove(head)
    try third.sync(remote) { $0.direction = .pull }
    #expect(try Set(third.contents().values).contains("text 4"))
    try remote.put(head, hidden, .always)
    for _ in 0..<3 { try meet([first, second, third], at: remote) }
    try expectAll(["by the second one", "text 3", "text 4"], on: [first, second, third])
  }

  /// Whoever has the key of a machine that was copied never goes on as a device of its own, and shows the phone a line that parts
  /// earlier than what the family's two machines had in common. What they write waits there, and is told; it is all there as
  /// soon as the thief's device is removed.
  @Test(arguments: [false, true])
  func anEarlierLineOfWhoeverHasTheKeyHidesNothingForGood(showsItAnew: Bool) throws {
    let family = try Family(count: 2)
    let (laptop, phone) = (family[0], family[1])
    try laptop.write("Note", "before")
    try meet(family.devices, at: remote)
    let thief = try laptop.clone()
    try laptop.write("Common", "of both machines")
    let copy = try laptop.clone()
    let shown = MemoryStore()
    try thief.write("Lie", "of the thief")
    try thief.sync(shown, as: "two")
    try phone.sync(shown, as: "two")
    try copy.write("Copy", "by the copy")
    try copy.sync(remote)
    try laptop.write("Mine", "by the laptop")
    try laptop.sync(remote)
    #expect(laptop.vault.device != copy.vault.device)
    let told = try phone.sync(remote).problems.filter { $0.kind == .fork }
    #expect(
      told.count == 2 && told.allSatisfy { $0.text.contains("kinvault device revoke") }, "\(told)")
    if showsItAnew {
      try thief.write("More", "more of the thief")
      try thief.sync(shown, as: "two")
      try phone.sync(shown, as: "two")
    }
    try phone.write("Phone", "by the phone")
    #expect(try !phone.contents().values.contains("by the laptop"), "a line is shown at a time")
    for _ in 0..<3 { for device in [laptop, phone] { try device.sync(remote) } }
    try laptop.vault.beginGeneration(removing: [thief.vault.device], words: Family.words.words)
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    for _ in 0..<3 { for device in [laptop, phone] { try device.sync(remote) } }
    try expectAll(
      ["before", "of both machines", "by the laptop", "by the copy", "by the phone"],
      on: [laptop, phone])
  }

  @Test func aNewCopySeesBothLines() throws {
    let family = try Family(count: 3)
    let record = try family[0].write("Note", "before")
    try meet([family[0], family[1]], at: remote)
    let snapshot = family[0].snapshot()
    try family[0].edit(record, "lost")
    try meet([family[0], family[1]], at: remote)
    try family[0].putBack(snapshot)
    for number in 0..<4 { try family[0].edit(record, "new \(number)") }
    try family[0].sync(remote)
    try family[2].sync(remote)
    try expectAll(["lost", "new 3"], on: [family[2]])
  }

  /// A machine that was put back takes its newer head while a program has the file open and has not saved yet: that has seen what
  /// was there before, as where another machine has changed the file.
  @Test(arguments: [0, 1])
  func whatIsSavedOverTheNewerHeadOfAMachineThatWasPutBackHidesNothing(commitCount: Int) throws {
    let family = try Family(count: 1)
    let desk = family[0]
    let visit = try desk.write("Visit", "first")
    try desk.sync(remote)
    let snapshot = desk.snapshot()
    try desk.edit(visit, "before it was put back")
    try desk.sync(remote)
    try desk.putBack(snapshot)
    let emma = try desk.emma
    let seen = try #require(try emma.item(named: .record, in: visit))
    try desk.sync(remote)
    // Something else may be saved first.
    for number in 0..<commitCount { try desk.write("Other \(number)", "x") }
    var edit = RecordEdit(record: visit)
    edit.items[.record] = .note("after")
    edit.seen[.record] = SeenFile(seen)
    try desk.commit(edit)
    let texts = Set(try desk.contents().values)
    #expect(texts.isSuperset(of: ["after", "before it was put back"]))
  }

  /// A machine that has written nothing yet takes the first head of its copy, which may come with new keys, while a program has
  /// the file open that this has changed. (Real schedule 6000192 of a campaign.)
  @Test(arguments: [false, true])
  func whatIsSavedOverTheFirstHeadOfACopyHidesNothing(changesKeys: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop) = (family[0], family[1])
    let visit = try desk.write("Visit", "first")
    for device in [desk, laptop] { try device.sync(remote) }
    let copy = try laptop.clone()
    try copy.edit(visit, "by the copy")
    try copy.sync(remote)
    if changesKeys {
      try desk.sync(remote)
      try desk.vault.beginEpoch(of: desk.emma, without: [])
      try desk.sync(remote)
      try copy.sync(remote)
    }
    let seen = try #require(try laptop.emma.item(named: .record, in: visit))
    try laptop.sync(remote)
    var edit = RecordEdit(record: visit)
    edit.items[.record] = .note("after")
    edit.seen[.record] = SeenFile(seen)
    try laptop.commit(edit)
    #expect(try Set(laptop.contents().values).isSuperset(of: ["after", "by the copy"]))
    try meet([desk, laptop, copy], at: remote)
    try expectAll(["after", "by the copy"], on: [desk, laptop, copy])
  }

  /// Both lines have written segments of the log under one name.
  @Test func theLogsOfBothLinesAreKeptAndChain() throws {
    func note(_ text: String, _ device: Family.Device) throws {
      device.vault.audit.note(.read, detail: text)
      try device.vault.audit.publish()
    }
    func syncFully(_ device: Family.Device) throws {
      try device.sync(remote) { $0.looksEverywhere = true }
    }
    let family = try Family(count: 2)
    try family[0].write("Before", "before")
    try note("before", family[0])
    for device in family.devices { try syncFully(device) }
    let snapshot = family[0].snapshot()
    for number in 0..<3 {
      try note("lost \(number)", family[0])
      try family[0].write("Lost \(number)", "lost \(number)")
    }
    try syncFully(family[0])
    try family[0].putBack(snapshot)
    try note("new", family[0])
    try family[0].write("New", "new")
    for _ in 0..<2 { for device in family.devices { try syncFully(device) } }
    try note("after", family[0])
    for device in family.devices {
      try syncFully(device)
      let (events, problems) = try device.vault.audit.read()
      #expect(problems == [])
      #expect(
        events.map(\.event.detail).sorted()
          == ["after", "before", "desk-2", "lost 0", "lost 1", "lost 2", "new"])
    }
  }

  /// A copy has gone on with the log, and this machine, which has written nothing since, has taken its register: what it
  /// lacks of the log was cut off by nobody, and comes.
  @Test func theLogOfACopyComesAsThatOfAnotherDevice() throws {
    func note(_ text: String, _ device: Family.Device) throws {
      device.vault.audit.note(.read, detail: text)
      try device.vault.audit.publish()
    }
    let family = try Family(count: 1)
    try family[0].write("Before", "before")
    try note("before", family[0])
    try family[0].sync(remote) { $0.looksEverywhere = true }
    let copy = try family[0].clone()
    try copy.write("By the copy", "by the copy")
    try note("by the copy", copy)
    try copy.sync(remote) { $0.looksEverywhere = true }
    try family[0].sync(remote)
    #expect(try family[0].vault.audit.read().problems.map(\.severity) == [.note])
    try family[0].expectWhole()
    try family[0].sync(remote) { $0.looksEverywhere = true }
    let (events, problems) = try family[0].vault.audit.read()
    #expect(problems == [])
    #expect(events.map(\.event.detail).sorted() == ["before", "by the copy"])
    try note("by the first one", family[0])
    #expect(try family[0].vault.audit.read().problems == [])
  }

  /// A copy has written more of the log than this machine, and taken it along as a device of its own: its register is all
  /// that comes here.
  @Test func theLogGoesOnWhereACopyHasGoneFurther() throws {
    func note(_ text: String, _ device: Family.Device) throws {
      try device.write(text, text)
      device.vault.audit.note(.read, detail: text)
      try device.vault.audit.publish()
    }
    let family = try Family(count: 1)
    let first = family[0]
    try note("before", first)
    try first.sync(remote) { $0.looksEverywhere = true }
    let copy = try first.clone()
    try note("by the first one", first)
    for text in ["by the copy", "and more"] { try note(text, copy) }
    for machine in [first, copy, first] {
      try machine.sync(remote) { $0.looksEverywhere = true }
      try machine.expectWhole()
    }
    try note("after", first)
    for machine in [first, copy, first, copy] {
      try machine.sync(remote) { $0.looksEverywhere = true }
    }
    for machine in [first, copy] {
      let (events, problems) = try machine.vault.audit.read()
      #expect(problems == [])
      #expect(
        events.map(\.event.detail).sorted()
          == ["after", "and more", "before", "by the copy", "by the first one", "desk-2"])
    }
  }

  /// A mount does not know yet that a sync of the same machine has made it a device of its own, and has something to say.
  @Test func whoDoesNotKnowYetOfThePartingSaysNothingAsTheFormerDevice() throws {
    func note(_ text: String, _ vault: Vault) throws {
      vault.audit.note(.read, detail: text)
      try vault.audit.publish()
    }
    let family = try Family(count: 1)
    let first = family[0]
    try first.write("Before", "before")
    try note("before", first.vault)
    try first.sync(remote) { $0.looksEverywhere = true }
    let copy = try first.clone()
    try first.write("By the first one", "by the first one")
    try note("by the first one", first.vault)
    try first.sync(remote) { $0.looksEverywhere = true }
    let mount = try copy.open(on: copy.store)
    try copy.write("By the copy", "by the copy")
    try copy.sync(remote) { $0.looksEverywhere = true }
    #expect(copy.vault.device != first.vault.device)
    #expect(mount.device == first.vault.device)
    mount.audit.note(.read, detail: "in the mount")
    try mount.audit.publish()
    let former = BlobPath("audit").appending(first.vault.device.hex)
    #expect(try copy.store.list(former).map(\.name) == first.store.list(former).map(\.name))
    try mount.renameDevice(to: "laptop")
    #expect(mount.device == copy.vault.device)
    try mount.close()
    for machine in [first, copy, first, copy] {
      try machine.sync(remote) { $0.looksEverywhere = true }
    }
    for machine in [first, copy] {
      try machine.expectWhole()
      let (events, problems) = try machine.vault.audit.read()
      #expect(problems == [])
      let details = Set(events.map(\.event.detail))
      #expect(details.isSuperset(of: ["before", "by the first one", "in the mount", "desk-2"]))
      #expect(
        Set(try machine.vault.devices().map { $0.profile?.deviceName }) == ["desk", "laptop"])
    }
  }

  // MARK: An older folder

  /// Puts an older copy of the folder in the place of the one that is there; the machine remembers the newer one.
  private func putBack(
    _ backup: [BlobPath: [UInt8]], on device: Family.Device,
    keeping: (BlobPath) -> Bool = { _ in false }
  ) throws {
    let store = MemoryStore()
    for (path, bytes) in device.store.blobs where keeping(path) {
      try store.replace(path, bytes, durably: true)
    }
    for (path, bytes) in backup where !path.string.hasPrefix("staging") {
      try store.replace(path, bytes, durably: true)
    }
    device.store = store
    #expect(throws: VaultError.self) { try device.reopen() }
    try device.reopen(OpenOptions(acceptRollback: true))
  }

  @Test(arguments: [false, true])
  func whoGoesBackToAnOlderFolderGetsWhatOthersHave(writesMore: Bool) throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    let backup = family[0].store.blobs
    try family[0].edit(record, "sent")
    try family[0].write("Sent", "only sent")
    try family[0].sync(remote)
    try family[1].sync(remote)
    try family[0].write("Not sent", "not sent")
    try putBack(backup, on: family[0])
    if writesMore {
      for number in 0..<4 { try family[0].edit(record, "after \(number)") }
    }
    try meet(family.devices, at: remote)
    try expectAll(
      ["sent", "only sent"] + (writesMore ? ["after 3"] : []), on: family.devices)
    #expect(try family[0].vault.devices().count == (writesMore ? 3 : 2))
  }

  /// Nobody joins anything, whose head would bring what was sent.
  @Test func whoGoesBackToAnOlderFolderTakesItsOwnOldLineFromARemote() throws {
    let family = try Family(count: 2)
    try family[0].write("Note", "before")
    try family.meet(at: remote)
    let backup = family[0].store.blobs
    try family[0].write("Sent", "sent")
    try family[0].sync(remote)
    try family[0].write("Not sent", "not sent")
    try putBack(backup, on: family[0])
    try family[0].write("After", "after")
    try family[0].sync(remote)
    try expectAll(["before", "sent", "after"], on: [family[0]])
  }

  /// Only one thing of what was written since is gone from the folder.
  @Test(arguments: [false, true])
  func whatIsStillInTheFolderStays(knowsRemote: Bool) throws {
    let family = try Family(count: 2)
    let record = try family[0].write("Note", "before")
    if knowsRemote { try family.meet(at: remote) }
    let backup = family[0].store.blobs
    try family[0].edit(record, "edited")
    let gone = try family[0].write("Gone", "gone")
    let revision = try #require(family[0].emma.entry(gone)).revision
    try family[0].write("Still here", "still here")
    if knowsRemote { try family[0].sync(remote) }
    let lost = BlobPath(try family[0].emma.objects.vaultPath(of: revision).string)
    try putBack(backup, on: family[0]) { path in
      path != lost && path.string.contains("/objects/")
    }
    try expectAll(["edited", "still here"], on: [family[0]])
    try family[0].write("After", "after")
    try meet(family.devices, at: remote)
    try expectAll(
      ["edited", "still here", "after"] + (knowsRemote ? ["gone"] : []), on: family.devices)
  }
}

/// Something happens when a sync has come so far.
final class PassingStore: InspectingStore {
  enum Moment: CaseIterable, Sendable {
    /// It has read who there is, and reads a head.
    case head
    /// It looks which parts of the log there are.
    case log
    /// It puts the first file.
    case put

    fileprivate func isNow(_ call: StoreCall) -> Bool {
      switch self {
      case .head: call.kind == .read && call.path.string.contains("/objects/")
      case .log: [.list, .page].contains(call.kind) && call.path.string.hasPrefix("audit")
      case .put: call.kind == .put
      }
    }
  }

  let inner: any LocalStore
  private let moment: Moment
  private let event: @Sendable () -> Void
  private let passed = Mutex(false)

  init(_ inner: any LocalStore, _ moment: Moment, _ event: @escaping @Sendable () -> Void) {
    (self.inner, self.moment, self.event) = (inner, moment, event)
  }

  var hasPassed: Bool { passed.withLock { $0 } }

  func inspect(_ call: StoreCall) {
    guard moment.isNow(call) else { return }
    let isFirst = passed.withLock { passed in
      defer { passed = true }
      return !passed
    }
    if isFirst { event() }
  }
}
