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

/// What people of each role can do, and what is made of those who do more.
struct RoleTests {
  @Test func withoutAccessThereIsNeitherNameNorContent() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    try adults.meet()
    for other in [adults.ben, adults.carla] {
      try other.reopen()
      #expect(other.vault.members.isEmpty)
      #expect(other.vault.problems.isEmpty)
    }
  }

  @Test func anEditorReadsAndWrites() throws {
    let adults = try Adults()
    let note = try adults.anna.write("Visit", "all well")
    try adults.share(with: adults.ben, .editor)
    let emma = try #require(adults.ben.emma)
    #expect(try emma.bytes(of: "record.md", in: note) == Array("all well".utf8))
    try adults.ben.write("Vaccine")
    try adults.meet()
    #expect(try adults.anna.titles == ["Visit", "Vaccine"])
    #expect(adults.carla.emma == nil)
    for adult in adults.everyone {
      try adult.reopen()
      #expect(adult.vault.problems.isEmpty)
    }
    #expect(try adults.anna.titles == ["Visit", "Vaccine"])
  }

  @Test func aViewerReadsAndWritesNothing() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    try adults.share(with: adults.ben, .viewer)
    let emma = try #require(adults.ben.emma)
    #expect(try adults.ben.titles == ["Visit"])
    #expect(emma.role == .viewer)
    #expect(!emma.mayWrite)
    let before = adults.ben.store.blobs
    do {
      try adults.ben.write("Mine")
      Issue.record("a viewer wrote")
    } catch let error as VaultError {
      guard case .viewersOnlyRead(let member) = error else { throw error }
      #expect(member == emma.id)
    }
    _ = try emma.joinConcurrent()
    _ = try adults.ben.vault.collect(keepDays: 0, isDryRun: false)
    #expect(adults.ben.store.blobs == before)
    // What others write goes on coming.
    try adults.anna.write("Vaccine")
    try adults.meet()
    #expect(try adults.ben.titles == ["Visit", "Vaccine"])
  }

  /// A process hears under the lock of its commit that its person may only read by now, so late that it has begun. Nobody
  /// asked for that commit: a sync and a mount go on without it.
  @Test func whoHearsInTheMiddleThatTheyMayOnlyReadGoesOnWithoutACommit() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("Visit")
    try adults.meet()
    let (mine, hers) = (try #require(adults.ben.emma), try #require(adults.anna.emma))
    try adults.anna.vault.beginEpoch(of: hers, without: [adults.ben.id])
    try adults.anna.vault.share(hers, with: adults.ben.id, role: .viewer)
    try adults.anna.write("Vaccine")
    try Replicas.carry(from: adults.anna.store, to: adults.ben.store)
    #expect(mine.role == .editor)
    let before = adults.ben.store.blobs
    _ = try mine.joinConcurrent()
    #expect(mine.role == .viewer)
    #expect(adults.ben.store.blobs == before)
    #expect(try adults.ben.titles == ["Visit", "Vaccine"])
  }

  @Test func aHeadThatNobodyAskedForIsNotWrittenByWhoMayOnlyReadByNow() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let (mine, hers) = (try #require(adults.ben.emma), try #require(adults.anna.emma))
    try adults.anna.vault.beginEpoch(of: hers, without: [adults.ben.id])
    try Replicas.carry(from: adults.anna.store, to: adults.ben.store)
    #expect(try !mine.commitNothingIfPossible())
  }

  /// Ben has replaced what Anna wrote, and that was collected before either came to Carla: each of their heads lacks, or
  /// waits for, what the other one has.
  @Test(arguments: [false, true])
  func whatWasReplacedAndCollectedKeepsNobodyFromTheNews(isLaterFirst: Bool) throws {
    let adults = try Adults()
    for other in [adults.ben, adults.carla] { try adults.share(with: other, .editor) }
    let live = try #require(adults.carla.emma)
    let note = try adults.anna.write("Visit", "by Anna")
    let hers = try #require(adults.anna.emma)
    let replaced = hers.objects.path(of: try #require(hers.entry(note)).revision)
    try adults.carry(from: adults.anna, to: adults.ben)
    try adults.ben.edit(note, "by Ben")
    for adult in [adults.anna, adults.ben] { try adult.store.remove(replaced) }
    let order = isLaterFirst ? [adults.ben, adults.anna] : [adults.anna, adults.ben]
    for adult in order {
      try Replicas.carry(from: adult.store, to: adults.carla.store)
      _ = try live.refresh()
    }
    #expect(try live.bytes(of: "record.md", in: note) == Array("by Ben".utf8))
  }

  /// What another process of the device wrote is known from its watermark, also where its head counts no more.
  @Test func whatAnotherProcessWroteIsKnownAndItsCountersAreNotUsedAgain() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let (mine, hers) = (try #require(adults.ben.emma), try #require(adults.anna.emma))
    let other = try adults.ben.open(on: adults.ben.store)
    let first = try #require(other.member(mine.id)).commit([.newRecord("Visit", note: "a")])
    try adults.carry(from: adults.ben, to: adults.anna)
    try adults.anna.vault.beginEpoch(of: hers, without: [adults.ben.id])
    try adults.anna.vault.share(hers, with: adults.ben.id, role: .viewer)
    try Replicas.carry(from: adults.anna.store, to: adults.ben.store)
    _ = try mine.accesses()
    _ = try mine.refresh()
    #expect(try adults.ben.titles == ["Visit"])
    try adults.anna.vault.share(hers, with: adults.ben.id, role: .editor)
    try Replicas.carry(from: adults.anna.store, to: adults.ben.store)
    _ = try mine.refresh()
    let second = try mine.commit([.newRecord("Next", note: "b")])
    #expect(second.counter > first.counter)
  }

  @Test func whatIsWholeAgainIsWrittenByAProcessThatWasOpen() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.anna.write("Visit")
    try adults.meet()
    try adults.ben.write("Letter")
    try adults.meet()
    let (emma, store) = (try #require(adults.anna.emma), adults.anna.store)
    let path = BlobPath(VaultPath.head(emma.id, adults.anna.vault.device).string)
    let bytes = try #require(store.blobs[path])
    try store.remove(path)
    try adults.anna.stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    let open = try adults.anna.open(on: store)
    let live = try #require(open.member(emma.id))
    #expect(live.damageReason != nil)
    try store.replace(path, bytes, durably: true)
    _ = try live.refresh()
    #expect(live.damageReason == nil)
    #expect(try live.commit([.newRecord("After", note: "n")]).failures.isEmpty)
    withExtendedLifetime(open) {}
  }

  @Test func aProgramThatRunsOnTakesNothingOfADeviceWhoseRemovalIsHere() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let ben = adults.ben
    let words = try RecoveryWords(parsing: ben.words.joined(separator: " "))
    let store = MemoryStore()
    try Replicas.carry(from: ben.store, to: store)
    let copy = VaultCopy(
      id: ben.vault.id, store: store, state: StateFolder(store: MemoryStore()),
      clock: ben.clock.wallClock)
    let key = try Vault.recover(
      copy, words: words, device: Adults.newDevice(of: "Ben"), password: Adults.password)
    let laptop = try Vault.open(copy, key: key, options: OpenOptions())
    let live = try #require(adults.anna.emma)
    let theirs = try #require(laptop.member(live.id))
    _ = try theirs.commit([.newRecord("Before", note: "a")])
    for adult in [ben, adults.anna] {
      try Replicas.carry(from: store, to: adult.store)
      _ = try #require(adult.emma).refresh()
    }
    #expect(try adults.anna.titles == ["Before"])
    try ben.vault.beginGeneration(removing: [laptop.device], words: words)
    try Replicas.carry(from: ben.store, to: adults.anna.store)
    _ = try live.refresh()
    _ = try theirs.commit([.newRecord("Forged", note: "b")])
    try Replicas.carry(from: store, to: adults.anna.store)
    _ = try adults.anna.vault.refreshMembers()
    _ = try live.refresh()
    #expect(try !adults.anna.titles.contains("Forged"))
    try adults.anna.write("Mine")
    let fresh = try adults.anna.open(on: adults.anna.store)
    let shown = try #require(fresh.member(live.id)).children(of: .root).map(\.title.string)
    #expect(!shown.contains("Forged"))
  }

  @Test func whatAViewersModifiedClientWritesIsIgnoredByEveryone() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try adults.share(with: adults.carla, .editor)
    try adults.ben.writeRegardlessOfRole("Forged")
    try adults.meet()
    let path = VaultPath.head(try #require(adults.anna.emma).id, adults.ben.vault.device)
    for other in [adults.anna, adults.carla] {
      #expect(try !other.titles.contains("Forged"))
      try other.reopen()
      #expect(try !other.titles.contains("Forged"))
      #expect(other.problems(at: path).count == 1)
      // It stands in nobody's way.
      try other.write("Visit of \(other.id.shortHex)")
      try adults.meet()
    }
    #expect(try adults.anna.titles.count == 2)
  }

  @Test func theHeadOfAStrangerIsIgnored() throws {
    let adults = try Adults()
    let emma = try #require(adults.anna.emma)
    let (context, path) = (
      adults.ben.vault.context, VaultPath.head(emma.id, adults.ben.vault.device)
    )
    let body = HeadFile(
      member: emma.id, person: adults.ben.id, certificate: try context.ownCertificate().id,
      device: adults.ben.vault.device, counter: 1_000, epoch: emma.epoch,
      follows: emma.register.links.history.tips,
      sealed: Sealed(nonce: randomBytes(12), ciphertext: randomBytes(64)).encoded())
    let device = context.device
    try context.signedFiles.store(
      context.signedFiles.statement(.head, body.encoded()) { device.signingKey.sign($0) },
      at: path, in: adults.anna.store)
    _ = try emma.refresh()
    try adults.anna.write("Visit")
    try adults.anna.reopen()
    #expect(try adults.anna.titles == ["Visit"])
    #expect(adults.anna.problems(at: path).count == 1)
  }

  @Test func aShareThatHasEndedShowsNothingToWhomItWasGiven() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    let end: UInt64 = 1_700_000_100_000 + 10 * 86_400_000
    try adults.share(with: adults.ben, .viewer, until: end)
    #expect(try adults.ben.titles == ["Visit"])
    adults.ben.clock.advance(days: 11)
    try adults.ben.reopen()
    #expect(adults.ben.vault.members.isEmpty)
    #expect(adults.ben.vault.problems.map(\.kind) == [.accessEnded])
  }

  @Test func onlyOwnersShareAndARoleDoesNotFall() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let emma = try #require(adults.ben.emma)
    do {
      try adults.ben.vault.share(emma, with: adults.carla.id, role: .viewer)
      Issue.record("an editor shared")
    } catch {
      guard case .ownersOnly = error else { throw error }
    }
    for role in [Role.viewer, .editor] {
      do {
        try adults.share(with: adults.ben, role)
        Issue.record("access was given that is not more")
      } catch let error as VaultError {
        guard case .alreadyExists = error else { throw error }
      }
    }
    try adults.share(with: adults.carla, .owner)
    let accesses = try #require(adults.ben.emma).accesses()
    #expect(
      Dictionary(uniqueKeysWithValues: accesses.map { ($0.person, $0.role) })
        == [adults.anna.id: .owner, adults.ben.id: .editor, adults.carla.id: .owner])
    #expect(accesses.allSatisfy { $0.giver == adults.anna.id && $0.until == nil })
  }

  @Test func aLinkThatAnEditorForgesGivesNothing() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let (emma, vault) = (try #require(adults.ben.emma), adults.ben.vault)
    let links = emma.register.links
    // As the holder of Anna's place, and of one that he says is his, with a real wrap of the key beside it.
    let writer = try LinkWriter.begin(links, vault.context)
    let taker = try #require(vault.context.people[adults.carla.id])
    let wraps = try writer.wraps(of: [emma.epoch], for: taker)
    try #require(wraps.count == 1)
    let places = [
      Place(link: emma.id.root, person: adults.anna.id),
      Place(link: links.history.tips[0], person: adults.ben.id),
    ]
    let paths = try places.map { place in
      var link = try vault.link(of: emma, as: place, [.give(taker.id, .owner, until: 0)])
      link.wraps = wraps
      return try vault.forge(link, into: adults.ben.store)
    }
    try adults.meet()
    for adult in adults.everyone { try adult.reopen() }
    #expect(adults.carla.emma == nil)
    for path in paths { #expect(adults.anna.problems(at: path).map(\.kind) == [.untrusted]) }
    // And it does not keep an owner from giving a real one.
    try adults.anna.vault.share(
      #require(adults.anna.emma), with: adults.carla.id, role: .viewer)
    #expect(try #require(adults.anna.emma).accesses().count == 3)
  }

  /// The only closing of someone who has never changed their keys.
  private func closing(of adult: Adults.Adult) throws -> VaultPath {
    .closing(adult.id, try #require(adult.vault.context.ownPerson().generation))
  }

  @Test func aSwappedClosingIsRefused() throws {
    let adults = try Adults()
    // The store puts another person's closing in the place of Ben's.
    let other = try adults.anna.store.read(
      .init(closing(of: adults.carla).string), limit: 1 << 20)
    let path = try closing(of: adults.ben)
    try adults.anna.store.replace(.init(path.string), other, durably: true)
    // Whoever has seen the right one goes on with it, and finds out.
    try adults.anna.reopen()
    try adults.anna.vault.share(#require(adults.anna.emma), with: adults.ben.id, role: .viewer)
    let emma = try #require(adults.anna.emma)
    let wrap = try #require(emma.register.links.history.wraps(for: adults.ben.id).first)
    #expect(VaultPath.closing(adults.ben.id, wrap.wrap.generation) == path)
    let check = try adults.anna.vault.check(readsData: false)
    #expect(
      check.problems.filter { $0.path == path.string }.map(\.severity).contains(.damage))
    // To whoever has not, Ben is not there.
    let people = try People.load(
      store: adults.anna.store, files: adults.anna.vault.context.signedFiles,
      memory: PeopleMemory())
    #expect(people[adults.ben.id] == nil)
    #expect(people.problems.map(\.path).contains(path.string))
  }

  @Test func aClosingThatGoesAwayIsPutBackAndTold() throws {
    let adults = try Adults()
    let path = try closing(of: adults.ben)
    try adults.anna.reopen()
    #expect(adults.anna.problems(at: path) == [])
    let bytes = adults.anna.store.blobs[.init(path.string)]
    try adults.anna.store.remove(.init(path.string))
    try adults.anna.reopen()
    #expect(adults.anna.problems(at: path).map(\.kind) == [.rollback])
    #expect(adults.anna.store.blobs[.init(path.string)] == bytes)
  }

  @Test func aLinkThatNobodyWouldTakeIsNotWrittenAndItIsSaidWhy() throws {
    let adults = try Adults()
    let emma = try #require(adults.anna.emma)
    let writer = try LinkWriter.begin(emma.register.links, adults.anna.vault.context)
    let before = adults.anna.store.blobs
    let crowd = (0..<65).map { _ in Change.give(PersonID.random(), .viewer, until: 0) }
    #expect {
      try writer.write(crowd)
    } throws: {
      guard case VaultError.limit(let what, found: 65, limit: 64) = $0 else { return false }
      return what.contains("changes")
    }
    // Nothing of it is too much.
    let twice = [Change](repeating: .give(adults.ben.id, .owner, until: 0), count: 2)
    #expect {
      try writer.write(twice)
    } throws: {
      guard case VaultError.damaged = $0 else { return false }
      return true
    }
    #expect(adults.anna.store.blobs == before)
  }

  @Test func sharingIsWholeOrCanBeDoneAgainWhereverItIsCut() throws {
    let whole = try Adults()
    let calls = whole.anna.store.mutatingCallCount
    try whole.anna.vault.share(#require(whole.anna.emma), with: whole.ben.id, role: .editor)
    let count = whole.anna.store.mutatingCallCount - calls
    try #require(count > 3)
    for call in 1...count {
      let adults = try Adults()
      adults.anna.store.cut(after: call)
      let emma = try #require(adults.anna.emma)
      #expect(throws: VaultError.self) {
        try adults.anna.vault.share(emma, with: adults.ben.id, role: .editor)
      }
      try adults.anna.reopen()
      let again = try #require(adults.anna.emma)
      if try !again.accesses().contains(where: { $0.person == adults.ben.id }) {
        try adults.anna.vault.share(again, with: adults.ben.id, role: .editor)
      }
      try adults.meet()
      try adults.ben.write("Visit")
      try adults.meet()
      #expect(try adults.anna.titles == ["Visit"], "cut at call \(call)")
    }
  }
}
