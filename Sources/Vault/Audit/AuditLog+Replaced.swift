import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// Which segments of the log are known to stand in the place of others. Docs/Format.md, section 13, "Segments of a month".
extension AuditLog {
  /// What segments that are here say that they stand in the place of, and which say so; of devices that their people have
  /// not left out. Whether they do, `Vault.segment(inPlaceOf:_:among:)` tells.
  func claimedSegments() throws(VaultError) -> [VaultPath: [VaultPath]] {
    var found: [VaultPath: [VaultPath]] = [:]
    let people = context.people.persons.keys.sorted()
    for person in people {
      for device in devices(of: person) where context.people[person]?.former[device] == nil {
        for first in try segments(of: device) {
          let path = VaultPath.auditSegment(device, first: first)
          // Only these have a number that no other segment has.
          guard first % UInt64(SegmentPacking.eventLimit) != 1 else { continue }
          let body = try ifWhole(
            AuditSegmentBody.load(
              device, first: first, files: context.signedFiles, people: context.people
            ).0)
          for replaced in body?.replaces ?? [] {
            found[.auditSegment(device, first: replaced.first), default: []].append(path)
          }
        }
      }
    }
    return found
  }
}

extension Vault {
  /// What segments of the log that are here say that they stand in the place of, and which say so. Only their word: see
  /// `segment(inPlaceOf:_:among:)`.
  package func claimedSegments() throws(VaultError) -> [VaultPath: [VaultPath]] {
    try audit.claimedSegments()
  }

  /// Of segments here that say that they stand in the place of this one, the first that has all that this person can read
  /// of it; nil when none has.
  ///
  /// - Parameters:
  ///   - bytes: The file that is to be replaced, here or elsewhere, verified.
  ///   - isRecentTaken: Also where it is too recent to be forgotten.
  package func segment(
    inPlaceOf old: VaultPath, _ bytes: [UInt8], among claiming: [VaultPath],
    recent isRecentTaken: Bool = false
  ) throws(VaultError) -> VaultPath? {
    guard case .auditSegment = old, !claiming.isEmpty else { return nil }
    let body: AuditSegmentBody
    do {
      body = try AuditSegmentBody(decoding: SignedFile(decoding: bytes).body)
    } catch {
      throw VaultError(error, path: old.string)
    }
    return try segment(
      inPlaceOf: (body, Digest.sha256(bytes)), among: claiming, recent: isRecentTaken)
  }

  /// Removes segments of the log in whose place another one stands here that has all that this person can read of them.
  ///
  /// - Returns: Those that stay, as it has not.
  package func removeReplacedSegments() throws(VaultError) -> [Problem] {
    guard !isReadOnly else { return [] }
    var problems: [Problem] = []
    for (old, claiming) in try claimedSegments().sorted(by: { $0.key.string < $1.key.string }) {
      guard case .auditSegment(let device, let first) = old,
        let before = try segment(device, first)
      else { continue }
      if try segment(inPlaceOf: before, among: claiming) != nil {
        try storing(context.store.remove(BlobPath(old.string)))
      } else {
        let why =
          try isRecent(before.body)
          ? "was written in the last days and is not to be forgotten yet"
          : "has what it does not have"
        problems += claiming.map { path in
          Problem(
            .missing, .warning, path: path.string,
            reason: "\(old.string), in whose place it says it stands, \(why); that one stays here")
        }
      }
    }
    return problems
  }

  private func segment(
    inPlaceOf before: (body: AuditSegmentBody, hash: FileHash), among claiming: [VaultPath],
    recent isRecentTaken: Bool = false
  ) throws(VaultError) -> VaultPath? {
    if !isRecentTaken, try isRecent(before.body) { return nil }
    let device = before.body.device
    let keys = members.flatMap(\.journalKeys)
    for path in claiming {
      guard case .auditSegment(device, let first) = path,
        let after = try segment(device, first)?.body
      else { continue }
      let isListed = after.replaces.contains {
        $0.first == before.body.first && $0.hash == before.hash
      }
      if isListed, after.hasAll(of: before.body, keys: keys) { return path }
    }
    return nil
  }

  /// Whether another device of this person's says in it what was done in the last days. How long a device keeps what it did before
  /// is its person's choice; whoever has stolen it would have it forgotten at once.
  private func isRecent(_ body: AuditSegmentBody) throws(VaultError) -> Bool {
    guard body.person == person, body.device != device else { return false }
    let newest = try ifWhole(audit.events(of: body))?.map(\.time).max() ?? 0
    // This machine's clock may have gone back, as one does whose battery is empty.
    let now = try max(context.clock.milliseconds(), context.state.clockSeen() ?? 0)
    // The device's clock may be ahead.
    return newest + AuditLog.monthAgeMilliseconds > now + CivilTime.dayMilliseconds
  }

  private func segment(
    _ device: DeviceID, _ first: UInt64
  ) throws(VaultError) -> (body: AuditSegmentBody, hash: FileHash)? {
    try ifWhole(
      AuditSegmentBody.load(
        device, first: first, files: context.signedFiles, people: context.people))
  }
}

extension AuditSegmentBody {
  /// Whether every slot of the other segment that one of these keys is for stands in this one as well, to the byte.
  fileprivate func hasAll(of other: AuditSegmentBody, keys: [JournalKey]) -> Bool {
    let here = Set(slots.map(\.sealed))
    return other.slots.enumerated().allSatisfy { position, slot in
      let origin = slot.origin(in: other, at: position)
      let isTold = keys.contains {
        $0.tag(of: origin.position, in: device, first: origin.first) == slot.tag
      }
      return !isTold || here.contains(slot.sealed)
    }
  }
}
