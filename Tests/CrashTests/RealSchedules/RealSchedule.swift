import Glibc
import SystemPackage
import TestSupport

/// Machines of a family that work with the built program at random: through mounts and by commands, killed, put back,
/// copied, with full disks, with remotes that go back in time, and with keys that change on two of them at once. The
/// steps follow from a seed; the keys and times do not.
struct RealSchedule {
  let seed: UInt64
  var random: SplitMix64
  var ledger = RealLedger()
  private(set) var trace: [String] = []
  var machines: [RealMachine] = []
  /// Machines that may not take part any more, as their device was removed or their person unshared.
  var former: Set<Int> = []
  let remotes: [FilePath]
  let family: RealFamily
  /// The papers with 24 words that were made, the newest last.
  var papers: [FilePath]
  /// Whether Anna's keys were changed on two machines at once and are in two pieces.
  var mayBeDivided = false
  /// Something has happened that syncs and commands tell of: they end with 1, or with 10 where they wait for a person.
  var isTroubled = false
  /// Which member of the family a machine is, or is a copy of.
  var members: [RealFamily.Member] = []
  private(set) var snapshots: [Int: (texts: Set<String>, disk: FilePath)] = [:]
  private var backups: [Int: (texts: Set<String>, folder: FilePath)] = [:]
  private var hasChangedKeys = false
  /// Machines whose mount syncs by itself: what it shows may change between two calls.
  var syncing: Set<Int> = []
  private let disk: SmallDisk?
  private let folder: TemporaryFolder

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    family = try RealFamily.shared.get()
    folder = try TemporaryFolder()
    papers = [family.words]
    let folder = folder
    remotes = (0..<(seed % 3 == 0 ? 2 : 1)).map { folder.appending("remote \($0)") }
    disk = seed % 4 == 1 ? try SmallDisk(megabytes: 16, at: folder.appending("desk")) : nil
    let cast: [RealFamily.Member] =
      switch seed % 4 {
      case 0: [.desk, .laptop, .phone]
      case 1: [.desk, .laptop]
      case 2: [.desk, .phone]
      default: [.desk, .laptop]
      }
    for member in cast {
      let disk = folder.appending(member.rawValue)
      try family.copy(member, to: disk)
      try add(member, on: disk, named: member.rawValue)
    }
    for number in machines.indices { try sync(number) }
  }

  private mutating func add(
    _ member: RealFamily.Member, on disk: FilePath, named name: String
  ) throws {
    let machine = RealMachine(name, disk: disk, in: folder.path, password: family.password)
    machines.append(machine)
    members.append(member)
    if keepsUnlocked { try machine.unlock() }
    guard machines.count <= RealFamily.Member.allCases.count, snapshots.isEmpty else { return }
    for (number, remote) in remotes.enumerated() {
      try machine.run(["remote", "add", "r\(number)", remote.string])
    }
  }

  /// In one of four schedules every command asks for the password.
  private var keepsUnlocked: Bool { seed % 4 != 3 }

  /// Leaves no key in the keyring of whoever runs the tests.
  func lock() throws {
    for machine in machines where keepsUnlocked { try machine.lock() }
  }

  mutating func log(_ text: String) { trace.append(text) }

  func outside(_ name: String) -> FilePath { folder.appending(name) }

  func makeFolder(_ folder: FilePath) throws {
    try CallFailure.check(mkdir(folder.string, 0o700), "mkdir", folder.string)
  }

  // MARK: The steps

  mutating func run() throws {
    for _ in 0..<(8 + Int(seed % 7)) { try step() }
  }

  private mutating func step() throws {
    guard
      let number = machines.indices.filter({ !former.contains($0) }).randomElement(using: &random)
    else { return }
    switch Int.random(in: 0..<30, using: &random) {
    case 0...9: try work(on: number)
    case 10...11: try addRecord(on: number)
    case 12: try endMount(of: number)
    case 13...14: kill(number)
    case 15...19: try sync(number)
    case 20...21: try takeSnapshot(number)
    case 22: try putBack(number)
    case 23: try copyMachine(number)
    case 24: try keepRemote()
    case 25: try rollBackRemote()
    case 26: try rollBackRemoteWhileTwoWrite()
    case 27: try fillDisk()
    default:
      if hasChangedKeys { try work(on: number) } else { try changeKeys() }
    }
    try compare(number)
  }

  private func compare(_ number: Int) throws {
    let machine = machines[number]
    guard machine.isMounted else { return }
    let differences = try machine.differencesFromFresh()
    guard differences.isEmpty else {
      throw CommandFailure(
        description: "\(machine.name): live and fresh mount differ:\n"
          + differences.joined(separator: "\n"))
    }
  }

  mutating func mount(_ number: Int) throws {
    guard !machines[number].isMounted else { return }
    let syncs = Int.random(in: 0..<4, using: &random) == 0
    log("\(machines[number].name): mounts\(syncs ? ", and syncs by itself" : "")")
    try machines[number].mount(syncs: syncs)
    if syncs { syncing.insert(number) }
  }

  mutating func endMount(of number: Int) throws {
    guard machines[number].isMounted else { return }
    log("\(machines[number].name): unmounts")
    try machines[number].unmount()
    ledger.isSaved(on: number)
    syncing.remove(number)
  }

  private mutating func kill(_ number: Int) {
    guard machines[number].isMounted else { return }
    log("\(machines[number].name): its mount is killed")
    machines[number].kill()
    ledger.kill(mountOf: number)
    syncing.remove(number)
  }

  private mutating func addRecord(on number: Int) throws {
    let text = ledger.newText()
    log("\(machines[number].name): adds a record with \(text)")
    try machines[number].run(
      [
        "record", "add", "--member", "Emma", "--title", text, "--date", "2025-01-20",
        "--type", "note", "--note", text,
      ], expecting: expected)
    ledger.write(text, on: number, isSaved: true)
  }

  /// How commands may end that write: while keys are in two pieces a machine that should become a device of its own waits.
  var expected: Set<Int32> { mayBeDivided ? [0, 1, 10] : isTroubled ? [0, 1] : [0] }

  mutating func sync(_ number: Int) throws {
    log("\(machines[number].name): syncs")
    // The machine's mount may be syncing at this moment.
    let result = try machines[number].run(
      ["sync", "--accept-mass-change"],
      expecting: expected.union(syncing.contains(number) ? [9] : []))
    trace += result.output.split(separator: "\n").map { "  \($0)" }
    guard result.status != 10, result.status != 9 else { return }
    ledger.isSaved(on: number)
    for remote in remotes.indices { ledger.meet(number, remote) }
  }

  // MARK: Disks

  private mutating func takeSnapshot(_ number: Int) throws {
    guard disk == nil || number != 0 else { return }
    try endMount(of: number)
    log("\(machines[number].name): snapshot")
    let copy = outside("snapshot of \(number)")
    try RealFamily.copy(machines[number].disk, to: copy)
    snapshots[number] = (ledger.texts(at: .machine(number)), copy)
  }

  /// Folder and state return to the snapshot: what was written since and is nowhere else is gone.
  private mutating func putBack(_ number: Int) throws {
    guard let snapshot = snapshots[number] else { return }
    try endMount(of: number)
    log("\(machines[number].name): is put back")
    try RealFamily.copy(snapshot.disk, to: machines[number].disk)
    ledger.reset(.machine(number), to: snapshot.texts)
    isTroubled = true
  }

  private mutating func copyMachine(_ number: Int) throws {
    guard machines.count < 4, disk == nil || number != 0 else { return }
    try endMount(of: number)
    let name = "\(machines[number].name) copied \(machines.count)"
    log("\(machines[number].name): is copied, as \(name)")
    let copy = outside(name)
    try RealFamily.copy(machines[number].disk, to: copy)
    machines.append(
      RealMachine(name, disk: copy, in: folder.path, password: family.password))
    members.append(members[number])
    if keepsUnlocked { try machines[machines.count - 1].unlock() }
    ledger.copy(number, as: machines.count - 1)
    isTroubled = true
  }

  /// Nothing more can be written on the desk's disk for some steps; then there is room again.
  private mutating func fillDisk() throws {
    guard let disk, !former.contains(0) else { return }
    try mount(0)
    log("desk: its disk is full")
    try disk.fill()
    try work(on: 0, onFullDisk: true)
    let text = ledger.newText()
    log("desk: adds a record with \(text)")
    let added = try machines[0].run(
      [
        "record", "add", "--member", "Emma", "--title", text, "--date", "2025-01-20",
        "--type", "note", "--note", text,
      ], expecting: expected.union([7]))
    if added.status == 0 { ledger.write(text, on: 0, isSaved: true) }
    let synced = try machines[0].run(["sync"], expecting: expected.union([7, 9]))
    log("  add \(added.end), sync \(synced.end)")
    let isGone = try machines[0].unmount(expecting: [0, 7])
    log("  unmount: \(isGone)")
    try disk.makeRoom()
    if isGone {
      ledger.isSaved(on: 0)
      syncing.remove(0)
    } else {
      try endMount(of: 0)
    }
    try mount(0)
  }

  // MARK: Remotes

  private mutating func keepRemote() throws {
    let remote = Int.random(in: remotes.indices, using: &random)
    log("remote \(remote): backup")
    let copy = outside("backup of \(remote)")
    try RealFamily.copy(remotes[remote], to: copy)
    backups[remote] = (ledger.texts(at: .remote(remote)), copy)
  }

  private mutating func rollBackRemote() throws {
    let remote = Int.random(in: remotes.indices, using: &random)
    guard let backup = backups[remote] else { return try keepRemote() }
    // Of a mount that syncs by itself nobody knows what it does meanwhile.
    for number in syncing.sorted() { try endMount(of: number) }
    log("remote \(remote): goes back")
    try RealFamily.copy(backup.folder, to: remotes[remote])
    ledger.reset(.remote(remote), to: backup.texts)
    isTroubled = true
  }

  private mutating func rollBackRemoteWhileTwoWrite() throws {
    let remote = Int.random(in: remotes.indices, using: &random)
    guard let backup = backups[remote] else { return try keepRemote() }
    let two = machines.indices.filter { !former.contains($0) }.shuffled(using: &random).prefix(2)
    for number in two { try work(on: number) }
    log("remote \(remote): goes back while \(two.map { machines[$0].name }) sync")
    isTroubled = true
    let running = try two.map { try machines[$0].start(["sync"]) }
    usleep(UInt32.random(in: 0..<150_000, using: &random))
    try RealFamily.copy(backup.folder, to: remotes[remote])
    for (number, command) in zip(two, running) {
      // What it was about to read is gone, or older than what it has seen.
      let result = try machines[number].finish(
        command, ["sync"],
        expecting: expected.union(syncing.contains(number) ? [9, 10, 14] : [10, 14]))
      trace += (result.output + result.errors).split(separator: "\n").map { "  \($0)" }
      ledger.isSaved(on: number)
    }
    ledger.reset(.remote(remote), to: backup.texts)
  }

  // MARK: Keys

  private enum KeyChange: String { case rotate, revoke, unshare }

  /// Keys change on two machines of Anna's, neither of which can reach a remote; on one where there are not two.
  private mutating func changeKeys() throws {
    hasChangedKeys = true
    let annas = machines.indices.filter { !former.contains($0) && !members[$0].isBens }
      .shuffled(using: &random)
    guard let first = annas.first else { return }
    let away = remotes.map { FilePath("\($0) away") }
    for (remote, away) in zip(remotes, away) { rename(remote.string, away.string) }
    let done = try changeKeys(on: first, not: [])
    // The laptop's own change does not count once it is removed; whether it was is not known there.
    let others = annas.dropFirst().filter { !(done == .revoke && members[$0] == .laptop) }
    if let second = others.first {
      // Seconds tell which came later.
      usleep(1_100_000)
      _ = try changeKeys(on: second, not: [done, .revoke])
      mayBeDivided = true
    }
    isTroubled = true
    for (remote, away) in zip(remotes, away) { rename(away.string, remote.string) }
    for number in former.sorted() { leave(number) }
  }

  private mutating func changeKeys(on number: Int, not excluded: Set<KeyChange>) throws -> KeyChange
  {
    var possible: [KeyChange] = [.rotate]
    if members.contains(.phone), !former.contains(where: { members[$0] == .phone }) {
      possible.append(.unshare)
    }
    if members.contains(.laptop), members[number] != .laptop { possible.append(.revoke) }
    possible.removeAll { excluded.contains($0) && $0 != .rotate }
    let change = possible.randomElement(using: &random) ?? .rotate
    log("\(machines[number].name): \(change) without a remote")
    let words = ["--words-file", family.words.string, "--yes"]
    switch change {
    case .rotate:
      let paper = outside("words \(papers.count)")
      try machines[number].run(["recovery", "rotate", "--words-out", paper.string] + words)
      papers.append(paper)
    case .revoke:
      try machines[number].run(["device", "revoke", "laptop"] + words)
      former.formUnion(machines.indices.filter { members[$0] == .laptop })
    case .unshare:
      try machines[number].run(["unshare", "Emma", "--with", "Ben"])
      former.formUnion(machines.indices.filter { members[$0] == .phone })
    }
    return change
  }

  /// What is on no other machine is gone with one that may not take part any more.
  private mutating func leave(_ number: Int) {
    kill(number)
    ledger.reset(.machine(number), to: [])
    // On a remote it may be what nobody of those who are left has seen.
    let here = machines.indices.filter { !former.contains($0) }
    let seen = here.reduce(into: Set<String>()) { $0.formUnion(ledger.texts(at: .machine($1))) }
    for remote in remotes.indices { ledger.reset(.remote(remote), to: seen) }
  }
}
