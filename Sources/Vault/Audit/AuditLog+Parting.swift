import BlobStore
import MachineState
import VaultErrors
import VaultModel
import VaultPeople

/// What becomes of this machine's log when it becomes a device of its own. Docs/Format.md, "Audit".
extension AuditLog {
  /// Writes the events of this device's log that are here into that of the device that it is about to become, and removes
  /// the old segments: they may be of another line than those that other machines have.
  ///
  /// Called again after it was cut short it goes on. A segment that cannot be read stays.
  ///
  /// - Parameter name: What the next device is called.
  func handOver(to next: ThisDevice, called name: String) throws(VaultError) {
    try context.state.withLock("audit-lock") { () throws(VaultError) in
      let journals = try journals(checkingHeads: false)
      let (events, read) = try readableSegments(of: context.device.id)
      let known = Set(try readableSegments(of: next.id).events)
      var new = events.filter { !known.contains($0) }
      if !known.contains(where: { $0.action == AuditAction.part.rawValue && $0.detail == name }) {
        new.append(
          AuditEvent(
            time: context.clock.milliseconds(), action: AuditAction.part.rawValue, detail: name,
            count: 1))
      }
      while !new.isEmpty { _ = try appendSegment(&new, by: next, journals) }
      for first in read {
        let path = BlobPath(VaultPath.auditSegment(context.device.id, first: first).string)
        try storing(context.store.remove(path))
      }
    }
  }

  private func readableSegments(
    of device: DeviceID
  ) throws(VaultError) -> (events: [AuditEvent], firsts: [UInt64]) {
    var events: [AuditEvent] = []
    var firsts: [UInt64] = []
    for first in try segments(of: device) {
      do {
        events += try load(first, device: device).1
        firsts.append(first)
      } catch {
        guard error.isDamage else { throw error }
      }
    }
    return (events, firsts)
  }
}
