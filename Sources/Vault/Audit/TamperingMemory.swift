import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// What syncs found that nobody does who keeps to the format, until a person says that they have looked at it:
/// Docs/Format.md, "This machine's state", `tampering`.
package struct TamperingMemory: Hashable, Sendable {
  /// One thing that was found, however often.
  package struct Finding: Hashable, Sendable {
    /// A word for what it is, as the sync calls it.
    package var kind: String
    /// Under which name this machine knows the remote that showed it.
    package var remote: String
    /// The file, or the folder of the member or person, in the vault's folder.
    package var path: String
    /// Of what was said of it: with other words it is another finding.
    package var mark: UInt64
    /// Milliseconds since 1970.
    package var first: UInt64
    package var last: UInt64
    package var isAcknowledged = false

    /// Whether it stands for all that were found when there were too many to be told one by one.
    fileprivate var isOfMore: Bool { path == "-" && mark == 0 }
  }

  /// The oldest first.
  package private(set) var findings: [Finding] = []

  /// Findings that nobody has acknowledged, beyond these, are counted together, by kind and remote.
  private static let limit = 64
  /// Of more than these, what was acknowledged is forgotten, what was seen longest ago first.
  private static let lineLimit = 2048
  /// What was acknowledged and not seen for so long is forgotten: should it come again, it is news.
  private static let acknowledgedMilliseconds: UInt64 = 30 * CivilTime.dayMilliseconds

  package init() {}

  /// Those that nobody has acknowledged.
  package var open: [Finding] { findings.filter { !$0.isAcknowledged } }

  /// Takes in what a sync found.
  ///
  /// - Parameter found: Now, and not acknowledged.
  /// - Returns: True if it is news.
  mutating func note(_ found: Finding) -> Bool {
    // What was acknowledged takes no room: else so many broken files that lie there for good would be all that is ever told.
    let isFull = open.count >= Self.limit
    let alike = findings.indices.filter {
      findings[$0].kind == found.kind && findings[$0].remote == found.remote
    }
    let exact = alike.first { findings[$0].path == found.path && findings[$0].mark == found.mark }
    if let position = exact ?? (isFull ? alike.first { findings[$0].isOfMore } : nil) {
      findings[position].last = max(findings[position].last, found.last)
      // That there are more than are told one by one is news once more where somebody has looked at those of before.
      guard exact == nil, findings[position].isAcknowledged else { return false }
      findings[position].isAcknowledged = false
      return true
    }
    if findings.count >= Self.lineLimit { forgetLongestUnseen() }
    guard findings.count < Self.lineLimit else { return false }
    var found = found
    // So many at once are made up; that there are more is one finding more of each kind and remote.
    if isFull { (found.path, found.mark) = ("-", 0) }
    findings.append(found)
    return true
  }

  private mutating func forgetLongestUnseen() {
    let acknowledged = findings.indices.filter { findings[$0].isAcknowledged }
    guard let oldest = acknowledged.min(by: { findings[$0].last < findings[$1].last }) else {
      return
    }
    findings.remove(at: oldest)
  }

  mutating func acknowledge() {
    for position in findings.indices { findings[position].isAcknowledged = true }
  }

  mutating func forgetOld(at now: UInt64) {
    findings.removeAll {
      $0.isAcknowledged && $0.last + Self.acknowledgedMilliseconds < now
    }
  }
}

extension TamperingMemory {
  private static let title = "kinvault tampering 1"
  private static let path: BlobPath = "tampering"
  private static let byteLimit = 1 << 20

  /// Empty where nothing is remembered, or the file is torn.
  static func load(state: StateFolder) throws(VaultError) -> TamperingMemory {
    guard let bytes = try state.readIfThere(path, limit: byteLimit),
      let lines = ChecksummedLines(decoding: bytes, title: title)
    else { return TamperingMemory() }
    var memory = TamperingMemory()
    for words in lines.words(upTo: 8) {
      guard words.count == 8, words[0] == "found", let mark = UInt64(words[4], radix: 16),
        let first = UInt64(words[5]), let last = UInt64(words[6])
      else { continue }
      memory.findings.append(
        Finding(
          kind: String(words[1]), remote: String(words[2]), path: String(words[3]), mark: mark,
          first: min(first, Limits.time), last: min(last, Limits.time),
          isAcknowledged: words[7] == "acknowledged"))
    }
    return memory
  }

  /// On disk when it returns.
  func store(state: StateFolder) throws(VaultError) {
    let lines = findings.map {
      "found \($0.kind) \($0.remote) \($0.path) \(String($0.mark, radix: 16)) \($0.first) \($0.last) "
        + ($0.isAcknowledged ? "acknowledged" : "open")
    }
    let bytes = ChecksummedLines.encode(title: Self.title, lines)
    try storing(state.store.replace(Self.path, bytes, durably: true))
  }
}

extension StateFolder {
  /// Something that a sync found, and that nobody does who keeps to the format.
  package struct Suspicion: Hashable, Sendable {
    package var kind: String
    package var path: String
    package var text: String

    package init(kind: String, path: String, text: String) {
      (self.kind, self.path, self.text) = (kind, path, text)
    }
  }

  package func tampering() throws(VaultError) -> TamperingMemory {
    try TamperingMemory.load(state: self)
  }

  /// Remembers what a sync of a remote found, and notes in the audit log what of it is news. No keys are needed.
  package func note(
    _ suspicions: [Suspicion], remote: RemoteName, clock: WallClock
  ) throws(VaultError) {
    guard !suspicions.isEmpty else { return }
    let now = clock.milliseconds()
    var news: [Suspicion] = []
    try withLock("tampering-lock") { () throws(VaultError) in
      var memory = try TamperingMemory.load(state: self)
      let before = memory
      memory.forgetOld(at: now)
      for suspicion in suspicions {
        let found = TamperingMemory.Finding(
          kind: suspicion.kind, remote: remote.string,
          // What stands in a file of lines is one word, whatever a remote calls its files.
          path: VaultPath(parsing: suspicion.path)?.string ?? "-",
          mark: Digest.sha256(Array(suspicion.text.utf8)).firstWord, first: now, last: now)
        if memory.note(found) { news.append(suspicion) }
      }
      if memory != before { try memory.store(state: self) }
    }
    for suspicion in news.prefix(16) {
      try noteWithoutKeys(
        .tampering, detail: "\(suspicion.kind) \(suspicion.path.prefix(200))",
        member: VaultPath(parsing: suspicion.path)?.member, about: remote.string, clock: clock)
    }
  }

  /// A person has looked at what was found.
  ///
  /// - Returns: What it was.
  package func acknowledgeTampering() throws(VaultError) -> [TamperingMemory.Finding] {
    try withLock("tampering-lock") { () throws(VaultError) in
      var memory = try TamperingMemory.load(state: self)
      let open = memory.open
      guard !open.isEmpty else { return [] }
      memory.acknowledge()
      try memory.store(state: self)
      return open
    }
  }
}

extension VaultPath {
  /// The member whose file it is; nil of all others.
  var member: MemberID? {
    switch self {
    case .memberRoot(let member), .link(let member, _), .epochWrap(let member, _),
      .head(let member, _), .object(let member, _):
      member
    default: nil
    }
  }
}
