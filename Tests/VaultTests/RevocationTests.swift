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

/// Taking someone's access away, and what becomes of everyone's data and devices then.
@Suite struct RevocationTests {
  /// Anna, with Ben and Carla as editors, and some records of every kind.
  private func family(_ role: Role = .editor) throws -> Adults {
    let adults = try Adults()
    try adults.share(with: adults.ben, role)
    try adults.share(with: adults.carla, .editor)
    let note = try adults.anna.write("Visit", "all well")
    let emma = try #require(adults.anna.emma)
    var edit = RecordEdit(record: note)
    edit.items[try #require(FileName("scan.jpg"))] = try .file(
      "scan.jpg", [UInt8](repeating: 3, count: 100_000), in: emma)
    _ = try emma.commit([edit])
    edit = RecordEdit(record: note)
    edit.items[.record] = .note("all well again")
    _ = try emma.commit([edit])
    try adults.meet()
    return adults
  }

  private func revoke(_ person: Adults.Adult, by owner: Adults.Adult, keepsHistory: Bool = true)
    throws
  {
    try owner.vault.beginEpoch(
      of: #require(owner.emma), without: [person.id], keepsHistory: keepsHistory)
  }

  /// The objects of Emma in a folder, by the epoch whose key they name.
  private func objects(_ adult: Adults.Adult) throws -> [KeyID: Set<ObjectName>] {
    let emma = try #require(adult.emma)
    return try Dictionary(
      grouping: emma.objects.listed().map(\.name), by: { try emma.objects.keyID(of: $0) }
    ).mapValues(Set.init)
  }

  private func expectWhole(_ adult: Adults.Adult, _ comment: Comment? = nil) throws {
    let problems = try adult.vault.check(readsData: true).problems.filter { $0.severity > .note }
    #expect(problems == [], comment)
  }

  /// A program that copies brings the closing by which somebody removes a device, and no head: whoever has the vault open sees
  /// that new keys are due as one sees it who opens it now.
  @Test func aClosingThatACopierBroughtIsNotOverlooked() throws {
    let adults = try family()
    let before = try #require(adults.anna.emma).epoch
    try adults.ben.vault.beginGeneration(
      removing: [], words: RecoveryWords(parsing: adults.ben.words.joined(separator: " ")))
    let (from, to) = (adults.ben.store, adults.anna.store)
    for (path, bytes) in from.blobs where path.string.hasPrefix("people/\(adults.ben.id.hex)/") {
      try to.replace(path, bytes, durably: true)
    }
    #expect(try adults.anna.vault.tendEpochs().get().map(\.isBegun) == [true])
    #expect(try #require(adults.anna.emma).epoch != before)
    #expect(try adults.anna.vault.tendEpochs().get() == [])
    try adults.meet()
    for adult in [adults.anna, adults.ben, adults.carla] { try expectWhole(adult) }
  }

  @Test func everythingIsSealedAnewAndEveryoneElseGoesOn() throws {
    let adults = try family()
    let before = try objects(adults.anna)
    try #require(before.count == 1)
    let first = try #require(adults.anna.emma).epoch
    try revoke(adults.ben, by: adults.anna)
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      let emma = try #require(adult.emma)
      #expect(emma.epoch != first)
      #expect(emma.register.links.history.link(emma.epoch)?.person == adults.anna.id)
      let note = try #require(emma.record(titled: "Visit")).record
      #expect(try emma.bytes(of: "record.md", in: note) == Array("all well again".utf8))
      #expect(
        try emma.bytes(of: "scan.jpg", in: note) == [UInt8](repeating: 3, count: 100_000))
      #expect(try emma.history(of: note).count == 3)
      try adult.write("Of \(adult.id.shortHex)")
    }
    try adults.meet()
    #expect(try adults.anna.titles.count == 3)
    #expect(try adults.anna.titles == adults.carla.titles)
    // Everything that is named is under the new keys.
    let emma = try #require(adults.anna.emma)
    for needed in emma.neededObjects(unread: { Issue.record($0) }) {
      #expect(try emma.objects.isPresentNow(needed.digest))
    }
    for adult in [adults.anna, adults.carla] {
      try expectWhole(adult)
      try adult.reopen()
      try expectWhole(adult)
      #expect(try adult.titles.count == 3)
    }
  }

  @Test func whoeverIsRevokedOpensNothingThatIsWrittenLater() throws {
    let adults = try family()
    let his = try #require(adults.ben.emma)
    try adults.ben.write("His")
    try revoke(adults.ben, by: adults.anna)
    let later = try adults.anna.write("Later")
    try adults.meet()
    let name = try #require(adults.anna.emma?.entry(later)).revision
    // With every key he ever had, on a machine that forgets nothing.
    #expect(!his.mayWrite)
    #expect(throws: VaultError.self) { try his.objects.content(name, kind: .record) }
    #expect(throws: VaultError.self) { try his.commit([.newRecord("Mine")]) }
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
    #expect(adults.ben.vault.problems.map(\.kind) == [.accessEnded])
    #expect(
      try #require(adults.anna.emma).accesses().map(\.person).contains(adults.ben.id) == false)
  }

  @Test func onlyOwnersRevokeAndNeverThemselves() throws {
    let adults = try family()
    do {
      try revoke(adults.carla, by: adults.ben)
      Issue.record("an editor revoked")
    } catch let error as VaultError {
      guard case .ownersOnly = error else { throw error }
    }
    do {
      try revoke(adults.anna, by: adults.anna)
      Issue.record("the last owner went")
    } catch let error as VaultError {
      guard case .lastOwner = error else { throw error }
    }
  }

  @Test func withoutHistoryOnlyWhatIsCurrentIsTakenAlong() throws {
    let adults = try family()
    try revoke(adults.ben, by: adults.anna, keepsHistory: false)
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      let emma = try #require(adult.emma)
      let note = try #require(emma.record(titled: "Visit")).record
      #expect(try emma.history(of: note).count == 1)
      #expect(try emma.bytes(of: "record.md", in: note) == Array("all well again".utf8))
      try expectWhole(adult)
    }
  }

  // MARK: Devices that were away

  @Test func whatAnEditorWroteWhileAwayIsTakenOver() throws {
    let adults = try family()
    // Carla writes without having heard of the revocation.
    let late = try adults.carla.write("Late", "written offline")
    try revoke(adults.ben, by: adults.anna)
    try adults.anna.write("Meanwhile")
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      let emma = try #require(adult.emma)
      #expect(try adult.titles == ["Visit", "Late", "Meanwhile"])
      let entry = try #require(emma.entry(late))
      #expect(try emma.objects.isPresentNow(entry.revision))
      #expect(!emma.hasLateHeads)
      try expectWhole(adult)
    }
    let (annas, carlas) = (try #require(adults.anna.emma), try #require(adults.carla.emma))
    #expect(annas.entry(late) == carlas.entry(late))
  }

  @Test func whatWasSyncedBeforeACrashIsBroughtInUnderTheNewKeys() throws {
    let adults = try family()
    var emma = try #require(adults.carla.emma)
    let note = try #require(emma.record(titled: "Visit")).record
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("synced, then the power went")
    let picture = [UInt8](repeating: 5, count: 9_000)
    edit.items[try #require(FileName("new.jpg"))] = try .file("new.jpg", picture, in: emma)
    // The same content under a second name, which is in the vault under the old keys.
    let revision = try emma.revision(try #require(emma.entry(note)).revision)
    let scan = try #require(try emma.items(of: revision).first { $0.name.string == "scan.jpg" })
    let copy = try #require(FileName("copy.jpg"))
    edit.items[copy] = Item(
      name: copy, file: .random(), size: scan.size, content: scan.content, time: .zero)
    #expect(try emma.log([edit]))
    // While Carla's machine is off, Anna's folder comes to hers.
    try revoke(adults.ben, by: adults.anna)
    try Replicas.carry(from: adults.anna.store, to: adults.carla.store)
    try adults.carla.reopen()
    for round in 1...2 {
      for adult in round == 1 ? [adults.carla] : [adults.anna, adults.carla] {
        emma = try #require(adult.emma)
        #expect(emma.register.links.trust.epochs.ranking.count == 2)
        let text = try emma.bytes(of: "record.md", in: note)
        #expect(text == Array("synced, then the power went".utf8))
        #expect(try emma.bytes(of: "new.jpg", in: note) == picture)
        for name in ["scan.jpg", "copy.jpg"] {
          #expect(try emma.bytes(of: name, in: note) == [UInt8](repeating: 3, count: 100_000))
        }
        try expectWhole(adult)
      }
      try adults.meet()
    }
    for needed in emma.neededObjects(unread: { Issue.record($0) }) {
      #expect(try emma.objects.isPresentNow(needed.digest))
    }
  }

  @Test func theOthersTakeOverALateHeadWhoseDeviceNeverComesBack() throws {
    let adults = try family()
    try adults.carla.write("Late", "written offline")
    try revoke(adults.ben, by: adults.anna)
    // Carla's device is lost; what it wrote had got to the store.
    try adults.carry(from: adults.carla, to: adults.anna)
    #expect(try adults.anna.titles == ["Visit", "Late"])
    let emma = try #require(adults.anna.emma)
    #expect(emma.state.withLock { $0.manifest.lateEntries.isEmpty })
    try adults.anna.reopen()
    #expect(try adults.anna.titles == ["Visit", "Late"])
    try expectWhole(adults.anna)
  }

  @Test func aConflictWithWhatWasWrittenOfflineIsKept() throws {
    let adults = try family()
    let record = try #require(adults.carla.emma?.record(titled: "Visit")).record
    var edit = RecordEdit(record: record)
    edit.items[.record] = .note("Carla's")
    _ = try adults.carla.emma?.commit([edit])
    try revoke(adults.ben, by: adults.anna)
    edit.items[.record] = .note("Anna's")
    _ = try adults.anna.emma?.commit([edit])
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let conflicts = emma.children(of: ConflictCopy.folder(of: emma.id))
    #expect(conflicts.count == 1)
    #expect(try emma.bytes(of: "record.md", in: record) == Array("Anna's".utf8))
    #expect(
      try emma.bytes(of: "record.md", in: #require(conflicts.first).record) == Array("Carla's".utf8)
    )
    try expectWhole(adults.anna)
    try expectWhole(adults.carla)
  }

  @Test func aRevokedPersonsLateWritesAreNot() throws {
    let adults = try family()
    try adults.ben.write("Seen")
    try adults.carry(from: adults.ben, to: adults.anna)
    try adults.ben.write("Late")
    try revoke(adults.ben, by: adults.anna)
    try adults.meet()
    #expect(try adults.anna.titles == ["Visit", "Seen"])
    #expect(try adults.carla.titles == ["Visit", "Seen"])
    for adult in [adults.anna, adults.carla] {
      try adult.reopen()
      #expect(try adult.titles == ["Visit", "Seen"])
      #expect(adult.vault.problems.filter { $0.severity > .note } == [])
    }
  }

  @Test func aViewerReadsWhatIsLateUntilSomeoneHasTakenItOver() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Visit")
    try adults.meet()
    try adults.carla.write("Late", "written offline")
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.carry(from: adults.anna, to: adults.ben)
    try adults.carry(from: adults.carla, to: adults.ben)
    #expect(try adults.ben.titles == ["Visit", "Late"])
    #expect(try #require(adults.ben.emma).state.withLock { !$0.manifest.lateEntries.isEmpty })
    try adults.meet()
    #expect(try adults.ben.titles == ["Visit", "Late"])
    #expect(try #require(adults.ben.emma).state.withLock { $0.manifest.lateEntries.isEmpty })
  }

  // MARK: Owners at once

  @Test func twoOwnersWhoRevokeAtOnceAreBothHeeded() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Visit")
    try adults.meet()
    // Anna takes Carla out; Ben does something else at the same time.
    try revoke(adults.carla, by: adults.anna)
    try adults.ben.vault.beginEpoch(of: #require(adults.ben.emma), without: [])
    try adults.anna.write("Anna's")
    try adults.ben.write("Ben's")
    for _ in 0..<2 {
      try adults.meet()
      for owner in [adults.anna, adults.ben] { _ = try owner.vault.tendEpochs().get() }
    }
    try adults.meet()
    for owner in [adults.anna, adults.ben] {
      #expect(try owner.titles == ["Visit", "Anna's", "Ben's"])
      let people = try #require(owner.emma).accesses().map(\.person)
      #expect(Set(people) == [adults.anna.id, adults.ben.id])
      try expectWhole(owner)
    }
    #expect(adults.anna.emma?.epoch == adults.ben.emma?.epoch)
    try adults.carla.reopen()
    #expect(adults.carla.emma == nil)
  }

  @Test func ofTwoOwnersTheSeniorOneAloneTakesTheOtherOut() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Visit")
    try adults.meet()
    do {
      try revoke(adults.anna, by: adults.ben)
      Issue.record("a junior owner took the senior one out")
    } catch let error as VaultError {
      guard case .moreSenior(adults.anna.id, _) = error else { throw error }
    }
    // A program of his that was changed writes the link all the same; nobody heeds it.
    let emma = try #require(adults.ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: adults.ben.id).first)
    let link = try adults.ben.vault.link(
      of: emma, as: seat, [.limit(adults.anna.id, nil, until: 0)])
    try adults.ben.vault.forge(link, into: adults.ben.store)
    try revoke(adults.ben, by: adults.anna)
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      try adult.reopen()
      #expect(adult.emma?.epoch == adults.anna.emma?.epoch)
      #expect(adult.emma?.register.links.access.owners == [adults.anna.id])
      #expect(try adult.titles == ["Visit"])
    }
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
  }

  /// Two owners who have not met: one takes somebody out, and the more senior one takes out that owner. The link that nobody
  /// heeds says who has access since then.
  @Test func whoIsInAgainAsAnOwnersLinkFellIsNamed() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    try revoke(adults.carla, by: adults.ben)
    let fallen = VaultPath.link(
      try #require(adults.ben.emma).id, try #require(adults.ben.emma).epoch)
    try revoke(adults.ben, by: adults.anna)
    try adults.carry(from: adults.ben, to: adults.anna)
    func told() throws -> [Problem] {
      try adults.anna.reopen()
      return adults.anna.problems(at: fallen)
    }
    #expect(try told().map(\.severity) == [.warning])
    #expect(try #require(adults.anna.emma).register.links.access.includes(adults.carla.id))
    let carla = adults.carla.id.shortHex
    #expect(try told().allSatisfy { $0.reason.contains("the access of \(carla), who can read") })
    // She takes her out as well, and there is nobody to name.
    try revoke(adults.carla, by: adults.anna)
    #expect(try told().allSatisfy { !$0.reason.contains(carla) })
  }

  // MARK: Attacks

  /// Ben made the member an owner's, kept every key, and writes whatever he likes into the store.
  @Test func aRevokedOwnersEpochLeadsNobodyBack() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Visit")
    try adults.meet()
    let old = adults.ben.store.imageAfterKill()
    try revoke(adults.ben, by: adults.anna)
    try adults.carry(from: adults.anna, to: adults.carla)
    try adults.carla.write("Secret")
    // He begins epochs that follow the old one, and lets everyone in, so that they take them over for him.
    #expect(adults.ben.store.blobs.count == old.blobs.count)
    for _ in 0..<3 {
      try adults.ben.vault.beginEpoch(of: #require(adults.ben.emma), without: [])
    }
    #expect(adults.ben.emma?.epoch != adults.anna.emma?.epoch)
    let good = try #require(adults.anna.emma).epoch
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    try Replicas.carry(from: adults.ben.store, to: adults.carla.store)
    for adult in [adults.anna, adults.carla] {
      _ = try adult.emma?.refresh()
      try adult.reopen()
      #expect(adult.emma?.epoch == good)
      #expect(try adult.titles.isSubset(of: ["Visit", "Secret"]))
      _ = try adult.emma?.joinConcurrent()
    }
    try adults.meet()
    #expect(adults.anna.emma?.epoch == good)
    #expect(try adults.anna.titles == ["Visit", "Secret"])
    // His own machine learns that he is out.
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
  }

  /// Number 8 of the review, as far as it is about members: a folder that is put back gives nobody access back.
  @Test func aRevocationThatGoesAwayIsPutBackAndTold() throws {
    let adults = try family()
    let before = adults.carla.store.imageAfterKill()
    try revoke(adults.ben, by: adults.anna)
    try adults.carry(from: adults.anna, to: adults.carla)
    try adults.carla.reopen()
    let epoch = try #require(adults.carla.emma).epoch
    let link = VaultPath.link(try #require(adults.carla.emma).id, epoch)
    // Somebody takes every link away that came since.
    let shown = adults.carla.store.imageAfterKill()
    for path in shown.blobs.keys
    where before.blobs[path] == nil && path.string.contains("/links/") { try shown.remove(path) }
    adults.carla.store = shown
    try adults.carla.reopen()
    #expect(adults.carla.problems(at: link).map(\.kind) == [.rollback])
    #expect(adults.carla.store.blobs[BlobPath(link.string)] != nil)
    #expect(adults.carla.emma?.epoch == epoch)
    #expect(adults.carla.emma?.register.links.access.includes(adults.ben.id) == false)
  }

  // MARK: Crashes

  @Test(arguments: [false, true])
  func isWholeAndCanBeGoneOnWithWhereverItIsCut(inState: Bool) throws {
    let whole = try family()
    func store(_ adult: Adults.Adult) -> MemoryStore { inState ? adult.stateStore : adult.store }
    let calls = store(whole.anna).mutatingCallCount
    try revoke(whole.ben, by: whole.anna)
    let count = store(whole.anna).mutatingCallCount - calls
    try #require(count > 2)
    for call in 1...count {
      let adults = try family()
      store(adults.anna).cut(after: call)
      #expect(throws: VaultError.self) { try revoke(adults.ben, by: adults.anna) }
      try adults.anna.reopen()
      let comment: Comment = "cut at call \(call)"
      try expectWhole(adults.anna, comment)
      #expect(try adults.anna.titles == ["Visit"], comment)
      // Others may meet it as it is left.
      try adults.meet()
      _ = try adults.anna.vault.resumeEpochs().get()
      let emma = try #require(adults.anna.emma)
      if try emma.accesses().contains(where: { $0.person == adults.ben.id }) {
        try revoke(adults.ben, by: adults.anna)
      }
      try adults.carla.write("After")
      try adults.meet()
      #expect(try adults.anna.titles == ["Visit", "After"], comment)
      #expect(!emma.register.links.access.includes(adults.ben.id), comment)
      #expect(try adults.anna.vault.interruptedEpochs().get().isEmpty, comment)
      try expectWhole(adults.anna, comment)
      try expectWhole(adults.carla, comment)
      try adults.ben.reopen()
      #expect(adults.ben.emma == nil, comment)
    }
  }
}
