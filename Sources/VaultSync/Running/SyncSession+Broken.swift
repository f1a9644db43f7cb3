import Vault
import VaultModel

/// Files of the remote that do not hold. Anybody who can write there can put any number of them there, and in the folder of
/// anybody: so what was read once is not read again, as long as it is the same file and nothing is news that it could
/// build on. Docs/Sync.md, "Strangers".
extension SyncSession {
  /// So many are remembered; the others are read each time.
  private static let brokenLimit = 8_192

  /// Those of the remote's files that did not hold before, and need not be looked at.
  func knownBroken(_ look: RemoteLook, _ local: LocalLook) -> [VaultPath: RemoteMemory.Broken] {
    let memory = memory
    guard !looksEverywhere, memory.basis == Self.basis(of: local) else { return [:] }
    return memory.broken.filter { path, file in
      look.files[path]?.fingerprint == file.fingerprint
    }
  }

  /// Remembers what does not hold by what is here and there now, and tells what was known before.
  func rememberBroken(
    _ found: [VaultPath: SyncProblem?], known: [VaultPath: RemoteMemory.Broken],
    _ look: RemoteLook, _ local: LocalLook
  ) {
    for (path, file) in known {
      guard let finding = file.finding else { continue }
      note(SyncProblem(finding.kind, .warning, path: path.string, finding.text))
    }
    var all = known
    for (path, problem) in found.sorted(by: { $0.key.string < $1.key.string })
    where all.count < Self.brokenLimit {
      guard let fingerprint = look.files[path]?.fingerprint else { continue }
      all[path] = RemoteMemory.Broken(
        fingerprint: fingerprint,
        finding: problem.map { RemoteMemory.Finding(kind: $0.kind, text: $0.text) })
    }
    let (broken, basis) = (all, Self.basis(of: local))
    remember { memory in
      memory.broken = broken
      memory.basis = basis
    }
  }

  /// Of the names of all statements here, in any order.
  private static func basis(of local: LocalLook) -> UInt64 {
    local.files.reduce(0) { $1.isStatement ? $0 &+ $1.mark &* 0x9E37_79B9_7F4A_7C15 : $0 }
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
