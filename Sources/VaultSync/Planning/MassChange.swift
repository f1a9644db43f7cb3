import VaultModel

/// How much a join would take away from one member. Docs/Sync.md, "The mass-change stop".
package struct MassChange: Hashable, Sendable {
  /// Records that are live here and would be deleted.
  package var deletedCount = 0
  /// Records that were changed here and there.
  package var conflictCount = 0
  /// Live records now.
  package var liveCount: Int

  package init(liveCount: Int) { self.liveCount = liveCount }

  /// So many, and fewer, are never too many.
  package static let harmlessCount = 20

  package var affectedCount: Int { deletedCount + conflictCount }

  /// More than half of the member, and more than 20 records.
  package var needsConsent: Bool { isMuch(affectedCount) }

  /// Whether so many entries are enough to need it, whatever they say.
  package func mayNeedConsent(_ entryCount: Int) -> Bool { isMuch(min(entryCount, liveCount)) }

  private func isMuch(_ count: Int) -> Bool {
    count > Self.harmlessCount && count * 2 > liveCount
  }

  /// Counts what applying an entry does to what is known of its record.
  package mutating func count(_ entry: RecordEntry, over known: RecordEntry?) {
    guard let known, !known.isDeleted else { return }
    switch entry.compare(to: known) {
    case .dominates: if entry.isDeleted { deletedCount += 1 }
    case .concurrent: conflictCount += 1
    case .equal, .dominated: break
    }
  }
}
