import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Devices of one person that write, change keys without knowing of each other, collect, are put back and copied, at random.
/// In the end the words join what was divided, all show the same, and nothing is lost. Wraps of keys are random, so that a
/// seed gives the steps again, and not all names of files.
@Suite struct KeyScheduleTests {
  @Test(arguments: Seeds.first(30, unless: "KINVAULT_KEY_SEEDS"))
  func nothingIsLostAndAllAgree(seed: UInt64) throws {
    try SeededRandomness.with(seed: seed) { try run(KeySchedule(seed: seed), seed) }
  }

  private func run(_ schedule: consuming KeySchedule, _ seed: UInt64) {
    do {
      for _ in 0..<(8 + Int(seed % 10)) { try schedule.step() }
      try schedule.end()
    } catch {
      let trace = schedule.trace.joined(separator: "\n")
      Issue.record("KINVAULT_KEY_SEEDS=\(seed)+1\n\(error)\n\(trace)")
    }
  }
}

extension KeyScheduleTests {
  /// A machine was copied, and keys changed on both: whichever of them has to become a device of its own can do so, and
  /// write, as soon as the words have joined the keys, which are joined on that machine too.
  @Test func aCopyThatWaitsForTheWordsIsGivenThem() throws {
    let family = try Family(count: 2)
    let (first, remote) = (family[1], MemoryStore())
    try family[0].write("Note", "before")
    try family.meet(at: remote)
    let copy = try first.clone()
    for (machine, text) in [(copy, "by the copy"), (first, "by the first one")] {
      try machine.write("Record", text)
      try machine.vault.beginGeneration(removing: [], words: Family.words.words)
    }
    for machine in [copy, family[0]] { try machine.sync(remote) }
    #expect { try first.sync(remote) } throws: { "\($0)".contains("keysDivided") }
    // Meanwhile it opens, shows what it has, and says what it waits for.
    try first.reopen()
    #expect(first.vault.problems.contains { $0.kind == .parted && $0.reason.contains("24 words") })
    #expect(try first.contents().values.contains("by the first one"))
    try first.vault.beginGeneration(removing: [], words: Family.words.words)
    for _ in 0..<4 {
      for machine in [first, copy, family[0]] { try machine.sync(remote) }
    }
    let shown = try family[0].contents()
    for machine in [first, copy] { #expect(try machine.contents() == shown) }
    #expect(Set(["before", "by the copy", "by the first one"]).isSubset(of: shown.values))
  }

  /// A machine and its copy changed keys, and both wrote the register of their device: in the end there is one of it.
  @Test func aRegisterThatTwoMachinesWroteIsWrittenAnew() throws {
    let family = try Family(count: 2)
    let (first, remote) = (family[1], MemoryStore())
    try family[0].write("Note", "before")
    try family.meet(at: remote)
    let copy = try first.clone()
    for (machine, name) in [(copy, "named there"), (first, "named here")] {
      try machine.vault.renameDevice(to: name)
    }
    let path = VaultPath.device(first.vault.person, first.vault.device).string
    // The copy is faster with one remote, the machine itself with the other one.
    let other = MemoryStore()
    try copy.sync(remote)
    try first.sync(other, as: "other")
    try family[0].sync(remote)
    try family[0].sync(other, as: "other")
    for _ in 0..<3 {
      for machine in [first, copy, family[0]] {
        try machine.sync(remote)
        try machine.sync(other, as: "other")
      }
    }
    for machine in [first, copy, family[0]] {
      for (store, name) in [(remote, "origin"), (other, "other")] {
        let problems = try machine.sync(store, as: name).problems
        #expect(!problems.contains { $0.path == path }, "\(problems.map(\.text))")
      }
    }
    #expect(
      try remote.read(BlobPath(path), limit: 1 << 20) == other.read(BlobPath(path), limit: 1 << 20))
  }

  /// A machine was copied, and keys changed on a third one, which has met one of the two and taken over what was written
  /// before: the other one is told of no loss, and goes on as a device of its own.
  @Test func aCopyMissesNothingThatWasTakenOver() throws {
    let family = try Family(count: 3)
    let remotes = [MemoryStore(), MemoryStore()]
    func sync(_ device: Family.Device, _ remote: Int) throws -> SyncReport {
      try device.sync(remotes[remote], as: "r\(remote)")
    }
    for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
    try family[0].write("Note", "before")
    for _ in 0..<2 {
      for device in family.devices { for remote in 0..<2 { _ = try sync(device, remote) } }
    }
    let copy = try family[0].clone()
    for (machine, text) in [(copy, "by the copy"), (family[0], "by the first one")] {
      try machine.write("Record", text)
    }
    try family[1].write("Record", "by another one")
    try family[2].vault.beginGeneration(removing: [], words: Family.words.words)
    try family[2].vault.beginEpoch(of: family[2].emma, without: [])
    try family[2].vault.removeOldObjects().requireNone()
    let machines = family.devices + [copy]
    for _ in 0..<5 {
      for machine in machines {
        for remote in 0..<2 {
          let report = try sync(machine, remote)
          #expect(!report.problems.contains { $0.kind == .missingThere }, "\(report.problems)")
        }
      }
    }
    let shown = try family[0].contents()
    for machine in machines { #expect(try machine.contents() == shown) }
    let texts = ["before", "by the copy", "by the first one", "by another one"]
    #expect(Set(texts).isSubset(of: shown.values))
  }

  /// A machine was copied, and has begun an epoch since; the copy has not heard of that, and was first at the remote. The
  /// machine goes on as a device of its own, also where what the copy wrote is of the epoch before.
  @Test func aCopyUnderOldKeysHasWrittenElsewhereToo() throws {
    let family = try Family(count: 2)
    let (first, remote) = (family[1], MemoryStore())
    try family[0].write("Note", "before")
    try family.meet(at: remote)
    let copy = try first.clone()
    try first.vault.beginEpoch(of: first.emma, without: [])
    try first.write("Record", "by the first one")
    try copy.write("Record", "by the copy")
    let machines = [copy, first, family[0]]
    for _ in 0..<5 { for machine in machines { try machine.sync(remote) } }
    for machine in machines {
      #expect(
        try Set(["before", "by the copy", "by the first one"])
          .isSubset(of: machine.contents().values))
      #expect(try machine.sync(remote).pulled.isEmpty)
    }
  }
}

extension KeyScheduleTests {
  /// Two machines began epochs without knowing of each other, and one of them yet another one. What the other machine wrote
  /// under the better of the first two builds on both: it comes with the one that was not known.
  @Test func aHeadOfAnEarlierEpochComesWithAllLinksThatItBuildsOn() throws {
    var isMet = false
    // Which of two epochs is the better one is decided by their names.
    for _ in 0..<30 where !isMet {
      let family = try Family(count: 2)
      let (first, other, remote) = (family[0], family[1], MemoryStore())
      try first.write("Note", "before")
      try family.meet(at: remote)
      try other.vault.beginEpoch(of: other.emma, without: [])
      let lost = try other.emma.epoch
      try first.vault.beginEpoch(of: first.emma, without: [])
      let better = try first.emma.epoch
      try first.sync(remote)
      try other.sync(remote)
      guard try other.emma.epoch == better else { continue }
      isMet = true
      try other.write("Record", "by the other one")
      // Nobody has looked at the remote since.
      try first.vault.beginEpoch(of: first.emma, without: [])
      try first.write("Record", "by the first one")
      try other.sync(remote)
      for _ in 0..<2 { for device in family.devices { try device.sync(remote) } }
      try first.reopen()
      #expect(try first.emma.register.links.history.link(lost) != nil)
      for device in family.devices {
        #expect(
          try Set(["before", "by the other one", "by the first one"])
            .isSubset(of: device.contents().values))
        try device.expectWhole("\(device.vault.device)")
      }
      // A program that copies file by file may leave it out.
      try first.vault.context.store.remove(BlobPath(VaultPath.link(first.emma.id, lost).string))
      try first.reopen()
      for _ in 0..<2 { try first.sync(remote) }
      try first.reopen()
      try first.expectWhole("its link came again")
    }
    #expect(isMet)
  }
}

extension KeyScheduleTests {
  /// One machine has taken over what another one wrote in an epoch before, and removed it there under the old keys. A third
  /// one, which had begun an epoch of its own, takes that over, and then meets the first head: of that it needs nothing,
  /// nor later, when the head between them has been replaced.
  @Test func whatWasTakenOverTwiceIsNotNeeded() throws {
    var isMet = false
    // Which of two epochs is the better one is decided by their names.
    for _ in 0..<30 where !isMet {
      let family = try Family(count: 3)
      let remotes = [MemoryStore(), MemoryStore()]
      func sync(_ device: Int, _ remote: Int) throws -> SyncReport {
        try family[device].sync(remotes[remote], as: "r\(remote)")
      }
      for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
      try family[0].write("Note", "before")
      for _ in 0..<2 {
        for device in 0..<3 { for remote in 0..<2 { _ = try sync(device, remote) } }
      }
      try family[0].vault.beginEpoch(of: family[0].emma, without: [])
      try family[0].vault.removeOldObjects().requireNone()
      try family[2].write("Record", "by the third one")
      _ = try sync(2, 1)
      try family[1].vault.beginEpoch(of: family[1].emma, without: [])
      let second = try family[1].emma.epoch
      for remote in [1, 0, 1] { _ = try sync(0, remote) }
      _ = try sync(1, 0)
      guard try family[1].emma.epoch == second else { continue }
      isMet = true
      let report = try sync(1, 1)
      #expect(!report.problems.contains { $0.severity > .note }, "\(report.problems)")
      // The head between them is replaced, and the first one stands where it stood.
      try family[0].write("Other", "by the one between")
      _ = try sync(0, 0)
      for remote in [0, 1] {
        let report = try sync(1, remote)
        #expect(!report.problems.contains { $0.severity > .note }, "\(report.problems)")
      }
      // Neither does a program that opens the vault anew.
      try family[1].reopen()
      try family[1].expectWhole("opened anew")
      #expect(
        try Set(["before", "by the third one", "by the one between"]).isSubset(
          of: family[1].contents().values))
    }
    #expect(isMet)
  }
}

extension KeyScheduleTests {
  /// On a remote stands a head that this machine wrote before keys were changed, of which nothing is left there, beside an
  /// epoch that nobody has met: it is no news, and nothing of it is asked for.
  @Test func anEpochThatComesMakesNoOldHeadNews() throws {
    let family = try Family(count: 3)
    let remotes = [MemoryStore(), MemoryStore()]
    func sync(_ device: Int, _ remote: Int) throws {
      let report = try family[device].sync(remotes[remote], as: "r\(remote)")
      #expect(!report.problems.contains { $0.severity > .note }, "\(report.problems)")
    }
    for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
    for _ in 0..<2 {
      for device in 0..<3 { for remote in 0..<2 { try sync(device, remote) } }
    }
    // Others carry it to the second remote.
    try family[2].write("Note", "by the third one")
    for (device, remote) in [(2, 0), (0, 0), (0, 1)] { try sync(device, remote) }
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].vault.removeOldObjects().requireNone()
    for remote in [0, 1] { try sync(0, remote) }
    for path in remotes[1].blobs.keys {
      guard case .object? = VaultPath(parsing: path.string) else { continue }
      if family[0].store.blobs[path] == nil { try remotes[1].remove(path) }
    }
    try family[2].write("Other", "by the third one")
    try sync(2, 0)
    // Of the second machine nothing but its new epoch has come to the second remote.
    try family[1].vault.beginEpoch(of: family[1].emma, without: [])
    let member = try family[1].emma.id
    for (path, bytes) in family[1].store.blobs where remotes[1].blobs[path] == nil {
      switch VaultPath(parsing: path.string) {
      case .link(member, _), .epochWrap(member, _): try remotes[1].put(path, bytes)
      default: continue
      }
    }
    try sync(2, 1)
  }
}

extension KeyScheduleTests {
  /// A machine was copied, and both edit one note. What the copy wrote has come by way of two machines that had changed keys
  /// apart: the one that was copied has never met it, and learns from the last one's head that it is no line of its own.
  @Test func aLineComesByWayOfTwoLateHeads() throws {
    var isMet = false
    // Which of two epochs is the better one is decided by their names.
    for _ in 0..<30 where !isMet {
      let family = try Family(count: 3)
      let remotes = [MemoryStore(), MemoryStore()]
      for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
      let record = try family[0].write("Note", "before")
      var devices = family.devices
      func everyoneSyncs() throws {
        for device in devices {
          for (number, remote) in remotes.enumerated() {
            do { try device.sync(remote, as: "r\(number)") } catch SyncError.vault(.keysDivided) {}
          }
        }
      }
      for _ in 0..<2 { try everyoneSyncs() }
      let copy = try family[2].clone()
      devices.append(copy)
      try family[2].edit(record, "by the one that was copied")
      try copy.edit(record, "by the copy")
      try copy.sync(remotes[1], as: "r1")
      try family[1].vault.beginEpoch(of: family[1].emma, without: [])
      let second = try family[1].emma.epoch
      try family[0].sync(remotes[1], as: "r1")
      try family[0].vault.beginEpoch(of: family[0].emma, without: [])
      try family[0].sync(remotes[0], as: "r0")
      try family[1].sync(remotes[0], as: "r0")
      guard try family[1].emma.epoch == second else { continue }
      isMet = true
      try family[2].sync(remotes[0], as: "r0")
      for _ in 0..<6 { try everyoneSyncs() }
      for device in devices {
        let texts = try Set(device.contents().values)
        #expect(texts.isSuperset(of: ["by the one that was copied", "by the copy"]), "\(texts)")
      }
    }
    #expect(isMet)
  }
}

extension KeyScheduleTests {
  /// A machine was copied, and what the copy wrote was taken over under new keys. What the machine itself had sent before it
  /// broke was not: it is told, and stays where it is.
  ///
  /// - Parameter count: How many heads the copy wrote.
  @Test(arguments: [1, 2])
  func whatABrokenMachineSentIsNotTakenForItsCopys(count: Int) throws {
    let family = try Family(count: 3)
    let remotes = [MemoryStore(), MemoryStore()]
    for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
    try family[0].write("Note", "before")
    for _ in 0..<2 {
      for device in family.devices {
        for (number, remote) in remotes.enumerated() { try device.sync(remote, as: "r\(number)") }
      }
    }
    let (device, copy) = (family[2].vault.device, try family[2].clone())
    let before = Set(remotes[0].blobs.keys)
    try family[2].write("One", "by the one that broke")
    try family[2].sync(remotes[0], as: "r0")
    let sent = Set(remotes[0].blobs.keys).subtracting(before)
    for number in 1..<count { try copy.write("Other \(number)", "\(number)") }
    try copy.write("Other", "by the copy")
    try copy.sync(remotes[1], as: "r1")
    try family[0].sync(remotes[1], as: "r1")
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].vault.removeOldObjects().requireNone()
    try family[0].sync(remotes[1], as: "r1")
    try family[1].sync(remotes[1], as: "r1")
    let path = VaultPath.head(try family[1].emma.id, device).string
    for _ in 0..<3 {
      for machine in [family[1], family[0]] {
        let report = try machine.sync(remotes[0], as: "r0")
        #expect(report.problems.contains { $0.path == path && $0.severity > .note })
        #expect(try machine.contents().values.contains("by the copy"))
        try machine.reopen()
      }
    }
    for path in sent {
      if case .object? = VaultPath(parsing: path.string) {
        #expect(remotes[0].blobs[path] != nil, "\(path) was removed")
      }
    }
    // Nothing of it is lost where the machine can be mended.
    for _ in 0..<4 {
      for machine in family.devices + [copy] {
        for (number, remote) in remotes.enumerated() { try machine.sync(remote, as: "r\(number)") }
      }
    }
    for machine in family.devices + [copy] {
      let texts = try Set(machine.contents().values)
      #expect(texts.isSuperset(of: ["by the one that broke", "by the copy"]), "\(texts)")
    }
  }
}

extension KeyScheduleTests {
  /// A machine was copied, the others follow the copy, and the machine itself, which knows nothing of that, puts everything
  /// under new keys and removes what was under the old ones. Who has those objects gives them back, and blames no disk.
  @Test func whatAMachineThatIsNotFollowedRemovesIsNoLossOfTheRemote() throws {
    let family = try Family(count: 3)
    let remotes = [MemoryStore(), MemoryStore()]
    for device in family.devices { try device.knowRemotes(["r0", "r1"]) }
    try family[0].write("Note", "before")
    func allSync(_ machines: [Family.Device]) throws {
      for machine in machines {
        for (number, remote) in remotes.enumerated() { try machine.sync(remote, as: "r\(number)") }
      }
    }
    try allSync(family.devices)
    try family[2].write("One", "before")
    for _ in 0..<2 { try allSync(family.devices) }
    let copy = try family[2].clone()
    try copy.write("Other", "by the copy")
    try copy.sync(remotes[1], as: "r1")
    try family[1].sync(remotes[1], as: "r1")
    try family[2].vault.beginEpoch(of: family[2].emma, without: [])
    try family[2].vault.removeOldObjects().requireNone()
    let before = Set(remotes[0].blobs.keys)
    try family[2].sync(remotes[0], as: "r0")
    let removed = before.subtracting(remotes[0].blobs.keys)
    #expect(!removed.isEmpty)
    let report = try family[1].sync(remotes[0], as: "r0") {
      $0.looksEverywhere = true
    }
    #expect(!report.problems.contains { $0.text.contains("had lost") })
    #expect(report.problems.contains { $0.text.contains("were put there now") })
    for _ in 0..<4 { try allSync(family.devices + [copy]) }
    for machine in family.devices + [copy] {
      #expect(try machine.contents().values.contains("by the copy"))
    }
  }
}

/// See `KeyScheduleTests`.
private struct KeySchedule {
  private var devices: [Family.Device]
  private let remotes = [MemoryStore(), MemoryStore()]
  private var random: SplitMix64
  private let record: RecordID
  private(set) var trace: [String] = []
  /// Texts that nobody has replaced knowingly.
  private var wanted: Set<String> = ["before"]
  private var textCount = 0
  /// Whether somebody was told that their keys are divided, until all have met whoever joined them.
  private var isDivided = false
  /// Whether everybody has met everybody: no sync has anything to tell.
  private var isSettled = false
  /// Others who may write, and never do: each is let out on one machine, of which the rest have not heard.
  private var guests: [PersonID] = []
  private var snapshot: (disk: Family.Seed, number: Int, texts: Set<String>)?

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    devices = try Family(count: 3).devices
    record = try devices[0].write("Note", "before")
    for (number, device) in devices.enumerated() {
      try device.knowRemotes(["r0", "r1"])
      trace.append("\(number) is \(device.vault.device)")
    }
    for name in ["Ben", "Carla"] {
      let guest = try SyncingAdult(joining: devices[0].vault.invite(), as: name)
      try guest.sync(remotes[0], as: "r0")
      try devices[0].sync(remotes[0], as: "r0")
      try devices[0].vault.share(devices[0].emma, with: guest.vault.person, role: .editor)
      guests.append(guest.vault.person)
    }
    for _ in 0..<2 {
      for number in devices.indices { for remote in 0..<2 { try sync(number, remote) } }
    }
  }

  mutating func step() throws {
    let number = Int.random(in: devices.indices, using: &random)
    do { try step(of: number) } catch {
      guard "\(error)".contains("thisDeviceRemoved") else { throw error }
      try recover(number)
    }
  }

  /// Nobody removes a machine here; but one that was copied or put back may have become a device of its own while keys were
  /// changed elsewhere, by somebody who had not met it. It is told that it is out, and its person types the words.
  private mutating func recover(_ number: Int) throws {
    trace.append("\(number): is made a device anew")
    try devices[number].recover(Family.words.words)
  }

  private mutating func step(of number: Int) throws {
    let device = devices[number]
    switch Int.random(in: 0..<21, using: &random) {
    case 0...3:
      let text = newText()
      trace.append("\(number): writes \(text)")
      let told = try Self.told { try device.write("Record", text) }
      note(told, instead: text)
    case 4...6:
      let text = newText()
      trace.append("\(number): edits to \(text)")
      var replaced: String?
      let told = try Self.told { [record] in
        _ = try device.emma.joinConcurrent()
        replaced = try device.contents().first {
          $0.key.contains("[\(record.shortHex)]/record.md")
        }?.value
        try device.edit(record, text)
      }
      if told == nil, let replaced { wanted.remove(replaced) }
      note(told, instead: text)
    case 7...9:
      trace.append("\(number): changes keys")
      let told = try Self.told {
        try device.vault.beginGeneration(removing: [], words: Family.words.words)
        try device.vault.beginEpoch(of: device.emma, without: [])
        try device.vault.removeOldObjects().requireNone()
      }
      note(told)
    case 10:
      guard let guest = guests.popLast() else { return }
      trace.append("\(number): lets somebody out")
      note(
        try Self.told {
          try device.vault.beginEpoch(of: device.emma, without: [guest])
          try device.vault.removeOldObjects().requireNone()
        })
    case 11:
      trace.append("\(number): collects")
      _ = try device.vault.collect(keepDays: 0, isDryRun: false)
    case 12:
      trace.append("\(number): snapshot")
      snapshot = (device.snapshot(), number, try texts(of: number))
    case 13: try putBack()
    case 14:
      guard devices.count < 4 else { return }
      trace.append("\(number): is copied")
      devices.append(try device.clone())
    default: try sync(number, Int.random(in: 0..<2, using: &random))
    }
  }

  private mutating func newText() -> String {
    textCount += 1
    wanted.insert("text \(textCount)")
    return "text \(textCount)"
  }

  private func texts(of number: Int) throws -> Set<String> {
    Set(try devices[number].contents().values)
  }

  /// What was written since and nobody else has seen is gone with the disk.
  private mutating func putBack() throws {
    guard let snapshot else { return }
    trace.append("\(snapshot.number): is put back")
    var known = snapshot.texts
    for number in devices.indices where number != snapshot.number {
      known.formUnion(try texts(of: number))
    }
    wanted.formIntersection(known)
    try devices[snapshot.number].putBack(snapshot.disk)
  }

  private mutating func sync(_ number: Int, _ remote: Int) throws {
    let looksEverywhere = Int.random(in: 0..<3, using: &random) == 0
    trace.append("\(number): syncs with \(remote)\(looksEverywhere ? ", all of it" : "")")
    var problems: [SyncProblem] = []
    let told = try Self.told {
      let report = try devices[number].sync(remotes[remote], as: "r\(remote)") {
        $0.acceptsMassChange = true
        $0.looksEverywhere = looksEverywhere
      }
      problems = report.problems.filter { $0.severity > .note }
    }
    note(told)
    trace += problems.map { "  \($0.path): \($0.text)" }
    isDivided =
      try isDivided || problems.contains { $0.kind == .waiting }
      || devices[number].vault.context.ownPerson().generation == nil
    // These remotes keep all that they are given. But who does not know yet that keys are divided may have put everything
    // under new ones: for whoever waits for the words the old ones are gone, and they are told why. So may have a machine
    // that has become another device, of which whoever changed keys elsewhere knows nothing: it is out, for them.
    let mayBeGone = try isDivided || !knowsAll(number)
    if let untrue = problems.first(where: {
      $0.text.contains("had lost") || !mayBeGone && $0.text.contains("cannot be had")
        || $0.kind == .damagedHere
    }) {
      throw Untrue(text: untrue.text)
    }
    if isSettled, let left = problems.first { throw Untrue(text: left.text) }
  }

  /// Whether a machine knows all others as the devices that they are now.
  private func knowsAll(_ number: Int) throws -> Bool {
    let known = try devices[number].vault.context.ownPerson().devices
    return devices.allSatisfy { known[$0.vault.device] != nil }
  }

  private struct Untrue: Error { let text: String }

  /// While keys are divided nobody begins an epoch, nor becomes a device, and who has become one writes nothing; whoever
  /// tries is told.
  private static func told(_ body: () throws -> Void) throws -> String? {
    do { try body() } catch {
      guard "\(error)".contains("keysDivided") else { throw error }
      return "  \(error)"
    }
    return nil
  }

  /// - Parameter text: What was not written where something was told.
  private mutating func note(_ told: String?, instead text: String? = nil) {
    guard let told else { return }
    trace.append(told)
    isDivided = true
    if let text { wanted.remove(text) }
  }

  // MARK: The end

  mutating func end() throws {
    for _ in 0..<3 { try everyoneSyncs() }
    // Who is told so joins the keys. A machine that was copied can send nothing before, so that others know nothing of its
    // change.
    for _ in 0..<devices.count {
      let divided = try devices.firstIndex {
        try $0.vault.context.ownPerson().generation == nil
      }
      guard let divided else { break }
      trace.append("\(divided): joins the keys")
      try devices[divided].vault.beginGeneration(removing: [], words: Family.words.words)
      for _ in 0..<2 { try everyoneSyncs() }
    }
    for _ in 0..<4 { try everyoneSyncs() }
    isDivided = false
    try everyoneSyncs()
    isSettled = true
    try everyoneSyncs()
    var shown: [[String: String]] = []
    for device in devices {
      try device.reopen()
      _ = try device.emma.joinConcurrent()
      shown.append(try device.contents())
      try device.expectWhole("\(trace)")
    }
    guard shown.allSatisfy({ $0 == shown[0] }) else { throw Difference(shown: shown) }
    let lost = wanted.subtracting(shown[0].values)
    guard lost.isEmpty else { throw Loss(texts: lost) }
  }

  private mutating func everyoneSyncs() throws {
    for number in devices.indices {
      for remote in 0..<2 {
        do { try sync(number, remote) } catch SyncError.vault(.thisDeviceRemoved) {
          try recover(number)
          try sync(number, remote)
        }
      }
    }
  }

  private struct Difference: Error { let shown: [[String: String]] }
  private struct Loss: Error { let texts: Set<String> }
}
