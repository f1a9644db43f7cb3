import BlobStore
import Vault
import VaultErrors
import VaultModel

/// Files of the remote that do not hold. Anybody who can write there can put any number of them there, and in the folder of
/// anybody: so what was read once is not read again, as long as it is the same file and nothing is news that it could
/// build on. Docs/Sync.md, "Strangers".
extension SyncSession {
  /// So many are remembered by their names.
  private static let nameLimit = 8_192
  /// And so many besides, as many as a look shows.
  private static let markLimit = RemoteLook.nameLimit + RemoteLook.memberNameLimit

  /// Those of the remote's files that did not hold before, and need not be looked at. A register that is here as well is:
  /// whether it is replaced hangs on what it says.
  func knownBroken(
    _ look: RemoteLook, besides local: LocalLook, basis: UInt64
  ) -> [VaultPath: RemoteMemory.Broken] {
    let memory = memory
    guard !looksEverywhere, !options.takesStrangers, memory.basis == basis else { return [:] }
    // What was left since nobody stood for it may be somebody's who is known by now.
    let knowsTheSame = memory.vouched == home.vouching?.fingerprint
    if memory.broken.isEmpty && memory.brokenMarks.isEmpty { return [:] }
    var known: [VaultPath: RemoteMemory.Broken] = [:]
    for (path, entry) in look.files {
      guard let file = memory.brokenFile(path, marked: entry.fingerprint),
        knowsTheSame || file.finding != nil,
        !(path.registerDevice != nil && file.finding != nil && local.files.contains(path)),
        !(path.isDeviceRequest && home.isAwaited != nil)
      else { continue }
      known[path] = file
    }
    return known
  }

  /// Remembers what does not hold by what is here and there now, and tells what was known before.
  func rememberBroken(
    _ found: [VaultPath: SyncProblem?], known: [VaultPath: RemoteMemory.Broken],
    _ look: RemoteLook, basis: UInt64
  ) {
    let before = memory
    tell(known, before)
    var (named, marks): ([VaultPath: RemoteMemory.Broken], Set<UInt64>) = ([:], [])
    func keep(_ path: VaultPath, _ file: RemoteMemory.Broken, byName: Bool = true) {
      if byName, named.count < Self.nameLimit {
        named[path] = file
      } else if marks.count < Self.markLimit {
        marks.insert(RemoteMemory.mark(of: path, file))
      }
    }
    for (path, file) in known { keep(path, file, byName: before.broken[path] != nil) }
    if before.basis == basis {
      for (path, file) in before.broken where look.hasNotLookedFor(path) { keep(path, file) }
    }
    for (path, problem) in found.sorted(by: { $0.key.string < $1.key.string }) {
      guard let fingerprint = look.files[path]?.fingerprint else { continue }
      let finding = problem.map { RemoteMemory.Finding(kind: $0.kind, text: $0.text) }
      keep(path, RemoteMemory.Broken(fingerprint: fingerprint, finding: finding))
    }
    // Of these nobody knows whether they are where it was not looked.
    if before.basis == basis, look.searched != look.members {
      for mark in before.brokenMarks where marks.count < Self.markLimit { marks.insert(mark) }
    }
    let (broken, brokenMarks) = (named, marks)
    remember { memory in
      (memory.broken, memory.brokenMarks) = (broken, brokenMarks)
      memory.basis = basis
    }
  }

  private func tell(_ known: [VaultPath: RemoteMemory.Broken], _ memory: RemoteMemory) {
    var unnamedCount = 0
    for (path, file) in known {
      guard let finding = file.finding else { continue }
      if memory.broken[path] == nil {
        unnamedCount += 1
      } else {
        note(SyncProblem(finding.kind, .warning, path: path.string, finding.text))
      }
    }
    if unnamedCount > 0 { note(.manyBroken(unnamedCount)) }
  }
}

extension VaultPath {
  fileprivate var isDeviceRequest: Bool { if case .deviceRequest = self { true } else { false } }
}

extension SignedTree {
  /// On what it depends which files of a remote do not hold: the names of all statements here, in any order, and which links
  /// end the tenures of places, about which a person may have decided.
  func basis(of local: LocalLook) throws(SyncError) -> UInt64 {
    var basis: UInt64 = 0
    func add(_ path: VaultPath, times factor: UInt64) { basis &+= path.mark &* factor }
    for path in local.files where path.isStatement { add(path, times: 0x9E37_79B9_7F4A_7C15) }
    for member in local.members {
      for end in try keeping(ends(in: member)) {
        add(.link(member, end), times: 0xC2B2_AE3D_27D4_EB4F)
      }
    }
    return basis
  }
}

extension SignedExchange {
  /// Whether a statement holds that neither holds here nor was seen before.
  var hasNewStatements: Bool {
    judged.facts.keys.contains { path in
      path.isStatement && here[path] == nil && shownBefore[path]?.hash != there[path]?.hash
    }
  }
}
