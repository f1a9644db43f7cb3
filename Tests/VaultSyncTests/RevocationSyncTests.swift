import BlobStore
import Glibc
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// New epochs on their way between adults who share nothing but a remote.
@Suite struct RevocationSyncTests {
  /// One adult's folder and open vault.
  private struct Adult {
    let store: MemoryStore
    let vault: Vault

    @discardableResult
    func sync(_ remote: any BlobStore, as name: String = "usb") throws -> SyncReport {
      try RemoteSync(
        vault: vault, remote: remote, name: #require(RemoteName(name)), options: SyncOptions()
      ).run()
    }

    var emma: Member? { vault.members.first { $0.name.string == "Emma" } }

    var titles: Set<String> {
      get throws { Set(try #require(emma).children(of: .root).map(\.title.string)) }
    }

    func write(_ title: String) throws {
      let commit = try #require(emma).commit([.newRecord(title, note: "a note")])
      if let failure = commit.failures.values.first { throw failure }
    }

    func expectWhole(_ comment: Comment? = nil) throws {
      let problems = try vault.check(readsData: true).problems.filter { $0.severity > .note }
      #expect(problems == [], comment)
    }
  }

  private let usb = MemoryStore()
  private let family: Family
  private let anna: Adult
  /// Anna's second device.
  private let annasLaptop: Adult
  private let ben: Adult
  private let carla: Adult

  /// Ben and Carla have joined, Emma has a scan and is shared with both, and everyone has synced.
  init() throws {
    family = try Family(count: 2)
    let desk = Adult(store: family[0].store, vault: family[0].vault)
    anna = desk
    try anna.write("Visit")
    try family[0].commit(
      {
        var edit = RecordEdit.newRecord("Scan")
        edit.items[try #require(FileName("scan.jpg"))] = try .photo(
          "scan.jpg", byteCount: 20 << 20, seed: 1, in: #require(desk.emma))
        return edit
      }())
    try anna.sync(usb)
    annasLaptop = Adult(store: family[1].store, vault: family[1].vault)
    try annasLaptop.sync(usb)
    var joined: [Adult] = []
    for name in ["Ben", "Carla"] {
      let (store, state) = (MemoryStore(), StateFolder(store: MemoryStore()))
      let device = NewDevice(
        personName: name, deviceName: "tablet", deviceKind: "tablet", passwordCost: .floor,
        recoveryCost: .floor)
      let made = try Vault.join(
        anna.vault.invite(),
        in: VaultCopy(id: anna.vault.invite().vault, store: store, state: state, clock: .system),
        device: device, password: SecretBytes(copying: Array("pw".utf8)), words: .random())
      let adult = Adult(
        store: store,
        vault: try Vault.open(
          VaultCopy(id: made.id, store: store, state: state, clock: .system), key: made.unlockKey,
          options: OpenOptions()))
      try adult.sync(usb)
      try anna.sync(usb)
      try anna.vault.share(#require(anna.emma), with: adult.vault.person, role: .editor)
      joined.append(adult)
    }
    (ben, carla) = (joined[0], joined[1])
    try anna.sync(usb)
    for adult in [ben, carla, annasLaptop] { #expect(try adult.sync(usb).problems == []) }
  }

  /// The keys that the objects of Emma on a store name.
  private func keys(on store: MemoryStore) -> Set<KeyID> {
    var keys: Set<KeyID> = []
    for (path, bytes) in store.blobs {
      if case .object? = VaultPath(parsing: path.string), let key = ObjectStore.keyID(of: bytes) {
        keys.insert(key)
      }
    }
    return keys
  }

  private func revokeBen() throws {
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
  }

  /// The first sync after a new epoch is cut short wherever it writes here; the next one brings it to its end, and nothing
  /// of the past is lost.
  /// Of so many records that a clone takes packs: who has them needs none.
  @Test func recordsThatAreHereDoNotComeAgainInPacks() throws {
    let emma = try #require(anna.emma)
    _ = try emma.commit((0..<600).map { .newRecord("Record \($0)", note: "note \($0)") })
    try anna.sync(usb)
    try annasLaptop.sync(usb)
    try revokeBen()
    try anna.sync(usb)
    let report = try annasLaptop.sync(usb)
    #expect(report.problems == [])
    // The lists come anew, and nothing that they name.
    #expect(report.traffic.readByteCount < 300_000, "\(report.traffic.readByteCount)")
    #expect(report.traffic.readCount < 40, "\(report.traffic.readCount)")
    try annasLaptop.expectWhole()
    #expect(keys(on: annasLaptop.store) == [emma.register.keys.current.keyID])
  }

  @Test func aCutWhileEverythingIsPutUnderNewKeysLosesNothing() throws {
    let device = family[1]
    var note = RecordEdit.newRecord("Allergies", note: "first")
    try family[0].commit(note)
    for text in ["second", "third"] {
      note = RecordEdit(record: note.record)
      note.items[.record] = .note(text)
      try family[0].commit(note)
    }
    try anna.sync(usb)
    try device.sync(usb)
    try revokeBen()
    try anna.sync(usb)
    var number = 1
    while true {
      let twin = try device.clone()
      let faulty = FaultyStore(twin.store)
      let vault = try twin.open(on: faulty)
      let remote = usb.imageAfterKill()
      let laptop = Adult(store: twin.store, vault: vault)
      faulty.fail(.create, number: number, andAllLater: true, with: .io(errno: EIO))
      let isCut: Bool
      do {
        isCut = try laptop.sync(remote).untakenHeadCount > 0
      } catch {
        isCut = true
      }
      faulty.failNothing()
      if isCut {
        // A new process goes on.
        try twin.reopen()
        try twin.sync(remote)
      }
      let emma = try #require(twin.vault.members.first { $0.name.string == "Emma" })
      _ = try emma.refresh()
      try twin.vault.removeOldObjects().requireNone()
      #expect(try emma.history(of: note.record).count == 3, "cut at \(number)")
      try twin.expectWhole("cut at \(number)")
      guard isCut else { break }
      number += 1
    }
    #expect(number > 5)
  }

  @Test func aRevocationTravelsAndTheOldFilesGoAwayEverywhere() throws {
    try #require(keys(on: usb).count == 1)
    try revokeBen()
    #expect(try anna.sync(usb).problems == [])
    let emma = try #require(anna.emma)
    #expect(keys(on: anna.store) == [emma.register.keys.current.keyID])
    for adult in [carla, annasLaptop] {
      let report = try adult.sync(usb)
      #expect(report.problems == [])
      // The scan is here, and need not come again.
      #expect(report.traffic.readByteCount < 1 << 20)
      #expect(try adult.titles == ["Visit", "Scan"])
      try adult.expectWhole()
      #expect(keys(on: adult.store) == [emma.register.keys.current.keyID])
    }
    for adult in [anna, carla, annasLaptop, anna] { #expect(try adult.sync(usb).problems == []) }
    #expect(keys(on: usb) == [emma.register.keys.current.keyID])
    // Ben is out, and does not bring the old files back.
    #expect(try ben.sync(usb).problems == [])
    #expect(ben.emma == nil)
    #expect(keys(on: usb) == [emma.register.keys.current.keyID])
    try carla.write("Vaccine")
    #expect(try carla.sync(usb).problems == [])
    #expect(try anna.sync(usb).problems == [])
    #expect(try anna.titles == ["Visit", "Scan", "Vaccine"])
    #expect(try anna.sync(usb).isComplete)
    try anna.expectWhole()
    // A new copy has what there is.
    let again = try anna.sync(MemoryStore(), as: "other")
    #expect(again.problems == [])
  }

  /// What the one who is out had written and synced before goes as well: his list of records is among it.
  @Test func nothingOfWhoIsOutStaysUnderTheOldKey() throws {
    try ben.write("Before")
    for adult in [ben, anna, carla, annasLaptop] { #expect(try adult.sync(usb).problems == []) }
    try revokeBen()
    for adult in [anna, carla, annasLaptop, ben, anna, carla] {
      #expect(try adult.sync(usb).problems == [])
    }
    for adult in [anna, carla, annasLaptop] {
      #expect(try adult.titles == ["Visit", "Scan", "Before"])
      try adult.expectWhole()
      #expect(keys(on: adult.store).count == 1)
    }
    #expect(keys(on: usb).count == 1)
  }

  @Test func aDeviceThatWasAwayBringsWhatItWrote() throws {
    try carla.write("Offline")
    try ben.write("Late")
    try revokeBen()
    try anna.sync(usb)
    for adult in [ben, carla, anna, annasLaptop, carla] {
      #expect(try adult.sync(usb).problems == [])
    }
    for adult in [anna, carla, annasLaptop] {
      #expect(try adult.titles == ["Visit", "Scan", "Offline"])
      try adult.expectWhole()
    }
    for adult in [anna, carla, annasLaptop] { #expect(try adult.sync(usb).problems == []) }
    #expect(keys(on: usb).count == 1)
  }

  @Test func whatCameToTheRemoteBeforeTheRevocationIsTakenOver() throws {
    try carla.write("Offline")
    try revokeBen()
    // Carla's gets there first, and she does not come back.
    try carla.sync(usb)
    #expect(try anna.sync(usb).problems == [])
    #expect(try annasLaptop.sync(usb).problems == [])
    for adult in [anna, annasLaptop] {
      #expect(try adult.titles == ["Visit", "Scan", "Offline"])
      try adult.expectWhole()
    }
  }

  @Test func whoeverWasRevokedDoesNotLeadTheRemoteBack() throws {
    let before = ben.store.blobs
    try revokeBen()
    try anna.sync(usb)
    try carla.sync(usb)
    // He writes with a changed program, and puts everything that he has on the remote.
    let emma = try #require(ben.emma)
    _ = try emma.commit([.newRecord("Mine")])
    for (path, bytes) in before.merging(ben.store.blobs, uniquingKeysWith: { $1 })
    where path.string.hasPrefix("members/") && !path.string.contains("/heads/") {
      try usb.replace(path, bytes, durably: false)
    }
    let head = BlobPath(VaultPath.head(emma.id, ben.vault.device).string)
    try usb.replace(head, #require(ben.store.blobs[head]), durably: false)
    for adult in [anna, carla, annasLaptop] {
      #expect(try adult.sync(usb).problems == [])
      #expect(try adult.titles == ["Visit", "Scan"])
      try adult.expectWhole()
    }
  }

  @Test func aShareThatHasEndedIsTakenAwayByAnOwnersSync() throws {
    let emma = try #require(anna.emma)
    let until = family[0].clock.milliseconds() + 1
    try anna.vault.beginEpoch(of: emma, without: [ben.vault.person])
    try anna.vault.share(emma, with: ben.vault.person, role: .viewer, until: until)
    while family[0].clock.milliseconds() < until {}
    let recording = RecordingStore(usb)
    let report = try anna.sync(recording)
    #expect(report.revocations.map(\.expired) == [[ben.vault.person]])
    // The remote is not listed anew because there are new links here.
    #expect(recording.calls(.read).count { $0.path.string == "vault.json" } == 1)
    #expect(report.problems == [])
    #expect(try emma.accesses().contains { $0.person == ben.vault.person } == false)
    #expect(try anna.sync(usb).revocations == [])
  }

  @Test(arguments: [false, true])
  func ofTwoEpochsBegunAtOnceEachSideReadsTheOther(isLaptopFirst: Bool) throws {
    let (first, second) = isLaptopFirst ? (annasLaptop, anna) : (anna, annasLaptop)
    try first.vault.beginEpoch(of: #require(first.emma), without: [ben.vault.person])
    try first.write("First")
    try second.vault.beginEpoch(of: #require(second.emma), without: [carla.vault.person])
    try second.write("Second")
    for adult in [first, second, first, second] { #expect(try adult.sync(usb).problems == []) }
    for adult in [first, second] {
      #expect(try adult.titles == ["Visit", "Scan", "First", "Second"])
      #expect(try #require(adult.emma).accesses().map(\.person) == [anna.vault.person])
      try adult.expectWhole()
    }
  }

  @Test func aShareGivenDuringARevocationIsGivenAgain() throws {
    // Ben knows nothing of the revocation yet when he shares.
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .owner)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.vault.person])
    for adult in [anna, ben] { try adult.sync(usb) }
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [])
    try ben.vault.share(#require(ben.emma), with: carla.vault.person, role: .viewer)
    try anna.sync(usb)
    let report = try ben.sync(usb)
    #expect(report.problems == [])
    #expect(report.revocations.map(\.givenAgain) == [[carla.vault.person]])
    for adult in [anna, carla] { #expect(try adult.sync(usb).problems == []) }
    #expect(try carla.titles == ["Visit", "Scan"])
    #expect(
      try #require(anna.emma).accesses().first { $0.person == carla.vault.person }?.role == .viewer)
    #expect(try ben.sync(usb).revocations == [])
  }

  @Test func aSyncThatIsCutAnywhereIsGoneOnWith() throws {
    try revokeBen()
    var number = 1
    while true {
      let remote = usb.imageAfterKill()
      remote.cut(after: number)
      do {
        try anna.sync(remote)
        #expect(number > 20)
        return
      } catch {}
      let left = remote.imageAfterKill()
      // Whoever meets it as it is left goes on with what there is.
      #expect(try annasLaptop.sync(left).problems.filter { $0.severity == .damage } == [])
      #expect(try annasLaptop.titles == ["Visit", "Scan"])
      try annasLaptop.expectWhole("cut at call \(number)")
      number += number < 12 ? 1 : 9
    }
  }
}
