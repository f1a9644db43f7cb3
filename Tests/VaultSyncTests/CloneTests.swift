import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// A new machine that has a remote, an empty folder and the 24 words.
@Suite struct CloneTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family(count: 1)
    let note = try family[0].write("Visit", "all well")
    var edit = RecordEdit(record: note)
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 2 << 20, seed: 3, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
  }

  @Test func theWordsAndARemoteMakeAWholeCopy() throws {
    let (store, state) = (MemoryStore(), StateFolder(store: MemoryStore()))
    let beginning = try VaultClone.begin(from: usb, into: store, called: "Family")
    #expect(beginning.vault == family[0].vault.id)
    #expect(beginning.personCount == 1)
    #expect(beginning.problems == [])
    // Whoever stops here begins again.
    _ = try VaultClone.begin(from: usb, into: store, called: "Family")
    let key = try Vault.recover(
      VaultCopy(id: beginning.vault, store: store, state: state, clock: .system),
      words: Family.words.words, device: Family.newDevice,
      password: SecretBytes(copying: Array("pw".utf8)))
    let vault = try Vault.open(
      VaultCopy(id: beginning.vault, store: store, state: state, clock: .system), key: key,
      options: OpenOptions())
    let name = try #require(RemoteName("usb"))
    let report = try RemoteSync(vault: vault, remote: usb, name: name).run()
    #expect(report.problems == [])
    #expect(report.isComplete)
    #expect(vault.members.map(\.name.string) == ["Emma"])
    #expect(vault.members.first?.record(titled: "Visit") != nil)
    let problems = try vault.check(readsData: true).problems.filter { $0.severity > .note }
    #expect(problems == [])
    // The others learn of the new machine, and take what it writes.
    let edit = RecordEdit.newRecord("From the new machine")
    _ = try vault.members.first?.commit([edit])
    _ = try RemoteSync(vault: vault, remote: usb, name: name).run()
    try family[0].sync(usb)
    #expect(try family[0].emma.entry(edit.record) != nil)
  }

  /// Another sync may bring what a stick does not give just now. What is gone there is not waited for: anybody can name that.
  @Test func whatCouldNotBeReadJustNowMayStillCome() throws {
    let (family, usb) = (try Family(), MemoryStore())
    let (desk, laptop) = (family[0], family[1])
    let note = try desk.write("Visit", "all well")
    try desk.sync(usb)
    let emma = try desk.emma
    let revision = try #require(emma.entry(note)).revision
    let entry = BlobPath(emma.objects.vaultPath(of: revision).string)
    let head = BlobPath(VaultPath.head(emma.id, desk.vault.device).string)
    let failing = UnreadableStore(usb)
    for refused in [head, entry] {
      failing.refuse([refused])
      #expect(try laptop.sync(failing).mayBringMore)
    }
    failing.refuse([])
    let whole = try #require(usb.blobs[entry])
    try usb.remove(entry)
    let lost = try laptop.sync(failing)
    #expect(lost.untakenHeadCount > 0 && !lost.mayBringMore)
    try usb.put(entry, whole)
    #expect(try !laptop.sync(failing).mayBringMore)
    #expect(try laptop.emma.entry(note) != nil)
  }

  /// The clone before was cut off when it had written more of what its device says of itself than the remote has.
  @Test func whoeverBeginsAgainKeepsTheNewerRegisterOfTheMachine() throws {
    let desk = family[0]
    desk.vault.audit.note(.read, detail: "x")
    try desk.vault.audit.publish()
    let register = BlobPath(VaultPath.device(desk.vault.person, desk.vault.device).string)
    let newer = try desk.store.read(register, limit: 1 << 16)
    #expect(usb.blobs[register] != newer)
    _ = try VaultClone.begin(from: usb, into: desk.store, called: "Family")
    #expect(try desk.store.read(register, limit: 1 << 16) == newer)
    // What does not hold keeps nothing away that does.
    try desk.store.replace(register, [1], durably: true)
    _ = try VaultClone.begin(from: usb, into: desk.store, called: "Family")
    #expect(try desk.store.read(register, limit: 1 << 16) == usb.blobs[register])
  }

  private func peoplesFiles(of store: MemoryStore) -> [BlobPath: [UInt8]] {
    store.blobs.filter { $0.key.string.hasPrefix("people/") }
  }

  /// A store with 50,000 files of 1 MiB: it is said, who is not concerned comes, and 64 MiB at most were in memory.
  @Test func whoHasFilledAStoreKeepsNobodyElseOut() throws {
    for takesStrangers in [false, true] {
      let hostile = HeavyStore(usb, fileCount: 50_000)
      let store = MemoryStore()
      let beginning = try VaultClone.begin(
        from: hostile, into: store, called: "Family", CloneOrder(takesStrangers: takesStrangers))
      #expect(hostile.readCount <= 64)
      #expect(beginning.personCount == 1)
      #expect(beginning.problems.contains { $0.kind == .tooMuchNew })
      #expect(beginning.problems.contains { $0.kind == .strangers } == !takesStrangers)
      #expect(peoplesFiles(of: store) == peoplesFiles(of: usb))
    }
  }

  /// Closings that do not hold are in the folder of the very person: what counts of them comes all the same, if they are known
  /// or everyone is taken.
  @Test func whoseFolderSomebodyHasFilledComes() throws {
    let person = family[0].vault.person
    for order in [CloneOrder(known: [person]), CloneOrder(takesStrangers: true)] {
      let hostile = HeavyStore(usb, fileCount: 50_000, of: person)
      let store = MemoryStore()
      let beginning = try VaultClone.begin(from: hostile, into: store, called: "Family", order)
      #expect(hostile.readCount <= 64)
      #expect(beginning.personCount == 1)
      #expect(peoplesFiles(of: store) == peoplesFiles(of: usb))
    }
    // Of somebody of whom nothing is known everything comes, or nothing.
    let store = MemoryStore()
    let hostile = HeavyStore(usb, fileCount: 50_000, of: person)
    let beginning = try VaultClone.begin(from: hostile, into: store, called: "Family")
    #expect(beginning.problems.contains { $0.kind == .strangers && $0.text.contains("--all") })
    #expect(peoplesFiles(of: store).isEmpty)
  }

  /// Nobody is there besides what was put there to fill it.
  @Test func aStoreWithNothingButWhatFillsItIsRefused() throws {
    for path in peoplesFiles(of: usb).keys { try usb.remove(path) }
    let store = MemoryStore()
    do throws(SyncError) {
      _ = try VaultClone.begin(
        from: HeavyStore(usb, fileCount: 50_000), into: store, called: "Family")
      Issue.record("it was taken")
    } catch {
      guard case .tooManyPeople(let count) = error else { throw error }
      #expect(count == 50_000)
    }
    #expect(store.blobs.isEmpty)
  }

  /// More folders lie in `people` than are listed: who has sent an invitation is found by name.
  @Test func whoIsKnownIsFoundInACrowdedFolder() throws {
    let store = MemoryStore()
    let order = CloneOrder(known: [family[0].vault.person])
    let beginning = try VaultClone.begin(
      from: ListingStore.crowding(of: usb), into: store, called: "Family", order)
    #expect(beginning.personCount == 1)
    #expect(beginning.problems == [.crowdedPeople])
    #expect(peoplesFiles(of: store) == peoplesFiles(of: usb))
  }

  @Test func whereNobodyIsFoundInACrowdedFolderTheWayOutIsSaid() throws {
    let person = family[0].vault.person
    let orders: [(order: CloneOrder, crowded: Set<BlobPath>)] = [
      (CloneOrder(), ["people"]),
      (CloneOrder(takesStrangers: true), ["people"]),
      (CloneOrder(known: [.random()]), ["people"]),
      (CloneOrder(known: [person]), ["people", BlobPath("people/\(person.hex)")]),
    ]
    for (order, crowded) in orders {
      let store = MemoryStore()
      do throws(SyncError) {
        _ = try VaultClone.begin(
          from: ListingStore.crowding(crowded, of: usb), into: store, called: "Family", order)
        Issue.record("it was taken")
      } catch {
        guard case .crowdedPeople = error else { throw error }
        #expect(error.message.contains("kinvault people list --all"))
      }
      #expect(store.blobs.isEmpty)
    }
  }

  @Test func asManyFilesAsFitAreLookedAt() throws {
    let store = MemoryStore()
    // As many as fit are looked at, and left.
    let beginning = try VaultClone.begin(
      from: HeavyStore(usb, fileCount: 32), into: store, called: "Family")
    #expect(beginning.personCount == 1)
    #expect(beginning.problems.count == 32)
  }

  /// Its folder is gone, and what it remembers of the remote is not.
  @Test func aMachineThatKnewTheVaultGetsAWholeCopyAgain() throws {
    try family[0].sync(usb)
    let store = MemoryStore()
    _ = try VaultClone.begin(from: usb, into: store, called: "Family")
    let vault = try family[0].open(on: store, OpenOptions(acceptRollback: true))
    let name = try #require(RemoteName("usb"))
    let report = try RemoteSync(vault: vault, remote: usb, name: name).run()
    #expect(report.problems == [])
    #expect(vault.members.map(\.name.string) == ["Emma"])
    let problems = try vault.check(readsData: true).problems.filter { $0.severity > .note }
    #expect(problems == [])
  }

  @Test func aFolderWithSomethingInItIsLeftAlone() throws {
    let store = MemoryStore()
    try store.replace("holiday.jpg", [1], durably: true)
    #expect(throws: SyncError.self) {
      try VaultClone.begin(from: usb, into: store, called: "Family")
    }
    #expect(store.blobs.count == 1)
  }

  @Test func aRemoteWithoutAVaultSaysSo() throws {
    do {
      _ = try VaultClone.begin(from: MemoryStore(), into: MemoryStore(), called: "Family")
      Issue.record("an empty store was cloned")
    } catch {
      guard case .noVault = error else { throw error }
    }
  }

  @Test func aClosingThatIsNotItsPersonsIsNotTaken() throws {
    let closing = try #require(usb.blobs.keys.first { $0.parent?.name == "closings" })
    var bytes = try #require(usb.blobs[closing])
    bytes[bytes.count / 2] ^= 1
    try usb.put(closing, bytes)
    #expect(throws: SyncError.self) {
      try VaultClone.begin(from: usb, into: MemoryStore(), called: "Family")
    }
  }
}
