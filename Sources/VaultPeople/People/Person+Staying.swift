import VaultErrors
import VaultModel
import VaultTrust

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
  package func devicesWithoutRoom(
    besides departing: Set<DeviceID>, at own: DeviceID
  ) -> Set<DeviceID> {
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
  package func requireRoom(without departing: Set<DeviceID>) throws(VaultError) {
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
