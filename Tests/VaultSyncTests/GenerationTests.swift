import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// New generations of a person's keys: devices that are removed, and words that are replaced.
@Suite struct GenerationTests {
  private let usb = MemoryStore()

  /// Three devices of one person that have met.
  private func prepared(at remote: MemoryStore? = nil) throws -> Family {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: remote ?? usb)
    return family
  }

  private func remove(_ devices: [Family.Device], by device: Family.Device) throws {
    try device.vault.beginGeneration(
      removing: Set(devices.map(\.vault.device)), words: Family.words.words)
  }

  @Test func theDevicesThatStayGoOnWithoutTypingAnything() throws {
    let family = try prepared()
    try remove([family[2]], by: family[0])
    try family[0].write("After", "a")
    try family[0].sync(usb)
    // One that is running, and then one that is opened anew.
    #expect(try family[1].sync(usb).problems == [])
    try family[1].write("Mine", "b")
    try family[1].sync(usb)
    try family[1].reopen()
    try family[1].write("Mine too", "c")
    try family[1].sync(usb)
    #expect(try family[0].sync(usb).problems == [])
    #expect(try family[0].contents() == family[1].contents())
    #expect(try family[0].contents().keys.contains { $0.hasPrefix("Emma/Mine too") })
    try family[0].expectWhole()
    try family[1].expectWhole()
  }

  /// The wraps of the new keys were written, and the closing was not.
  @Test func whatAChangeThatWasCutShortHasLeftIsNoDamage() throws {
    let family = try prepared()
    let cut = try family[0].clone()
    try remove([family[2]], by: cut)
    var left: [BlobPath] = []
    for (path, bytes) in cut.store.blobs where family[0].store.blobs[path] == nil {
      guard case .wrap? = VaultPath(parsing: path.string) else { continue }
      try family[0].store.replace(path, bytes, durably: true)
      left.append(path)
    }
    #expect(!left.isEmpty)
    try family[0].reopen()
    for _ in 0..<2 { #expect(try family[0].sync(usb).problems == []) }
    // The next one is made as ever.
    try remove([family[2]], by: family[0])
    for device in family.devices.prefix(2) {
      let told = try device.sync(usb).problems
      #expect(!told.contains { $0.path.contains("/wraps/") })
    }
    #expect(family[1].vault.context.keys.generation == family[0].vault.context.keys.generation)
    #expect(left.allSatisfy { usb.blobs[$0] == nil })
  }

  /// What a machine wrote at last another one has taken over under new keys, and its old objects are gone: it shows also to
  /// who had met only an earlier head of that machine, which does not come again.
  @Test func whatWasTakenOverShowsToWhoHasMetLess() throws {
    let family = try prepared()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try remove([], by: family[1])
    try family[1].vault.beginEpoch(of: family[1].emma, without: [])
    try family[1].vault.removeOldObjects().requireNone()
    try family[0].write("Last", "the last words")
    for device in [family[0], family[1], family[1]] { try device.sync(usb) }
    #expect(try family[2].sync(usb).problems.filter { $0.severity > .note } == [])
    for _ in 0..<2 {
      #expect(try family[2].contents().values.contains("the last words"))
      try family[2].expectWhole()
      try family[2].reopen()
    }
    #expect(try family[2].sync(usb).pulled.isEmpty)
  }

  @Test func aRemovedDeviceIsToldSo() throws {
    let family = try prepared()
    try remove([family[2]], by: family[0])
    try family[0].sync(usb)
    do {
      try family[2].sync(usb)
      Issue.record("it syncs")
    } catch SyncError.vault(.thisDeviceRemoved(let time)) {
      #expect(time > 0)
    }
    // The program that runs.
    #expect(throws: VaultError.self) { try family[2].write("Late", "x") }
    guard case .thisDeviceRemoved = family[2].vault.context.removal else {
      Issue.record("it does not know")
      return
    }
    // The next one.
    do {
      try family[2].reopen()
      Issue.record("it opens")
    } catch VaultError.thisDeviceRemoved(let time) {
      #expect(time > 0)
    }
  }

  @Test func whatARemovedDeviceWroteBeforeStaysAndWhatItWritesLaterDoesNotCount() throws {
    let family = try prepared()
    try family[2].write("Before", "b")
    try family[2].sync(usb)
    try family[0].sync(usb)
    try remove([family[2]], by: family[0])
    try family[0].sync(usb)
    // It has not heard of it, writes, and pushes with a client that does not look first.
    try family[2].write("Late", "l")
    for (path, bytes) in family[2].store.blobs
    where path.string.hasPrefix("members/") && usb.blobs[path] != bytes {
      if path.string.contains("/objects/") || path.string.hasSuffix(family[2].vault.device.hex) {
        try usb.put(path, bytes)
      }
    }
    let head = VaultPath.head(try family[0].emma.id, family[2].vault.device)
    for device in [family[0], family[1]] {
      let knew = device === family[0]
      let report = try device.sync(usb)
      // Only who knew of the removal before can tell that this was written after it.
      #expect(
        report.problems.filter { $0.severity != .note }.map(\.path)
          == (knew ? [head.string] : []))
      let shown = try device.contents().keys
      #expect(shown.contains { $0.hasPrefix("Emma/Before") })
      #expect(!shown.contains { $0.hasPrefix("Emma/Late") })
      try device.expectWhole()
    }
    try family[0].reopen()
    let check = try family[0].vault.check(readsData: false)
    #expect(check.problems.contains { $0.kind == .removedDevice && $0.path == head.string })
  }

  @Test func whoComesLaterHasEverything() throws {
    let family = try prepared()
    try family[2].write("Before", "b")
    try family[2].sync(usb)
    try family[0].sync(usb)
    try remove([family[2]], by: family[0])
    try family[0].sync(usb)
    let (store, state) = (MemoryStore(), StateFolder(store: MemoryStore()))
    for (path, bytes) in usb.blobs where path.string.hasPrefix("people/") {
      try store.replace(path, bytes, durably: true)
    }
    let password = SecretBytes(copying: Array("pw".utf8))
    let key = try Vault.recover(
      VaultCopy(id: family[0].vault.id, store: store, state: state, clock: .system),
      words: Family.words.words, device: Family.newDevice, password: password)
    let vault = try Vault.open(
      VaultCopy(id: family[0].vault.id, store: store, state: state, clock: .system), key: key,
      options: OpenOptions())
    let report = try RemoteSync(
      vault: vault, remote: usb, name: #require(RemoteName("usb")), options: SyncOptions()
    ).run()
    #expect(report.problems.allSatisfy { $0.severity == .note })
    let emma = try #require(vault.members.first)
    #expect(emma.record(titled: "Before") != nil)
    #expect(try vault.personalProfile().name == "Adult A")
  }

  @Test func theAuditLogOfAllGenerationsStaysReadable() throws {
    let family = try prepared()
    family[2].vault.audit.note(.export, detail: "by the one that is removed")
    try family[2].vault.audit.publish()
    try family[2].sync(usb) { $0.looksEverywhere = true }
    family[0].vault.audit.note(.export, detail: "before")
    try family[0].vault.audit.publish()
    try family[0].sync(usb) { $0.looksEverywhere = true }
    try remove([family[2]], by: family[0])
    family[0].vault.audit.note(.export, detail: "after")
    try family[0].vault.audit.publish()
    let (events, problems) = try family[0].vault.audit.read()
    #expect(problems == [])
    let details = Set(events.map(\.event.detail))
    #expect(details.isSuperset(of: ["before", "after", "by the one that is removed"]))
  }

  @Test func openInvitationsAreWithdrawn() throws {
    let family = try prepared()
    let invitation = try family[0].vault.invite()
    try remove([family[2]], by: family[0])
    let open = try family[0].vault.personalProfile().invitations
    #expect(open.count == 1)
    #expect(open.allSatisfy { $0.secret == nil })
    let id = InvitationSecret(invitation.secret).id(binding: family[0].vault.context.binding)
    #expect(open.first?.id == id)
  }

  @Test func otherWordsRemoveNobody() throws {
    let family = try prepared()
    let others = RecoveryWords.random()
    do {
      try family[0].vault.beginGeneration(
        removing: [family[2].vault.device], words: others)
      Issue.record("any words will do")
    } catch VaultError.wrongWords {
      #expect(try family[0].vault.devices().count == 3)
    }
  }

  // MARK: Words

  @Test func replacedWordsAreDeadAndTheNewOnesOpen() throws {
    let family = try prepared()
    let new = RecoveryWords.random()
    try family[0].vault.replaceWords(Family.words.words, with: new)
    try family[0].vault.testWords(new)
    #expect(throws: VaultError.self) { try family[0].vault.testWords(Family.words.words) }
    try family[0].sync(usb)
    #expect(try family[1].sync(usb).problems == [])
    try family[1].reopen()
    #expect(family[1].vault.person == family[0].vault.person)
    try family[1].write("Goes on", "g")

    let password = SecretBytes(copying: Array("pw".utf8))
    func recover(_ words: borrowing RecoveryWords) throws {
      let store = MemoryStore()
      for (path, bytes) in usb.blobs where path.string.hasPrefix("people/") {
        try store.replace(path, bytes, durably: true)
      }
      _ = try Vault.recover(
        VaultCopy(
          id: family[0].vault.id, store: store, state: StateFolder(store: MemoryStore()),
          clock: .system), words: words, device: Family.newDevice, password: password)
    }
    try recover(new)
    do {
      try recover(Family.words.words)
      Issue.record("the old words open it")
    } catch VaultError.replacedWords(let time) {
      #expect(time > 0)
    }
    // And once more.
    let newest = RecoveryWords.random()
    try family[0].vault.replaceWords(new, with: newest)
    try family[0].vault.testWords(newest)
    #expect(throws: VaultError.self) {
      try family[0].vault.beginGeneration(removing: [family[2].vault.device], words: new)
    }
  }

  /// A closing as someone makes it who found the old paper: with keys of their own, and without any device.
  private func forged(over family: Family) throws -> (path: VaultPath, bytes: [UInt8]) {
    let vault = family[0].vault
    let own = try vault.context.ownPerson()
    let binding = vault.context.binding
    let key = try Family.words.words.rootSigningKey(binding: binding)
    let first = try #require(own.history.valid.first { $0.value.follows.isEmpty })
    let closing = Closing(
      person: own.id, follows: [first.key], rootKey: try #require(VerifyingKey(key.publicKey)),
      agreementKey: MasterKey.random().agreementKey(binding: binding).publicKey,
      recovery: first.value.recovery, past: [[UInt8](repeating: 0, count: 40)], time: 9)
    let body = closing.encoded()
    return (
      .closing(own.id, binding.vault.statementID(.closing, body: body)),
      vault.context.signedFiles.statement(.closing, body) { key.sign($0) }
    )
  }

  private func expectShadowed(_ path: VaultPath, on device: Family.Device) throws {
    try device.reopen()
    let own = try device.vault.context.ownPerson()
    #expect(own.generation != nil && own.devices.count == 3)
    guard case .closing(_, let id) = path else { return }
    #expect(own.history.shadowed == [id])
    #expect(
      device.vault.problems.contains { $0.path == path.string && $0.severity == .warning })
    try device.write("Goes on", "g")
  }

  @Test func aClosingThatTheOldWordsSignDoesNotCountFromARemote() throws {
    let family = try prepared()
    try family[0].vault.replaceWords(Family.words.words, with: .random())
    try family[0].sync(usb)
    try family[1].sync(usb)
    let (path, bytes) = try forged(over: family)
    try usb.put(BlobPath(path.string), bytes)
    try family[1].sync(usb)
    try expectShadowed(path, on: family[1])
  }

  @Test func aClosingThatTheOldWordsSignDoesNotCountInTheFolder() throws {
    let family = try prepared()
    try family[0].vault.replaceWords(Family.words.words, with: .random())
    let (path, bytes) = try forged(over: family)
    try family[0].store.replace(BlobPath(path.string), bytes, durably: true)
    try expectShadowed(path, on: family[0])
  }

  // MARK: Bad days

  @Test func aRemovalCutAnywhereIsDoneOrNotDone() throws {
    for inState in [false, true] {
      for number in 1... {
        let usb = MemoryStore()
        let family = try prepared(at: usb)
        let store = inState ? family[0].stateStore : family[0].store
        store.cut(after: number)
        var isWhole = true
        do { try remove([family[2]], by: family[0]) } catch is VaultError { isWhole = false }
        let comment: Comment = "\(inState ? "state" : "folder"), cut at call \(number)"
        try family[0].reopen()
        try family[0].expectWhole(comment)
        let isLeft = try family[0].vault.devices().contains { $0.id == family[2].vault.device }
        #expect(!isWhole || !isLeft, comment)
        if isLeft { try remove([family[2]], by: family[0]) }
        try family[0].write("After", "a")
        try family[0].sync(usb)
        #expect(try family[1].sync(usb).problems == [], comment)
        try family[1].reopen()
        #expect(try family[1].contents() == family[0].contents(), comment)
        #expect(try family[0].vault.devices().count == 2, comment)
        if isWhole { break }
      }
    }
  }
}
