import VaultCrypto
import VaultModel

/// What did not hold on a remote. Docs/Sync.md, "Strangers".
extension RemoteMemory {
  /// What did not hold, as it was found; nil for a file of which that is not known, or that is another one by now.
  ///
  /// - Parameter fingerprint: The store's mark of the file.
  func brokenFile(_ path: VaultPath, marked fingerprint: UInt64) -> Broken? {
    if let file = broken[path] { return file.fingerprint == fingerprint ? file : nil }
    if brokenMarks.isEmpty || seen[path]?.fingerprint == fingerprint { return nil }
    let findings: [Finding?] = [Self.unnamed, nil]
    for finding in findings {
      let file = Broken(fingerprint: fingerprint, finding: finding)
      if brokenMarks.contains(Self.mark(of: path, file)) { return file }
    }
    return nil
  }

  /// How one is remembered where there is no room for its name: by eight bytes of a hash that nobody chooses, since a file that
  /// holds must not look like it.
  static func mark(of path: VaultPath, _ file: Broken) -> UInt64 {
    let kind = file.finding == nil ? "left" : "told"
    let text = "\(kind) \(String(file.fingerprint, radix: 16)) \(path.string)"
    let hash = Digest.sha256(Array(text.utf8)).bytes
    return hash.prefix(8).reduce(UInt64(0)) { ($0 << 8) | UInt64($1) }
  }

  /// What is told of all of those together.
  private static let unnamed = Finding(kind: .tooMuchNew, text: "It does not hold.")
}
