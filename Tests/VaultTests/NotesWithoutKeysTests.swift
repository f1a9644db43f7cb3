import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// What is noted on a machine while no key is there: by us, and by whoever can write to its state.
@Suite struct NotesWithoutKeysTests {
  private let memory: MemoryVault

  init() throws {
    memory = try MemoryVault()
    try memory.open().close()
  }

  @Test func whatWasTriedIsToldOnceAndStaysInTheLog() throws {
    let clock = memory.clock.wallClock
    for detail in ["password", "password", "words"] {
      try memory.state.noteWithoutKeys(.refused, detail: detail, clock: clock)
    }
    let vault = try memory.open()
    #expect(try vault.audit.notedWithoutKeys().count == 3)
    let told = try vault.audit.takeIn()
    #expect(told.map(\.detail) == ["password", "password", "words"])
    #expect(told.allSatisfy { $0.action == "refused" && $0.device == "desk" })
    #expect(try vault.audit.takeIn() == [])
    #expect(try memory.open().audit.takeIn() == [])
    for vault in [vault, try memory.open()] {
      let events = try vault.audit.read().events.map(\.event)
      #expect(events.filter { $0.action == "refused" }.map(\.detail) == told.map(\.detail))
    }
    vault.audit.note(.read)
    try vault.audit.publish()
    #expect(try vault.audit.waiting.files() == [])
    #expect(try vault.audit.read().events.count { $0.event.action == "refused" } == 3)
  }

  /// Nor does it belong to a member, whose journal is whole without it.
  @Test func aWrongPasswordIsNoDamageOfAJournal() throws {
    let vault = try memory.open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    for action in [AuditAction.refused, .lock] {
      try memory.state.noteWithoutKeys(action, detail: "")
    }
    #expect(try vault.journal(of: emma).problems == [])
    #expect(try vault.audit.read().problems == [])
    #expect(try vault.audit.takeIn().count == 2)
    #expect(try vault.journal(of: emma).problems == [])
  }

  /// They are not sent before somebody was told.
  @Test func whatNobodyWasToldOfIsNotPublished() throws {
    try memory.state.noteWithoutKeys(.refused, detail: "password")
    let vault = try memory.open()
    vault.audit.note(.read)
    try vault.audit.publish()
    #expect(try vault.audit.takeIn().map(\.detail) == ["password"])
  }

  @Test func nothingIsNotedWhereNobodyHasOpenedTheVault() throws {
    let state = StateFolder(store: MemoryStore())
    try state.noteWithoutKeys(.refused, detail: "password")
    #expect(try WaitingEvents(state: state, binding: Binding(vault: memory.id)).files() == [])
  }

  @Test func aFloodIsCounted() throws {
    let count = WaitingEvents.keylessFileLimit + 500
    for _ in 0..<count { try memory.state.noteWithoutKeys(.refused, detail: "password") }
    let vault = try memory.open()
    #expect(try vault.audit.waiting.files().count == WaitingEvents.keylessFileLimit)
    let told = try vault.audit.takeIn()
    #expect(told.reduce(0) { $0 + Int($1.count) } == count)
    #expect(try vault.audit.read().problems == [])
  }

  @Test func newWordsAndKeysStillOpenWhatWasNotedBefore() throws {
    try memory.state.noteWithoutKeys(.refused, detail: "password")
    let vault = try memory.open()
    vault.audit.note(.read, detail: "before")
    try vault.audit.flush()
    try vault.beginGeneration(removing: [], words: memory.created.words)
    #expect(try memory.open().audit.takeIn().map(\.detail) == ["password"])
    let (events, problems) = try memory.open().audit.read()
    #expect(problems == [])
    #expect(events.contains { $0.event.detail == "before" })
  }

  // MARK: Who can write to this machine's state

  /// Seals what a forger likes, with the public key that everybody has who can read the folder.
  private func forge(_ events: [AuditEvent], number: UInt64 = 1, count: UInt32 = 1) throws {
    let key = try #require(try LogKey.load(state: memory.state))
    let file = WaitingFile(number: number, count: count)
    let seal = KeylessSeal(
      person: key.person, generation: key.generation, binding: Binding(vault: memory.id))
    let (wrap, sealed) = try seal.seal(
      AuditEvents(events: events).encoded(), for: key.agreementPublicKey, path: file.path.string,
      counter: 0)
    try memory.stateStore.replace(
      file.path, key.generation.bytes + wrap + sealed.nonce + sealed.ciphertext, durably: true)
  }

  @Test(arguments: ["read", "share", "acknowledge", "", "export"])
  func nobodySaysWithoutKeysWhatTakesThem(action: String) throws {
    try forge([AuditEvent(time: 1, action: action, detail: "a lie")])
    let vault = try memory.open()
    #expect(try vault.audit.takeIn() == [])
    let (events, problems) = try vault.audit.read()
    #expect(!events.contains { $0.event.detail == "a lie" })
    #expect(problems.count == 1)
  }

  @Test func theEndOfNumbersAndTimesStopsNothing() throws {
    try forge(
      [AuditEvent(time: Limits.time, action: "refused", detail: "password", count: .max)],
      number: Limits.number, count: .max)
    let vault = try memory.open()
    #expect(try vault.audit.takeIn().count == 1)
    vault.audit.note(.read, detail: "after")
    try vault.audit.publish()
    #expect(try vault.audit.read().events.contains { $0.event.detail == "after" })
  }

  @Test(arguments: [0, 31, 32, 40, 1192, 1193, 1204, 1205, 1220])
  func aFileThatIsCutShortIsTold(byteCount: Int) throws {
    try forge([AuditEvent(time: 1, action: "refused", detail: "password")])
    let path = WaitingFile(number: 1, count: 1).path
    let bytes = try memory.stateStore.read(path, limit: 1 << 20)
    try memory.stateStore.replace(path, Array(bytes.prefix(byteCount)), durably: true)
    let vault = try memory.open()
    #expect(try vault.audit.takeIn() == [])
    #expect(byteCount < bytes.count)
    #expect(try vault.audit.read().problems.count == 1)
  }

  @Test func everyFlippedBitIsSeen() throws {
    try forge([AuditEvent(time: 1, action: "refused", detail: "password")])
    let path = WaitingFile(number: 1, count: 1).path
    let bytes = try memory.stateStore.read(path, limit: 1 << 20)
    let vault = try memory.open()
    for position in bytes.indices {
      var flipped = bytes
      flipped[position] ^= 1 << (position % 8)
      try memory.stateStore.replace(path, flipped, durably: true)
      #expect(try vault.audit.notedWithoutKeys() == [], "byte \(position)")
    }
  }

  // MARK: Unlocked, and not any more

  @Test func theEndOfASessionIsNotedOnceAndWhenItWas() throws {
    let state = memory.state
    func at(_ time: UInt64) -> WallClock { WallClock { time } }
    try state.noteSessionEnd(byItself: true, clock: at(1_000_000))
    try state.noteSession(timeout: .seconds(300), clock: at(1_000_000))
    try state.noteSessionUse(clock: at(1_100_000))
    try state.noteSessionEnd(byItself: true, clock: at(9_000_000))
    try state.noteSessionEnd(byItself: true, clock: at(9_000_000))
    try state.noteSession(timeout: .seconds(300), clock: at(9_000_000))
    try state.noteSessionEnd(byItself: false, clock: at(9_000_000))
    let events = try memory.open().audit.takeIn()
    #expect(events.map(\.action) == ["lock", "lock"])
    #expect(events.map(\.detail) == ["not used any more", ""])
    #expect(events.first?.time == 1_400_000)
    #expect(try #require(events.last).time >= 9_000_000)
  }

  // MARK: What syncs find

  private func find(_ texts: String..., at time: UInt64 = 1000) throws {
    let path = VaultPath.memberRoot(.zero).string
    try memory.state.note(
      texts.map { StateFolder.Suspicion(kind: "wentBack", path: path, text: $0) },
      remote: #require(RemoteName("usb")), clock: WallClock { time })
  }

  @Test func whatIsFoundIsToldUntilSomebodyHasLooked() throws {
    try find("it is at 3")
    try find("it is at 3", at: 5000)
    let open = try memory.state.tampering().open
    #expect(open.count == 1 && open.first?.first == 1000 && open.first?.last == 5000)
    #expect(try memory.state.acknowledgeTampering().count == 1)
    #expect(try memory.state.acknowledgeTampering() == [])
    // The same is no news, and something else is.
    try find("it is at 3", at: 6000)
    #expect(try memory.state.tampering().open == [])
    try find("it is at 2", at: 7000)
    #expect(try memory.state.tampering().open.count == 1)
    let events = try memory.open().audit.takeIn()
    #expect(events.map(\.action) == ["tampering", "tampering"])
    #expect(events.allSatisfy { $0.member == .zero && $0.about == "usb" })
  }

  @Test func whatWasForgottenIsNewsAgain() throws {
    try find("it is at 3")
    _ = try memory.state.acknowledgeTampering()
    try find("another", at: 1000 + 31 * 86_400_000)
    try find("it is at 3", at: 1001 + 31 * 86_400_000)
    #expect(try memory.state.tampering().open.count == 2)
  }

  @Test func aFloodOfFindingsHasAnEnd() throws {
    for number in 0..<1000 { try find("\(number)", at: UInt64(number)) }
    #expect(try memory.state.tampering().findings.count <= 80)
    #expect(try memory.open().audit.takeIn().count <= 80)
    _ = try memory.state.acknowledgeTampering()
    #expect(try memory.state.tampering().open == [])
  }

  /// Somebody with access to a remote leaves broken files there for good. What a person has looked at once hides nothing of what
  /// is found beside it later.
  @Test func whatStaysHidesNothingThatComes() throws {
    for count in [65, 100, 300] {
      func findAll(at time: UInt64) throws {
        for number in 0..<count { try find("broken \(number)", at: time) }
      }
      for time in 1...6 as ClosedRange<UInt64> {
        try findAll(at: time)
        _ = try memory.state.acknowledgeTampering()
      }
      try findAll(at: 7)
      #expect(try memory.state.tampering().open == [], "\(count)")
      let text = "written after its removal, \(count)"
      try find(text, at: 7)
      let mark = Digest.sha256(Array(text.utf8)).firstWord
      #expect(try memory.state.tampering().open.map(\.mark) == [mark], "\(count)")
      _ = try memory.state.acknowledgeTampering()
    }
  }

  /// The path is what a remote calls its file.
  @Test func wordsOfARemoteAreNoLines() throws {
    try memory.state.note(
      [
        StateFolder.Suspicion(
          kind: "untrusted", path: "x\nfound a b c 1 2 3 open", text: "\u{1b}[2J")
      ], remote: #require(RemoteName("usb")), clock: WallClock { 5 })
    #expect(try memory.state.tampering().findings.map(\.path) == ["-"])
  }
}
