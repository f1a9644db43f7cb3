import SystemPackage
import TestSupport

/// Everybody meets, and all is looked at.
extension RealSchedule {
  private var here: [Int] { machines.indices.filter { !former.contains($0) } }

  /// - Returns: What is wrong.
  mutating func failures() throws -> [String] {
    for number in here { try endMount(of: number) }
    for number in here { try sync(number) }
    if mayBeDivided { try joinKeys() }
    try settle()
    var failures: [String] = []
    var trees: [(name: String, tree: ShownTree)] = []
    for number in here {
      let machine = machines[number]
      let check = try machine.run(["check", "--read-data"], expecting: [0, 1])
      if check.status != 0, !lacksOnlyWhatItsOriginalHas(machine, check) {
        failures.append("\(machine.name) is not whole: \(check.output)\(check.errors)")
      }
      trees.append((machine.name, try machine.shown()))
    }
    trees.append(("a new clone", try cloned()))
    for (name, tree) in trees {
      let differences = tree.differences(from: trees[0].tree)
      if !differences.isEmpty {
        failures.append("\(name) and \(trees[0].name) differ:")
        failures += differences
      }
      let lost = Set(ledger.wanted.keys).subtracting(tree.texts)
      if !lost.isEmpty { failures.append("\(name) lacks \(lost.sorted())") }
    }
    return failures
  }

  /// A machine that was copied to another place after its mount was killed says of what was fsynced last that it is the
  /// original's to bring in. That this does so the ledger shows.
  private func lacksOnlyWhatItsOriginalHas(_ machine: RealMachine, _ check: CommandResult) -> Bool {
    let count = check.output.split(separator: "\n").count {
      $0.contains(
        "what was saved last before a crash was saved in another copy of this vault's folder")
    }
    return machine.name.contains(" copied ")
      && check.output.contains("\n\(count) problem\(count == 1 ? "" : "s"):\n")
  }

  /// All sync with all until nothing moves. Where a machine is told that the remote has lost what another one wrote, all do
  /// what they are told to.
  private mutating func settle() throws {
    var hasLost = false
    for _ in 0..<8 {
      var isAtRest = true
      let looksEverywhere = hasLost
      hasLost = false
      for number in here {
        let result = try machines[number].run(
          ["sync", "--accept-mass-change"] + (looksEverywhere ? ["--full"] : []),
          expecting: expected.union(papers.count > 1 ? [8] : []))
        log("\(machines[number].name): syncs: \(result.output)")
        if result.status == 8 {
          try recover(number, told: result)
          isAtRest = false
          continue
        }
        if result.output.contains("the remote has lost: kinvault sync --full") { hasLost = true }
        let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("r") }
        if !lines.allSatisfy({ $0.hasSuffix("in sync, nothing to do.") }) { isAtRest = false }
      }
      if isAtRest, !hasLost { return }
    }
    throw CommandFailure(description: "the machines go on moving files")
  }

  /// A machine that was copied, and became another device while keys were changed on a machine that had not met it, is out for
  /// that one. It is told so, and its person types the words.
  private mutating func recover(_ number: Int, told: CommandResult) throws {
    let machine = machines[number]
    guard told.errors.contains("This device has been removed"), !members[number].isBens else {
      throw CommandFailure(description: "\(machine.name): \(told.errors)")
    }
    for paper in papers.reversed() {
      let result = try machine.run(
        ["recover", "--words-file", paper.string, "--password-file", family.password.string],
        expecting: [0, 3])
      log("\(machine.name): recover: \(result.end) \(result.output)")
      if result.status == 0 { return }
    }
    throw CommandFailure(description: "no paper makes \(machine.name) a device again")
  }

  /// Keys that were changed on two machines are joined by the words, whichever papers that takes, on a machine that has
  /// something to join: whoever went on with words that had been replaced is told so there, and nowhere else.
  private mutating func joinKeys() throws {
    var ways: [[FilePath]] = papers.reversed().map { [$0] }
    if papers.count > 2 { ways.insert(Array(papers.suffix(2)), at: 0) }
    var isAnyWhole = false
    for number in here where !members[number].isBens {
      let machine = machines[number]
      for way in ways {
        let result = try machine.run(
          ["recovery", "join"] + way.flatMap { ["--words-file", $0.string] },
          expecting: [0, 2, 3])
        log("\(machine.name): recovery join with \(way.count): \(result.end) \(result.output)")
        guard result.status == 0 else { continue }
        mayBeDivided = false
        guard result.output.contains("nothing is to be joined") else { return }
        isAnyWhole = true
        break
      }
    }
    guard isAnyWhole else { throw CommandFailure(description: "no paper joins the keys") }
  }

  /// What somebody sees who has nothing but a remote and the 24 words that count.
  private mutating func cloned() throws -> ShownTree {
    guard let number = here.first(where: { !members[$0].isBens }) else {
      preconditionFailure("Anna has a machine")
    }
    let paper = try papers.reversed().first { paper in
      let result = try machines[number].run(
        ["recovery", "test", "--words-file", paper.string], expecting: [0, 3])
      return result.status == 0
    }
    guard let paper else { throw CommandFailure(description: "no paper opens the vault") }
    let disk = outside("clone")
    try makeFolder(disk)
    let machine = RealMachine("clone", disk: disk, in: outside("."), password: family.password)
    try machine.run([
      "clone", remotes[0].string, machine.vault.string, "--words-file", paper.string,
      "--password-file", family.password.string, "--device", "clone",
    ])
    return try machine.shown()
  }
}
