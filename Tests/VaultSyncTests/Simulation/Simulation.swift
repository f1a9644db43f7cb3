import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// Several devices that edit, move and delete at random and sync with unreliable remotes, are cut off, killed and lose
/// power; all of it follows from a seed. At the end everything works, all meet, and nothing may be lost. Where keys change
/// (wraps of keys are random, whatever `SeededRandomness` does) a seed gives the steps again, and not all names of files.
///
/// From `Seeds.widened` on there are three devices at least, and they make the moves of `Simulation+Together.swift`,
/// `Simulation+Folders.swift` and `Simulation+Attributes.swift` as well. Lower seeds give the schedules that they always gave,
/// by which comments in the code name what they have found.
struct Simulation {
  let seed: UInt64
  private(set) var devices: [Family.Device]
  let remotes: [UnreliableStore]
  private let isLarge: Bool
  var random: SplitMix64
  var ledger = Ledger()
  var modes = ModeLedger()
  var thrownAway: [ThrownCopy] = []
  /// What happened, for who looks into a failure.
  private(set) var trace: [String] = []
  /// The disk of a device at some moment, and the texts that were known then.
  private var snapshots: [Int: (disk: Family.Seed, texts: Set<String>)] = [:]
  /// What was on a remote at some moment.
  var backups: [Int: [BlobPath: [UInt8]]] = [:]
  /// Pairs of a device and a remote that cannot reach each other.
  private var partitions: Set<[Int]> = []
  /// Disks that are full now and then, and for how many steps more.
  var crowds: [Disk: Int] = [:]
  /// A second process of each device that runs all the time and looks on, as a mount does; in some schedules.
  var onlookers: [Vault] = []
  /// Whether keys change, on machines that may not know of each other.
  let changesKeys: Bool
  /// Whether the moves are made that lower seeds do not have.
  let isWidened: Bool
  /// The person's 24.
  let words: String

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    let frozen = try FrozenDevices.all.get()
    // Most are small, so that there can be many.
    isLarge = seed % 8 == 7
    isWidened = seed >= Seeds.widened
    let few = isWidened || seed % 4 == 0 ? 3 : 2
    let count = isLarge ? Int.random(in: 3...4, using: &random) : few
    devices = try frozen.seeds.prefix(count).enumerated().map { number, seed in
      try Family.Device(frozen.vault, seed, start: 1_700_000_100_000 + UInt64(number) * 7)
    }
    for device in devices { try device.knowRemotes(["r0", "r1"]) }
    remotes = (0..<(isLarge ? 2 : 1)).map {
      UnreliableStore(seed: seed &* 31 &+ UInt64($0))
    }
    changesKeys = seed / 8 % 4 == 1
    words = frozen.words
    if seed % 8 == 3 { onlookers = try devices.map(Self.onlooker) }
  }

  mutating func log(_ text: String) { trace.append(text) }

  // MARK: The schedule

  mutating func run() throws {
    let steps = isLarge ? 20 + Int(seed % 30) : 6 + Int(seed % 11)
    let trouble = [0, 2, 5, 15].randomElement(using: &random) ?? 0
    for remote in remotes { remote.stir(percent: trouble) }
    for _ in 0..<steps {
      makeRoomInTime()
      try stepIfPossible()
    }
    for disk in crowds.keys { makeRoom(on: disk) }
    for remote in remotes { try remote.calm() }
    partitions = []
    try meet()
    try joinKeys()
  }

  /// - Parameter number: The device that does something.
  mutating func step(of number: Int) throws {
    switch Int.random(in: 0..<(isWidened ? 73 : 53), using: &random) {
    case 0...3: try create(on: number)
    case 4...11: try edit(on: number)
    case 12...13: try move(on: number)
    case 14...15: try delete(on: number)
    case 16:
      let seconds = [-3600, 7200, -86_400 * 400, 86_400 * 400].randomElement(using: &random) ?? 0
      log("\(number): clock \(seconds)")
      devices[number].clock.turn(bySeconds: Int64(seconds))
    case 17: togglePartition(number)
    case 18: try forget(number)
    case 19...20: try syncAndCrash(number)
    case 21: try syncLocked(number)
    case 22: try collect(number)
    case 23: try loseObject()
    case 24...26: try syncQuickly(number)
    case 27...28: try repeatContent(on: number)
    case 29...31 where changesKeys: try changeKeys(on: number)
    case 36...37: try link(on: number)
    case 38...39: try rename(on: number)
    case 40...41: try takeSnapshot(number)
    case 42: try putBack(number)
    case 43: try copyMachine(number)
    case 44...45: keepCarrier()
    case 46: try rollBackCarrier()
    case 47...48:
      log("\(number): thins")
      try devices[number].thin()
    case 49...50: crowdDisk(of: number)
    case 51...52: try rollBackWhileTwoWrite(number)
    case 53...54: try editSeveral(on: number)
    case 55...57: try settleConflict(on: number)
    case 58...60: try deleteAmongEdits()
    case 61...62: try throwAwayAmongEdits()
    case 63: try makeFolder(on: number)
    case 64...65: try removeEmptyFolder(on: number)
    case 66...67: try removeFolderThatOthersFill()
    case 68...69: try setAttributes(on: number)
    case 70: try touch(on: number)
    case 71...72: try setFileAttributes(on: number)
    default: try sync(number)
    }
    try compareOnlooker(of: number)
  }

  static func onlooker(of device: Family.Device) throws -> Vault {
    try device.open(on: device.store, OpenOptions(readOnly: true))
  }

  /// A process that has run all the time shows what one shows that begins now.
  func compareOnlooker(of number: Int) throws {
    guard !onlookers.isEmpty else { return }
    let device = devices[number]
    for member in onlookers[number].members { _ = try member.refresh() }
    let shown = try Family.Device.contents(of: onlookers[number])
    let fresh = try Self.onlooker(of: device)
    let expected = try Family.Device.contents(of: fresh)
    try fresh.close()
    let differing = Set(shown.keys).union(expected.keys).filter { shown[$0] != expected[$0] }
    guard differing.isEmpty else {
      throw Behind(number: number, paths: differing.sorted())
    }
  }

  struct Behind: Error {
    let number: Int
    let paths: [String]
  }

  // MARK: Disks

  private mutating func takeSnapshot(_ number: Int) throws {
    log("\(number): snapshot")
    snapshots[number] = (devices[number].snapshot(), Set(ledger.fates.keys))
  }

  /// The disk is put back to an earlier moment: what was written since and nobody else has seen is gone with it.
  private mutating func putBack(_ number: Int) throws {
    guard let snapshot = snapshots[number] else { return }
    log("\(number): is put back")
    makeRoom(on: .vault(number))
    makeRoom(on: .state(number))
    var seen: Set<String> = []
    for (other, device) in devices.enumerated() where other != number {
      seen.formUnion(try device.contents().values)
    }
    for text in ledger.fates.keys where !snapshot.texts.contains(text) && !seen.contains(text) {
      ledger.note(text, .uncertain)
    }
    modes.forget()
    try devices[number].putBack(snapshot.disk)
    try join(on: number)
    // No process outlives that.
    if !onlookers.isEmpty { onlookers[number] = try Self.onlooker(of: devices[number]) }
  }

  /// The disk is copied, and both machines go on.
  private mutating func copyMachine(_ number: Int) throws {
    guard devices.count < 5 else { return }
    log("\(number): is copied, as \(devices.count)")
    devices.append(try devices[number].clone())
    if !onlookers.isEmpty { onlookers.append(try Self.onlooker(of: devices[devices.count - 1])) }
  }

  private mutating func keepCarrier() {
    let remote = Int.random(in: remotes.indices, using: &random)
    let blobs = remotes[remote].memory.blobs
    // One from before the vault was put there is an empty disk, which no sync fills by itself.
    guard blobs["vault.json"] != nil else { return }
    log("\(remote): backup")
    backups[remote] = blobs
  }

  /// All files of a remote return to an earlier state, as a stick's do that are restored from a backup. What is on no
  /// device was given up when the last one that had it was put back.
  private mutating func rollBackCarrier() throws {
    let remote = Int.random(in: remotes.indices, using: &random)
    guard let backup = backups[remote] else { return }
    log("\(remote): goes back")
    makeRoom(on: .remote(remote))
    try remotes[remote].goBack(to: backup)
  }

  private mutating func togglePartition(_ number: Int) {
    let pair = [number, Int.random(in: remotes.indices, using: &random)]
    log("partition \(pair)")
    if partitions.remove(pair) == nil { partitions.insert(pair) }
  }

  private mutating func forget(_ number: Int) throws {
    log("\(number): forgets the remotes")
    for remote in remotes.indices {
      try devices[number].stateStore.remove(BlobPath("remotes/r\(remote).state"))
    }
  }

  /// Removes what is needed only by the past, here and with the next syncs there.
  private mutating func collect(_ number: Int) throws {
    log("\(number): collects")
    let report = try devices[number].vault.collect(keepDays: 0, acceptsClock: true, isDryRun: false)
    log("  \(report.objectCount) objects")
  }

  /// A remote forgets an object, as a disk does that is dying.
  private mutating func loseObject() throws {
    let remote = Int.random(in: remotes.indices, using: &random)
    let objects = remotes[remote].memory.blobs.keys.filter { $0.string.contains("/objects/") }
    guard let path = objects.sorted(by: { $0.string < $1.string }).randomElement(using: &random)
    else { return }
    log("\(remote) loses \(path)")
    try remotes[remote].memory.remove(path)
  }

  // MARK: Syncing

  mutating func pickRemote(_ number: Int) -> Int? {
    let remote = Int.random(in: remotes.indices, using: &random)
    return partitions.contains([number, remote]) ? nil : remote
  }

  mutating func options() -> SyncOptions {
    var options = Self.calm
    switch Int.random(in: 0..<8, using: &random) {
    case 0: options.direction = .pull
    case 1: options.direction = .push
    default: break
    }
    return options
  }

  /// One thread, so that the calls come in the same order each time.
  private static let calm: SyncOptions = {
    var options = SyncOptions()
    options.threadCount = 1
    options.acceptsMassChange = true
    return options
  }()

  mutating func sync(_ number: Int) throws {
    guard let remote = pickRemote(number) else { return }
    if Int.random(in: 0..<6, using: &random) == 0 {
      remotes[remote].breakOff(after: Int.random(in: 0..<30, using: &random))
    }
    let device = devices[number]
    log("\(number): syncs with \(remote)")
    do throws(SyncError) {
      _ = try Self.sync(device, remotes[remote], remote, options())
    } catch {
      log("  \(error)")
      try requireRemote(error)
    }
    remotes[remote].breakOff(after: nil)
  }

  /// Nothing of the device's own is in the way of this one; what a mount joins it joins half of the time.
  mutating func sync(_ number: Int, with remote: Int) throws {
    guard !partitions.contains([number, remote]) else { return }
    log("\(number): syncs with \(remote)")
    do throws(SyncError) {
      _ = try Self.sync(devices[number], remotes[remote], remote, Self.calm)
    } catch {
      log("  \(error)")
      try requireRemote(error)
    }
    if Bool.random(using: &random) { try join(on: number) }
    try compareOnlooker(of: number)
  }

  /// As `kinvault sync` begins.
  private mutating func syncQuickly(_ number: Int) throws {
    guard let remote = pickRemote(number) else { return }
    let device = devices[number]
    log("\(number): syncs quickly with \(remote)")
    do {
      let report = try device.quickSync(
        remotes[remote], as: "r\(remote)", options())
      log(report == nil ? "  not enough" : "  \(report?.pushed.registerCount ?? 0) heads")
    } catch let error as SyncError {
      log("  \(error)")
      try requireRemote(error)
    }
  }

  static func sync(
    _ device: Family.Device, _ store: any BlobStore, _ remote: Int, _ options: SyncOptions
  ) throws(SyncError) -> SyncReport {
    guard let name = RemoteName("r\(remote)") else { preconditionFailure("no name") }
    return try RemoteSync(vault: device.vault, remote: store, name: name, options: options).run()
  }

  /// Only remotes may fail as long as no device is cut; full disks and divided keys are seen to in `stepIfPossible`.
  func requireRemote(_ error: SyncError) throws {
    switch error {
    case .remote: return
    case .vault(let error): throw error
    default: throw error
    }
  }

  private mutating func syncLocked(_ number: Int) throws {
    guard let remote = pickRemote(number), let name = RemoteName("r\(remote)") else { return }
    let device = devices[number]
    log("\(number): syncs with \(remote), locked")
    do throws(SyncError) {
      _ = try RemoteSync(
        .locked(
          VaultCopy(
            id: device.vault.id, store: device.store,
            state: StateFolder(store: device.stateStore), clock: device.clock.wallClock)),
        remote: remotes[remote], name: name, options: options()
      ).run()
    } catch {
      log("  \(error)")
      try requireRemote(error)
    }
  }

  /// The device stops at some call that changes its folder or its state; then it starts again.
  private mutating func syncAndCrash(_ number: Int) throws {
    guard let remote = pickRemote(number) else { return }
    let device = devices[number]
    let call = Int.random(in: 1..<40, using: &random)
    let isState = Int.random(in: 0..<4, using: &random) == 0
    log(
      "\(number): syncs with \(remote) and is cut at \(isState ? "state" : "folder") call \(call)")
    (isState ? device.stateStore : device.store).cut(after: call)
    do throws(SyncError) {
      _ = try Self.sync(device, remotes[remote], remote, options())
    } catch {
      log("  \(error)")
    }
    try restart(number)
  }

  /// A process that was killed, or a machine that lost power, starts again.
  mutating func restart(_ number: Int) throws {
    let device = devices[number]
    makeRoom(on: .vault(number))
    makeRoom(on: .state(number))
    if Bool.random(using: &random) {
      let seed = random.next()
      log("\(number): loses power")
      device.store = device.store.imageAfterPowerCut(seed: seed)
      device.stateStore = device.stateStore.imageAfterPowerCut(seed: seed &+ 1)
    }
    try device.reopen()
    if !onlookers.isEmpty { onlookers[number] = try Self.onlooker(of: device) }
    try join(on: number)
  }

  // MARK: The end

  /// All sync with all until nothing moves.
  mutating func meet() throws {
    for round in 0..<12 {
      var isAtRest = round > 0
      var options = Self.calm
      // What a remote has lost comes back.
      options.looksEverywhere = round == 0
      for (number, device) in devices.enumerated() {
        for (remote, store) in remotes.enumerated() {
          log("\(number): meets \(remote)")
          do throws(SyncError) {
            let report = try Self.sync(device, store, remote, options)
            if !report.pulled.isEmpty || !report.pushed.isEmpty { isAtRest = false }
          } catch {
            log("  \(error)")
            if isOut(error) {
              try recover(number)
              isAtRest = false
            } else if !mayWaitForWords(error) {
              throw error
            }
          }
        }
      }
      if isAtRest { return }
    }
    throw Restless()
  }

  struct Restless: Error, CustomStringConvertible {
    let description = "the devices go on moving files"
  }

  /// All show the same, every text is there unless someone replaced it knowingly, every record can be come to from the root,
  /// no mode is one that somebody has replaced, and every file is whole.
  func failures(readsEverything: Bool) throws -> [String] {
    var failures: [String] = []
    let first = try devices[0].contents()
    let attributes = try attributes(on: 0)
    for (number, device) in devices.enumerated() {
      let contents = try device.contents()
      if contents != first {
        let differing = Set(contents.keys).union(first.keys).filter { contents[$0] != first[$0] }
        failures.append("0 and \(number) differ: \(differing.sorted().prefix(6))")
      }
      let others = try number == 0 ? attributes : self.attributes(on: number)
      let differing = Set(others.keys).union(attributes.keys)
        .filter { others[$0] != attributes[$0] }
      if !differing.isEmpty {
        failures.append("attributes of 0 and \(number) differ: \(differing.sorted().prefix(6))")
      }
      if try device.emma.hasConcurrentVersions { failures.append("\(number) has not joined all") }
      if try device.vault.context.ownPerson().generation == nil {
        failures.append("the keys of \(number) are divided still")
      }
      guard readsEverything else { continue }
      // What was told when it was opened may be over by now.
      try device.reopen()
      let problems = try device.vault.check(readsData: true).problems.filter { $0.severity > .note }
      failures += problems.map { "\(number) is not whole: \($0.path): \($0.reason)" }
    }
    failures += try disagreeingNames() + unreachableRecords() + replacedModes()
    let excused = try textsTakenToBeSeen()
    let lost = ledger.lost(among: Set(first.values)).filter { !excused.contains($0) }
    if !lost.isEmpty { failures.append("lost: \(lost.joined(separator: ", "))") }
    return failures
  }
}
