import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Devices that a person leaves out, and since when they go without what these have signed. Docs/Format.md, "Changing
/// keys".
package struct Leaving: Hashable, Sendable {
  package var devices: Set<DeviceID>
  /// Milliseconds since 1970: what they signed since then is disowned; nil: nothing is.
  package var since: UInt64?

  package init(_ devices: Set<DeviceID>, since: UInt64? = nil) {
    (self.devices, self.since) = (devices, since)
  }

  func isDisowned(_ time: UInt64) -> Bool { since.map { time >= $0 } ?? false }

  /// Those of a member's links that are disowned. The one that began the member is not.
  func disowned(of links: Set<StatementID>, _ history: MemberHistory) -> Set<StatementID> {
    links.filter { id in
      guard let link = history.link(id), !link.follows.isEmpty else { return false }
      return isDisowned(link.time)
    }
  }

  /// Whether a revision is disowned. A device counts its heads: what has the counter of something that is disowned, or a greater
  /// one, was signed after it, whatever its date.
  func isDisowned(_ revision: SignedRevision, among signed: Set<SignedRevision>) -> Bool {
    isDisowned(revision.time)
      || signed.contains {
        $0.device == revision.device && $0.counter <= revision.counter && isDisowned($0.time)
      }
  }
}

/// What a person goes without who leaves devices out and disowns what these signed lately.
package struct DisownedWork: Sendable {
  /// Where records stand in the mounted view that have a revision which no list will have.
  package var records: [String] = []
  /// Members whose access is as if these devices had changed nothing of it since.
  package var members: [FileName] = []
  /// How many changes of access these are, offers and agreements among them.
  package var linkCount = 0
}

extension Vault {
  /// What will not count any more when these devices are left out so. Reads every revision that is kept.
  package func disownedWork(of leaving: Leaving) throws(VaultError) -> DisownedWork {
    var work = DisownedWork()
    guard leaving.since != nil else { return work }
    let departing = certificates(of: leaving.devices)
    for member in members {
      let history = member.register.links.history
      let links = leaving.disowned(of: history.lasting(signedBy: departing), history)
      if !links.isEmpty { work.members.append(member.name) }
      work.linkCount += links.count
      guard member.isWritten else { continue }
      let signed = try member.signedRevisions(by: departing)
      let records = Set(
        signed.filter { leaving.isDisowned($0, among: signed) }.map(\.record))
      work.records += records.map(member.displayPath).sorted()
    }
    return work
  }
}
