import MachineState
import Vault
import VaultModel

/// As lines of text: Docs/Format.md, "This machine's state".
extension RemoteMemory {
  private static let title = "kinvault remote 1"

  package func encoded() -> [UInt8] {
    var lines: [String] = []
    if let lastSuccess { lines.append("success \(lastSuccess)") }
    if let lastFullLook { lines.append("look \(lastFullLook)") }
    if let lastLogs { lines.append("logs \(lastLogs)") }
    if let lastComparison { lines.append("compared \(lastComparison)") }
    if let lastLoss { lines.append("loss \(lastLoss)") }
    lines.append("pending \(pendingCommitCount)")
    if let failures {
      lines.append("failed \(failures.count) \(failures.first) \(failures.last) \(failures.text)")
    }
    for finding in findings { lines.append("found \(finding.kind.rawValue) \(finding.text)") }
    for (path, seen) in Self.inOrder(seen) {
      let mark = seen.fingerprint.map { String($0, radix: 16) } ?? "-"
      lines.append("seen \(mark) \(seen.state.counter) \(seen.state.hash.hex) \(path)")
    }
    for (path, counter) in Self.inOrder(brought) { lines.append("brought \(counter) \(path)") }
    lines += brokenLines
    if let vouched { lines.append("vouched \(vouched.hex)") }
    if let lastCargoLook { lines.append("turn \(lastCargoLook.path)") }
    for (owner, left) in leftCargo.sorted(by: { $0.key < $1.key }) {
      let weight = left.weight
      lines.append(
        "left \(String(left.mark, radix: 16)) \(weight.fileCount) \(weight.byteCount) \(owner.path)"
      )
    }
    for (path, count) in Self.inOrder(returnedSegments) {
      lines.append("returned \(count) \(path)")
    }
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  private var brokenLines: [String] {
    if broken.isEmpty && brokenMarks.isEmpty { return [] }
    var lines = ["basis \(String(basis, radix: 16))"]
    for (path, file) in Self.inOrder(broken) {
      let told = file.finding.map { "\($0.kind.rawValue) \(path) \($0.text)" }
      lines.append("broken \(String(file.fingerprint, radix: 16)) \(told ?? "- \(path)")")
    }
    for mark in brokenMarks.sorted() { lines.append("unnamed \(String(mark, radix: 16))") }
    return lines
  }

  /// By the texts of their paths, each of which is made once.
  private static func inOrder<Value>(
    _ files: [VaultPath: Value]
  ) -> [(path: String, value: Value)] {
    files.map { (path: $0.key.string, value: $0.value) }.sorted { $0.path < $1.path }
  }

  /// Nil for what is torn, or of another version: then nothing is remembered.
  package init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    self.init()
    for words in lines.words(upTo: 5) {
      guard add(words) else { return nil }
    }
  }

  private mutating func add(_ words: [Substring]) -> Bool {
    switch (words.first, words.count) {
    case ("success", 2):
      lastSuccess = UInt64(words[1])
      return lastSuccess != nil
    case ("look", 2):
      lastFullLook = UInt64(words[1])
      return lastFullLook != nil
    case ("logs", 2):
      lastLogs = UInt64(words[1])
      return lastLogs != nil
    case ("compared", 2):
      lastComparison = UInt64(words[1])
      return lastComparison != nil
    case ("loss", 2):
      lastLoss = UInt64(words[1])
      return lastLoss != nil
    case ("pending", 2):
      guard let count = UInt64(words[1]) else { return false }
      pendingCommitCount = count
    case ("failed", 5):
      failures = Failures(words)
      return failures != nil
    case ("found", 3...):
      // Of a kind that this program does not know nothing can be said.
      guard let kind = SyncProblem.Kind(rawValue: String(words[1])) else { return true }
      findings.append(
        RemoteMemory.Finding(kind: kind, text: words[2...].joined(separator: " ")))
    case ("vouched", 2):
      vouched = FileHash(hex: words[1])
      return vouched != nil
    case ("basis", 2):
      guard let number = UInt64(words[1], radix: 16) else { return false }
      basis = number
    case ("turn", 2):
      lastCargoLook = CargoOwner(path: words[1])
      return lastCargoLook != nil
    default: return addFile(words)
    }
    return true
  }

  /// What is remembered of one file, or of what is one person's or member's.
  private mutating func addFile(_ words: [Substring]) -> Bool {
    switch (words.first, words.count) {
    case ("broken", 4...): return addBroken(words)
    case ("unnamed", 2):
      guard let mark = UInt64(words[1], radix: 16) else { return false }
      brokenMarks.insert(mark)
    case ("left", 5):
      guard let owner = CargoOwner(path: words[4]), let left = LeftCargo(words)
      else { return false }
      leftCargo[owner] = left
    case ("brought", 3):
      guard let counter = UInt64(words[1]), let path = VaultPath(parsing: String(words[2]))
      else { return false }
      brought[path] = counter
    case ("returned", 3):
      guard let count = Int(words[1]), count > 0, let path = VaultPath(parsing: String(words[2]))
      else { return false }
      returnedSegments[path] = count
    case ("seen", 5):
      guard let path = VaultPath(parsing: String(words[4])), let file = Seen(words)
      else { return false }
      seen[path] = file
    default: return false
    }
    return true
  }

  private mutating func addBroken(_ words: [Substring]) -> Bool {
    guard let mark = UInt64(words[1], radix: 16), let path = VaultPath(parsing: String(words[3]))
    else { return false }
    var finding: Finding?
    if words[2] != "-" {
      // Of a kind that this program does not know nothing can be said.
      guard let kind = SyncProblem.Kind(rawValue: String(words[2])) else { return true }
      finding = Finding(kind: kind, text: words.count > 4 ? String(words[4]) : "")
    }
    broken[path] = Broken(fingerprint: mark, finding: finding)
    return true
  }
}

extension RemoteMemory.Failures {
  /// - Parameter words: The five of its line.
  fileprivate init?(_ words: [Substring]) {
    guard let count = Int(words[1]), let first = UInt64(words[2]), let last = UInt64(words[3])
    else { return nil }
    self.init(count: count, first: first, last: last, text: String(words[4]))
  }
}

extension RemoteMemory.LeftCargo {
  /// - Parameter words: The five of its line, of which the last one says whose it is.
  fileprivate init?(_ words: [Substring]) {
    guard let mark = UInt64(words[1], radix: 16), let fileCount = Int(words[2]),
      let byteCount = UInt64(words[3]), fileCount >= 0
    else { return nil }
    self.init(mark: mark, weight: CargoWeight(fileCount: fileCount, byteCount: byteCount))
  }
}

extension RemoteMemory.Seen {
  /// - Parameter words: The five of its line, of which the last one is the file's path.
  fileprivate init?(_ words: [Substring]) {
    guard let counter = UInt64(words[2]), let hash = FileHash(hex: words[3]) else { return nil }
    let fingerprint = UInt64(words[1], radix: 16)
    guard fingerprint != nil || words[1] == "-" else { return nil }
    self.init(fingerprint: fingerprint, state: RegisterState(counter: counter, hash: hash))
  }
}
