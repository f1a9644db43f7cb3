import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What the next commit puts under the keys in use, and a lazy vault keeps elsewhere under those of before.
extension Member {
  /// Whether nothing can be committed before `bringWhatIsLate` was called: this device's own late head needs something. Asks nobody.
  package var lacksWhatIsLate: Bool {
    get throws(VaultError) {
      guard objects.isLazy, hasLateHeads else { return false }
      let own = heads.withLock { heads -> Set<ContentDigest> in
        var own = heads.broughtLate[context.device.id] ?? []
        if let former = heads.former { own.formUnion(heads.broughtLate[former.device] ?? []) }
        return own
      }
      if try !lateChunksElsewhere(of: { own.contains($0.revision) }).isEmpty { return true }
      return try !hiddenChunksElsewhere().isEmpty
    }
  }

  /// Brings here what the next commit needs of late heads, and of hidden versions under other keys. Takes as long as the
  /// remotes do, so no lock may be held.
  ///
  /// - Throws: The first failure, when everything else was tried; nothing for what nobody has any more.
  package func bringWhatIsLate() throws(VaultError) {
    guard objects.isLazy, hasLateHeads || hasHiddenVersions else { return }
    var failure: VaultError?
    let chunks = try lateChunksElsewhere(of: { _ in true }).union(hiddenChunksElsewhere())
    for chunk in chunks.sorted() {
      do { try objects.fetchIfAway(chunk) } catch {
        if case .gone = error { continue }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// The chunks that records need of which only late heads have a version, older versions included.
  private func lateChunksElsewhere(
    of isWanted: (RecordEntry) -> Bool
  ) throws(VaultError) -> Set<ContentDigest> {
    let late = state.withLock { $0.manifest.lateEntries }.filter(isWanted)
    let records = Set(late.map(\.record))
    if records.isEmpty { return [] }
    var chunks: Set<ContentDigest> = []
    MemberWalk(member: self).walkAll(
      where: { records.contains($0.record) }, keeps: { _, _ in true },
      visit: { if $0.kind == .chunk { chunks.insert($0.digest) } },
      fail: { _, _ in }, progress: { _ in })
    return try elsewhere(chunks)
  }

  /// The chunks that hidden versions need which stand under other keys than those in use, older versions included.
  private func hiddenChunksElsewhere() throws(VaultError) -> Set<ContentDigest> {
    let walk = MemberWalk(member: self)
    var chunks: Set<ContentDigest> = []
    for hidden in heads.withLock({ $0.hidden.sorted }) {
      if try objects.isPresentNow(hidden.revision) { continue }
      var open = [hidden.revision]
      var seen = Set(open)
      while let digest = open.popLast() {
        let revision = walk.walk(
          revision: digest, of: hidden.record, isOnlyInHistory: digest != hidden.revision,
          visit: { if $0.kind == .chunk { chunks.insert($0.digest) } }, fail: { _, _ in })
        open += (revision?.previous ?? []).filter {
          historyGoesOn(from: digest, to: $0) && seen.insert($0).inserted
        }
      }
    }
    return try elsewhere(chunks)
  }

  private func elsewhere(_ chunks: Set<ContentDigest>) throws(VaultError) -> Set<ContentDigest> {
    var found: Set<ContentDigest> = []
    for chunk in chunks where try objects.isElsewhere(chunk) { found.insert(chunk) }
    return found
  }
}
