import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// What devices had signed in records before their person leaves them out. Docs/Format.md, "Changing keys".
extension Vault {
  /// Lists it in every member that this person writes, in objects that this device's heads name from here on. Durable when
  /// it returns. Where nothing may be written now (`membersThatWaitForOwners`) it is not listed: that keeps no lost device in.
  ///
  /// Reads every revision that is kept.
  ///
  /// - Returns: The lists, for the closing that leaves the devices out.
  func listAuthored(of leaving: Leaving) throws(VaultError) -> [ContentDigest] {
    let departing = certificates(of: leaving.devices)
    if departing.isEmpty { return [] }
    var lists: Set<ContentDigest> = []
    for member in members where member.isWritten {
      let signed = try member.signedRevisions(by: departing)
      let listed = signed.filter { !leaving.isDisowned($0, among: signed) }
      let made = try member.ifPossible { () throws(VaultError) in
        try member.listAuthored(Set(listed.map(\.digest)))
      }
      lists.formUnion(made ?? [])
    }
    return lists.sorted()
  }

  /// Members that this person writes, and to which nothing may be written before a device of an owner has begun an epoch.
  package func membersThatWaitForOwners() throws(VaultError) -> [Member] {
    var waiting: [Member] = []
    for member in members where member.isWritten && member.isEpochSpent {
      if try !member.mayBeginEpoch { waiting.append(member) }
    }
    return waiting
  }

  /// The certificates of these devices of this person, whichever they go by.
  func certificates(of devices: Set<DeviceID>) -> Set<StatementID> {
    let all = context.people.trust.statements.certificates
    return Set(
      all.filter { $0.value.person == person && devices.contains($0.value.device) }.keys)
  }
}

/// A revision with a right signature of a device that its person leaves out.
struct SignedRevision: Hashable, Sendable {
  let digest: ContentDigest
  let record: RecordID
  let device: DeviceID
  /// What it says itself: when it was written, and in which head of its device.
  let time: UInt64
  let counter: UInt64
}

extension Member {
  /// Every revision that is kept and that devices with these certificates have signed. Reads them all.
  func signedRevisions(
    by departing: Set<StatementID>
  ) throws(VaultError) -> Set<SignedRevision> {
    let found = try inParallel(allEntries()) { (entry) throws(VaultError) in
      try self.signed(in: entry, by: departing)
    }
    return Set(found.joined())
  }

  fileprivate func listAuthored(_ signed: Set<ContentDigest>) throws(VaultError) -> [ContentDigest]
  {
    let found = signed.sorted()
    if found.isEmpty { return [] }
    var lists: [ContentDigest] = []
    try withWriter { (writer, _) throws(VaultError) in
      for start in stride(from: 0, to: found.count, by: AuthoredList.capacity) {
        let part = found[start..<min(start + AuthoredList.capacity, found.count)]
        let use = try objects.stage(.authored, AuthoredList(revisions: Array(part)).encoded())
        try objects.publish(use.digest)
        lists.append(use.digest)
      }
      // Those of others make room: somebody could have made up as many as a head names.
      try writer.writeLearned { head in
        let others = head.authored.filter { !lists.contains($0) }
        head.authored = (lists + others.prefix(max(0, Limits.headLists - lists.count))).sorted()
      }
    }
    return lists
  }

  /// Of a record's revisions, as far back as they are kept, those with a right signature by one of these certificates.
  private func signed(
    in entry: RecordEntry, by certificates: Set<StatementID>
  ) throws(VaultError) -> [SignedRevision] {
    let known = context.people.trust.statements.certificates
    var found: [SignedRevision] = []
    var waiting = rivals(of: entry.record).map(\.revision)
    var seen = Set(waiting)
    while let digest = waiting.popLast() {
      let bytes = try ifWhole(objects.content(digest, kind: .record))
      guard let bytes else { continue }
      let revision: RecordRevision
      do { revision = try RecordRevision(decoding: bytes) } catch { continue }
      if let signature = revision.signature, certificates.contains(signature.certificate),
        let device = known[signature.certificate]?.device, isRight(signature, of: bytes)
      {
        found.append(
          SignedRevision(
            digest: digest, record: revision.record, device: device,
            time: revision.time.milliseconds, counter: revision.version[device]))
      }
      waiting += revision.previous.filter { seen.insert($0).inserted }
    }
    return found
  }
}

extension CommitWriter {
  /// The lists that the next head names: those of this device's last one, and of other heads those that a closing of
  /// somebody who ever had access to the member names. Puts them under the current keys; what is not here is left out.
  ///
  /// Of each person's closings as many, in turn: nobody crowds out those of others, nor for good what another one has made.
  func authoredLists() throws(VaultError) -> [ContentDigest] {
    let own = heads.last(of: context.device.id)
    let last = Set(own?.head.authored ?? [])
    var wanted = last
    for head in Array(heads.loaded.values) + heads.takenOver.values {
      wanted.formUnion(head.head.authored)
    }
    let trust = context.people.trust
    let closed = member.register.links.history.everyone.sorted()
      .map { trust.authored(by: [$0]).intersection(wanted).sorted() }
    // No closing names what this device has just made.
    let made = last.subtracting(closed.joined()).sorted()
    let isCurrent = own?.late == nil
    var names: Set<ContentDigest> = []
    for list in HeadRoom.inTurn([made] + closed) where names.count < Limits.headLists {
      if !isCurrent || !last.contains(list) {
        let isPut: Void? = try ifWhole(member.objects.publish(list))
        if isPut == nil { continue }
      }
      names.insert(list)
    }
    return names.sorted()
  }
}
