import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// Heads in the folder that may come to count: what they name is nobody's garbage. Docs/Format.md, "Removing objects".
extension Member {
  /// Whether a head is here that was not taken in and may be later: it counts, and a part of what it names has not come; or
  /// it waits for a certificate or a link, and somebody with the member's keys has made it.
  ///
  /// Reads only the files of such heads. This device's own next one is among them while a version that it has written is
  /// hidden: that head brings it back, and nothing else may name what it is made of.
  func hasHeadsToCome(_ heads: HeadsState) throws(VaultError) -> Bool {
    if !heads.hidden.isEmpty { return true }
    for (device, fingerprint) in try register.files() where device != context.device.id {
      let known = heads.loaded[device] ?? heads.takenOver[device]
      if known != nil, heads.seen[device] == fingerprint, heads.refused[device] == nil { continue }
      if try mayCome(device, besides: known?.hash) { return true }
    }
    return false
  }

  /// Whether a head that was not taken in may come to count, for a caller who does not hold the lock of `heads`.
  var hasHeadsToCome: Bool {
    get throws(VaultError) {
      try heads.withLock { (heads) throws(VaultError) in try hasHeadsToCome(heads) }
    }
  }

  /// Whether a device of somebody who may write has no head that is followed here: it has not come, or was taken over.
  var hasWritersWithoutHead: Bool { !witnesses.writersDevices.isSubset(of: followedDevices) }

  /// Whether a device that counts has no head that is followed here, of somebody who has access or could write once: what such
  /// a device knows it may name when it writes. Nobody else's does; else whoever can write to the folder could make some up.
  var hasKnowingDevicesWithoutHead: Bool {
    hasKnowingDevices(besides: followedDevices, by: register.links)
  }

  /// Whether a device that counts is none of these, of somebody who has access or could write once, as the links say.
  func hasKnowingDevices(besides known: Set<DeviceID>, by links: MemberLinks) -> Bool {
    context.people.persons.values.contains { person in
      (links.access.includes(person.id) || links.couldWrite(person.id))
        && !known.isSuperset(of: person.devices.keys)
    }
  }

  private var followedDevices: Set<DeviceID> {
    heads.withLock { Set($0.loaded.keys) }.union([context.device.id])
  }

  /// So long, in milliseconds, what nothing names may wait for its head: a program that copies files brings the objects of a
  /// commit in any order, and the head when they are there.
  static let headDelay = CivilTime.dayMilliseconds

  /// Whether the file came here so short a while ago that the head that names it may be on its way.
  func hasJustCome(_ name: ObjectName) throws(VaultError) -> Bool {
    guard let arrival = try objects.arrival(of: name) else { return false }
    let now = context.clock.milliseconds()
    return arrival.milliseconds > now - min(now, Self.headDelay)
  }

  private func mayCome(
    _ device: DeviceID, besides known: FileHash?
  ) throws(VaultError) -> Bool {
    guard
      let (body, file) = try ifWhole(
        context.signedFiles.loadHeadWithoutVerifying(of: device, in: id)),
      file.hash != known
    else { return false }
    let isSigned = context.people.trust.statements.certificates[body.certificate] != nil
    if isSigned {
      do {
        let judged = try register.judges(context.people, register.links)
          .judge(device, in: context.signedFiles)
        if judged.counts { return true }
        guard judged.isWaiting else { return false }
      } catch {
        guard error.isDamage else { throw error }
        return false
      }
    }
    // Whoever was taken out has the keys of before, and can sign nothing for somebody who was not.
    let isOfNow = body.epoch == register.keys.currentEpoch
    guard isOfNow || isSigned && register.links.access.includes(body.person) else { return false }
    return opens(body, at: file.path)
  }

  /// Whether somebody with the member's keys has sealed it: what nobody without a key could have made.
  private func opens(_ body: HeadFile, at path: VaultPath) -> Bool {
    guard let epoch = register.keys.epoch(body.epoch) else { return false }
    do {
      _ = try context.signedFiles.open(
        try Sealed(decoding: body.sealed), with: epoch.keys.registerKey, .head, path,
        counter: body.counter)
      return true
    } catch {
      // It is a head of nobody who has them.
      return false
    }
  }
}
