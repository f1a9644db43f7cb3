import VaultCrypto
import VaultErrors
import VaultModel
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

extension Person {
  /// Whether the certificate counts, or waits for the closing that is to follow all.
  func mayStay(_ certified: CertifiedDevice) -> Bool {
    switch history.verdict(on: certified.id) {
    case .counts: true
    case .waiting: history.counting.contains(certified.certificate.generation)
    case .former, .unknown: false
    }
  }

  /// The devices that the next closing lets stay, unless it leaves them out.
  private var remaining: Set<DeviceID> {
    Set(devices.keys).union(waiting.filter { mayStay($0.value) }.keys)
  }

  /// The devices that have to go with these, as a closing has no room for all that would stay: those that were let in by departing
  /// ones, or by devices that were, and by nobody else. Nobody has so many devices, but whoever has the key of one can let in any
  /// number, and no closing could be written that leaves it out.
  ///
  /// - Parameter own: The device that this is, which stays.
  func devicesWithoutRoom(besides departing: Set<DeviceID>, at own: DeviceID) -> Set<DeviceID> {
    let remaining = remaining
    // The departing ones count as well: where what they signed takes several closings, the first ones let them stay.
    guard remaining.union(departing).count > ClosingWriter.listLimit else { return [] }
    var given: [StatementID: [CertifiedDevice]] = [:]
    for (device, certified) in certificates where device != own {
      for one in certified {
        if let approver = one.certificate.approver { given[approver, default: []].append(one) }
      }
    }
    var found: Set<StatementID> = []
    var open = departing.flatMap { certificates[$0] ?? [] }.map(\.id)
    while let approver = open.popLast() {
      open += (given[approver] ?? []).map(\.id).filter { found.insert($0).inserted }
    }
    return remaining.subtracting(departing).filter { device in
      device != own && (certificates[device] ?? []).allSatisfy { found.contains($0.id) }
    }
  }

  /// - Parameter departing: All that go, those without room as well.
  /// - Throws: `limit` where more stay than a closing has room for, as when a second machine was stolen that is not removed with
  ///   the first; it names the device that has let in most of them.
  func requireRoom(without departing: Set<DeviceID>) throws(VaultError) {
    let staying = remaining.subtracting(departing)
    guard staying.count > ClosingWriter.listLimit else { return }
    var devices: [StatementID: DeviceID] = [:]
    for (device, certified) in certificates {
      for one in certified { devices[one.id] = device }
    }
    var counts: [DeviceID: Int] = [:]
    for device in staying {
      let approvers = (certificates[device] ?? []).compactMap(\.certificate.approver)
      for approver in Set(approvers.compactMap { devices[$0] }) where approver != device {
        counts[approver, default: 0] += 1
      }
    }
    let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    let hint = most.map {
      " (your device \($0.key.shortHex) has let in \($0.value) of them; where you have not done that, it is in wrong hands: "
        + "\u{201C}kinvault device revoke\u{201D} removes it, and takes several devices at once)"
    }
    throw .limit(
      what: "the number of your devices that would stay\(hint ?? "")", found: staying.count,
      limit: ClosingWriter.listLimit)
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
