import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// A new machine that is approved from one already trusted, without the 24 words.
@Suite struct ApprovalTests {
  private let usb = MemoryStore()
  private let store = MemoryStore()
  private let state = StateFolder(store: MemoryStore())

  /// A device with a note, which has synced; and the people's files in a new machine's folder.
  private func prepared() throws -> Family {
    let family = try Family(count: 1)
    try family[0].write("Visit", "first")
    try family[0].sync(usb)
    try fetchPeople()
    return family
  }

  private func fetchPeople() throws {
    for (path, bytes) in usb.blobs where path.string.hasPrefix("people/") {
      try store.replace(path, bytes, durably: true)
    }
  }

  private func ask(
    _ family: Family, _ words: borrowing ApprovalWords
  ) throws -> PendingDevice {
    let pending = try PendingDevice.begin(
      VaultCopy(id: family[0].vault.id, store: store, state: state, clock: .system), words: words,
      device: Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)))
    for (path, bytes) in pending.requests { try usb.put(BlobPath(path.string), bytes) }
    return pending
  }

  @Test func aMachineThatKnowsTheWordsBecomesADevice() throws {
    let family = try prepared()
    let vault = family[0].vault
    let words = ApprovalWords.random(for: vault.person)
    let typed = try ApprovalWords(parsing: words.words.joined(separator: " ").uppercased())
    let pending = try ask(family, typed)
    #expect(try !pending.finish())
    let key = try vault.approvalKey(of: words)
    #expect(try vault.requests(with: key).isEmpty)
    #expect(try family[0].sync(usb).problems == [])
    let requests = try vault.requests(with: key)
    #expect(requests.map(\.id) == pending.ids)
    #expect(requests.first?.name == "desk")
    try vault.approve(#require(requests.first), with: key)
    #expect(try vault.requests(with: key).isEmpty)
    #expect(try family[0].sync(usb).problems == [])

    try fetchPeople()
    let id = try #require(pending.ids.first)
    #expect(try pending.finish())
    let new = try Vault.open(
      VaultCopy(id: vault.id, store: store, state: state, clock: .system),
      key: pending.takeUnlockKey(), options: OpenOptions())
    let report = try RemoteSync(
      vault: new, remote: usb, name: #require(RemoteName("usb")), options: SyncOptions()
    ).run()
    #expect(report.problems == [])
    #expect(new.device == id)
    #expect(new.person == vault.person)
    #expect(try #require(new.members.first).record(titled: "Visit") != nil)
    let commit = try #require(new.members.first).commit([.newRecord("Mine", note: "m")])
    #expect(commit.failures.isEmpty)
    _ = try RemoteSync(
      vault: new, remote: usb, name: #require(RemoteName("usb")), options: SyncOptions()
    ).run()
    #expect(try family[0].sync(usb).problems == [])
    #expect(try family[0].emma.record(titled: "Mine") != nil)
    #expect(try vault.devices().count == 2)
  }

  @Test func aMachineWithOtherWordsIsNotShown() throws {
    let family = try prepared()
    let vault = family[0].vault
    let pending = try ask(family, .random(for: vault.person))
    try family[0].sync(usb)
    #expect(family[0].store.blobs[BlobPath(pending.requests[0].path.string)] != nil)
    let others = ApprovalWords.random(for: vault.person)
    let key = try vault.approvalKey(of: others)
    #expect(try vault.requests(with: key).isEmpty)
  }

  /// What someone writes who has made up the whole vault: they can certify anyone, and do not know the words.
  private func forgeApproval(
    of device: DeviceID, by vault: Vault, with key: SealingKey?
  ) throws {
    let own = try vault.context.ownPerson()
    let generation = try #require(own.generation)
    let files = SignedFiles(store: store, binding: vault.context.binding)
    let signer = vault.context.device
    let master = try files.openMaster(generation, of: own, device: signer, PeopleMemory())
    let request = try DeviceRequestBody.load(device, person: vault.person, files: files)
    let enrolment = DeviceEnrolment(
      copy: VaultCopy(id: vault.id, store: store, state: state, clock: .system),
      person: vault.person)
    try enrolment.certify(
      PublicDevice(request), master: master, generation: generation,
      approval: DeviceEnrolment.Approval(
        approver: vault.context.ownCertificate().id,
        shown: key.map { files.sealApproval(with: $0, vault.person, device) })
    ) { signer.signingKey.sign($0) }
  }

  @Test func aCertificateOfSomeoneWhoDoesNotKnowTheWordsIsNotTaken() throws {
    let family = try prepared()
    let vault = family[0].vault
    let words = ApprovalWords.random(for: vault.person)
    let others = ApprovalWords.random(for: vault.person)
    let pending = try ask(family, words)
    try forgeApproval(of: pending.ids[0], by: vault, with: nil)
    #expect(throws: VaultError.self) { try pending.finish() }
    try forgeApproval(of: pending.ids[0], by: vault, with: vault.approvalKey(of: others))
    #expect(throws: VaultError.self) { try pending.finish() }
    try forgeApproval(of: pending.ids[0], by: vault, with: vault.approvalKey(of: words))
    #expect(try pending.finish())
  }

  @Test func wordsForAnotherVaultAreToldAtOnce() throws {
    let family = try prepared()
    let other = PersonID.random()
    var words = ApprovalWords.random(for: other)
    while words.mayBe(for: family[0].vault.person) { words = .random(for: other) }
    do {
      _ = try ask(family, words)
      Issue.record("they are taken")
    } catch VaultError.wrongWords {
      #expect(try !state.hasDevice())
    }
  }

  @Test func whoStoppedBeforeApprovalAsksAgain() throws {
    let family = try prepared()
    let vault = family[0].vault
    let words = ApprovalWords.random(for: vault.person)
    let first = try ask(family, words).ids
    let second = try ask(family, words)
    #expect(first != second.ids)
    try family[0].sync(usb)
    let key = try vault.approvalKey(of: words)
    let requests = try vault.requests(with: key)
    #expect(Set(requests.map(\.id)) == Set(first + second.ids))
    try vault.approve(#require(requests.first { second.ids.contains($0.id) }), with: key)
    try family[0].sync(usb)
    try fetchPeople()
    #expect(try second.finish())
  }

  /// The words of somebody, and what those of somebody else give, whose ids begin with the same two bytes.
  private func alike(in vault: VaultID) throws -> (words: [String], other: MadeUp.Key) {
    var known: [[UInt8]: [String]] = [:]
    for _ in 0..<600 {
      let words = RecoveryWords.random()
      let root = words.rootSigningKey(binding: Binding(vault: vault))
      let id = PersonID(rootPublicKey: root.publicKey)
      known[Array(id.bytes.prefix(2))] = words.words
    }
    while true {
      let other = MadeUp.Key()
      let id = PersonID(rootPublicKey: other.key.publicKey)
      if let words = known[Array(id.bytes.prefix(2))] { return (words, other) }
    }
  }

  /// Anybody can make people up whose ids begin as somebody's. The words do not say how that one's does.
  @Test func whoseIdBeginsAlikeIsNotAsked() throws {
    let family = try prepared()
    let anna = family[0].vault
    let (text, root) = try alike(in: anna.id)
    let carla = try SyncingAdult(
      joining: anna.invite(), as: "Carla",
      words: RecoveryWords(parsing: text.joined(separator: " ")))
    try carla.sync(usb)
    let person = carla.vault.person
    let mallory = try MadeUp(vault: anna.id, store: usb).person(root)
    try #require(mallory.id.bytes.prefix(2) == person.bytes.prefix(2))
    try fetchPeople()
    var words = ApprovalWords.random(for: person)
    while words.mayBe(for: mallory.id) || words.mayBe(for: anna.person) {
      words = .random(for: person)
    }
    let pending = try ask(family, words)
    let (asked, ids) = (pending.requests.map(\.path), pending.ids)
    #expect(ids.count == 1)
    #expect(asked == ids.map { VaultPath.deviceRequest(person, $0) })
  }

  /// Words of the person that may be for somebody made up as well.
  private func wordsForTwo(_ person: PersonID) -> (words: [String], other: MadeUp.Key) {
    let others = (0..<256).map { _ in MadeUp.Key() }
    let ids = others.map { PersonID(rootPublicKey: $0.key.publicKey) }
    while true {
      let words = ApprovalWords.random(for: person)
      for (id, other) in zip(ids, others) where words.mayBe(for: id) {
        return (words.words, other)
      }
    }
  }

  /// They take who asks them for a device of theirs, and do not know the words.
  @Test func forWhomTheWordsMayBeByChanceKeepsNobodyOut() throws {
    let family = try prepared()
    let vault = family[0].vault
    let (text, root) = wordsForTwo(vault.person)
    let words = try ApprovalWords(parsing: text.joined(separator: " "))
    let made = MadeUp(vault: vault.id, store: usb)
    let mallory = try made.person(root)
    try fetchPeople()
    let pending = try ask(family, words)
    let (asked, ids) = (pending.requests.map(\.path), Set(pending.ids))
    try #require(asked.count == 2 && ids.count == 2)
    for case .deviceRequest(mallory.id, let device) in asked {
      try made.certify(device, of: mallory, root)
    }
    try fetchPeople()
    #expect(try !pending.finish())
    #expect(try !state.hasDevice())
    try family[0].sync(usb)
    let key = try vault.approvalKey(of: words)
    let requests = try vault.requests(with: key)
    try #require(requests.count == 1)
    try vault.approve(requests[0], with: key)
    try family[0].sync(usb)
    try fetchPeople()
    #expect(try pending.finish())
    let new = try Vault.open(
      VaultCopy(id: vault.id, store: store, state: state, clock: .system),
      key: pending.takeUnlockKey(), options: OpenOptions())
    #expect(new.person == vault.person && new.device == requests[0].id)
  }

  @Test func aMistypedWordIsNoticed() throws {
    let person = PersonID.random()
    var noticed = 0
    for _ in 0..<20 {
      var words = ApprovalWords.random(for: person).words
      words[3] = words[3] == "zoo" ? "abandon" : "zoo"
      do { _ = try ApprovalWords(parsing: words.joined(separator: " ")) } catch {
        #expect(error == .badChecksum)
        noticed += 1
      }
    }
    // Each of them escapes with one in 256.
    #expect(noticed >= 17)
    #expect(throws: WordsError.wrongCount(found: 7, expected: 8)) {
      _ = try ApprovalWords(
        parsing: ApprovalWords.random(for: person).words.dropLast().joined(separator: " "))
    }
  }
}
