import MachineState
import RemoteStores
import Vault
import VaultErrors
import VaultModel
import VaultSync
import Window

/// How this machine stands to one remote, as far as it knows without asking it.
struct RemoteStatus: Encodable {
  enum State: String, Encodable {
    /// Nothing was ever moved.
    case never
    case synced
    case pending
    /// The last sync went through but for something that a person has to look at.
    case attention
    /// The last attempts failed.
    case error
  }

  var name: String
  var address: String
  var state: State
  /// Commits that are here and not there yet.
  var pending: UInt64
  var lastSync: String?
  var failures: Int
  var failingSince: String?
  var error: String?
  /// What the last sync found and a person should know of.
  var findings: [String]
  private var memory: RemoteMemory
  /// Whether the vault was begun here from this remote, and has not come whole yet.
  private let isUnfinishedClone: Bool

  enum CodingKeys: String, CodingKey {
    case name, address, state, pending, lastSync, failures, failingSince, error, findings
  }

  /// Every remote of the vault on this machine.
  static func all(of vault: VaultID) throws -> [RemoteStatus] {
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault)
    let (whole, damaged) = try RemoteRegistry(state: state).readable()
    var all: [RemoteStatus] = []
    for remote in whole {
      let memory = try RemoteStateFile(state: state, remote: remote.name).load()
      all.append(
        RemoteStatus(
          remote.name, remote.shownAddress, memory, isUnfinishedClone: remote.isUnfinishedClone))
    }
    for name in damaged {
      var memory = try RemoteStateFile(state: state, remote: name).load()
      memory.findings.append(.init(kind: .damagedHere, text: KnownRemote.isDamaged(name)))
      all.append(RemoteStatus(name, RemoteConfiguration.notReadable, memory))
    }
    return all
  }

  /// Tells what syncs, also those of a mount, have left for a person to decide, and whether a clone was cut short.
  static func tellDecisions(of vault: VaultID) throws {
    for remote in try all(of: vault) {
      for line in remote.decisions {
        Terminal.note("kinvault: The sync with \(remote.name) has stopped. \(line)")
      }
      if remote.isUnfinishedClone {
        Terminal.note("kinvault: \(unfinishedClone(remote.name))")
      }
    }
  }

  /// What a check says of a clone that was cut short.
  static func unfinishedClones(of vault: VaultID) throws -> [Problem] {
    try RemoteRegistry.here(vault: vault).readable().whole.filter(\.isUnfinishedClone).map {
      Problem(.waiting, .warning, path: "members", reason: unfinishedClone($0.name.string))
    }
  }

  private static func unfinishedClone(_ name: String) -> String {
    "Not all of the vault has come from \(name) yet, so records may be missing here. To go on: kinvault sync \(name)"
  }

  private init(
    _ name: RemoteName, _ address: String, _ memory: RemoteMemory, isUnfinishedClone: Bool = false
  ) {
    var memory = memory
    if isUnfinishedClone {
      memory.findings.append(.init(kind: .waiting, text: Self.unfinishedClone(name.string)))
    }
    self.isUnfinishedClone = isUnfinishedClone
    self.memory = memory
    self.name = name.string
    self.address = address
    pending = memory.pendingCommitCount
    lastSync = memory.lastSuccess.map(DateText.utc(milliseconds:))
    failures = memory.failures?.count ?? 0
    failingSince = memory.failures.map { DateText.utc(milliseconds: $0.first) }
    error = memory.failures?.text
    findings = memory.findings.map(\.text)
    state = .never
    judge()
  }

  private mutating func judge() {
    if failures > 0 {
      state = .error
    } else if !findings.isEmpty {
      state = .attention
    } else if memory.lastSuccess == nil {
      state = .never
    } else {
      state = pending > 0 ? .pending : .synced
    }
  }

  /// What goes on only when a person says so, each with how.
  private var decisions: [String] {
    memory.findings.filter(\.needsDecision).map(decision)
  }

  private func decision(_ finding: RemoteMemory.Finding) -> String {
    "\(Self.shown(finding)) To go on all the same: kinvault sync \(name) --accept-mass-change"
  }

  /// Without long numbers, also where the vault is locked and nobody knows what they stand for.
  private static func shown(_ finding: RemoteMemory.Finding) -> String {
    Terminal.visible(NamedPath.shortened(beginning: finding.text))
  }

  /// The findings, those first that need a decision.
  private var findingLines: [String] {
    decisions + memory.findings.filter { !$0.needsDecision }.map(Self.shown)
  }

  /// Takes what an open vault knows: how much was committed here since the remote was last put up to date, and what those are
  /// called of whose files something was found.
  mutating func complete(by vault: Vault) {
    if !memory.findings.isEmpty {
      let paths = NamedPath.load(of: vault)
      for position in memory.findings.indices {
        memory.findings[position].text = paths.text(beginning: memory.findings[position].text)
      }
    }
    pending = vault.members.reduce(0) { sum, member in
      member.openedHeads.reduce(sum) { sum, head in
        let there = memory.seen[.head(member.id, head.device)]?.state.counter ?? 0
        return sum + (head.counter > there ? head.counter - there : 0)
      }
    }
    judge()
  }

  /// Counts what was committed without the vault's keys: by the heads as the vault's folder shows them.
  mutating func count(pendingAmong heads: [ShownHead]) {
    let known = Set(memory.seen.keys.filter { if case .head = $0 { true } else { false } })
    pending = heads.reduce(0) { sum, head in
      // A head that was never carried anywhere counts if it is this device's own.
      guard known.contains(head.path) || head.isOwn else { return sum }
      let there = memory.seen[head.path]?.state.counter ?? 0
      return sum + (head.counter > there ? head.counter - there : 0)
    }
    judge()
  }

  /// What the page shows of it.
  var line: RemoteLine {
    RemoteLine(
      name: name, address: address, pending: pending, lastSync: memory.lastSuccess,
      problems: problems)
  }

  private var problems: [RemoteProblem] {
    let failure = error.map { RemoteProblem(remote: name, kind: .failed, text: $0) }
    let found = memory.findings.map { finding in
      RemoteProblem(
        remote: name, kind: .init(finding.kind),
        text: finding.needsDecision ? decision(finding) : Self.shown(finding))
    }
    return [failure].compactMap(\.self) + found
  }

  var text: String {
    let last = memory.lastSuccess.map { "last sync \(DateText.local(milliseconds: $0))" }
    let waiting = pending > 0 ? "\(counted(Int(clamping: pending), "change")) pending" : nil
    switch state {
    case .never:
      return ([waiting, "never synced"] as [String?]).compactMap(\.self).joined(separator: ", ")
    case .synced: return "synced, \(last ?? "")"
    case .pending: return [waiting, last].compactMap(\.self).joined(separator: ", ")
    case .attention:
      let facts = [waiting, last].compactMap(\.self).joined(separator: ", ")
      return ([facts] + findingLines).filter { !$0.isEmpty }.joined(separator: "; ")
    case .error:
      let since = memory.failures.map { DateText.local(milliseconds: $0.first) } ?? ""
      let count = failures == 1 ? "failed" : "failed \(failures) times in a row"
      var text = "\(count) since \(since): \(Terminal.visible(error ?? ""))"
      if memory.isInTrouble { text += " This does not go away by itself." }
      if isUnfinishedClone { text += " \(Self.unfinishedClone(name))" }
      return ([text, waiting, last] as [String?]).compactMap(\.self).joined(separator: "; ")
    }
  }
}

extension RemoteConfiguration {
  /// The address without what might be a secret.
  var shownAddress: String {
    do { return try RemoteAddress.parse(address).address.description } catch {
      return Self.notReadable
    }
  }

  static let notReadable = "(not readable)"
}
