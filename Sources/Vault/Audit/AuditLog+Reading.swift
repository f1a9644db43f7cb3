import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

extension AuditLog {
  /// The first numbers of a device's segments, in order.
  func segments(of device: DeviceID) throws(VaultError) -> [UInt64] {
    let folder = BlobPath("audit/\(device.hex)")
    let entries = try storing(context.store.list(folder))
    var result: [UInt64] = []
    for entry in entries {
      let path = folder.appending(entry.name).string
      if case .auditSegment(_, let first) = VaultPath(parsing: path) { result.append(first) }
    }
    return result.sorted()
  }

  func load(
    _ first: UInt64, device: DeviceID
  ) throws(VaultError) -> (AuditSegmentBody, [AuditEvent], FileHash) {
    let (body, hash) = try AuditSegmentBody.load(
      device, first: first, files: context.signedFiles, people: context.people)
    return (body, try events(of: body), hash)
  }

  /// What this person reads of a segment of their own that was verified.
  func events(of body: AuditSegmentBody) throws(VaultError) -> [AuditEvent] {
    let path = VaultPath.auditSegment(body.device, first: body.first)
    guard let key = context.keys.auditKey(generation: body.generation) else {
      throw .damaged(path: path.string, reason: "it is sealed with an unknown key")
    }
    let plain = try context.signedFiles.open(
      body.sealed, with: key, .audit, path, counter: body.first)
    do { return try AuditEvents(decoding: plain).events } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// The events of this person's devices, oldest first, and what is wrong with the log: a segment that is missing or does
  /// not chain, or an end that is cut off, named by its path. An event that stands in several places is given once.
  ///
  /// - Parameter filter: Which are wanted. What it says of devices is passed over: their names are not in the log.
  package func read(
    _ filter: AuditFilter = AuditFilter()
  ) throws(VaultError) -> (events: [LoggedEvent], problems: [Problem]) {
    // First, since what leaves this machine's state is in a segment before.
    let (batches, waitingProblems) = try waiting.load(keys: context.keys, person: context.person)
    let own = context.person
    var events: [LoggedEvent] = []
    var problems = waitingProblems
    for device in devices(of: own) {
      let standing: LoggedEvent.Standing =
        context.people[own]?.former[device] == nil ? .counts : .removedDevice
      let log = try follow(device, of: own) { (body) throws(VaultError) in
        var wanted: [LoggedEvent] = []
        for event in try self.events(of: body) {
          let logged = LoggedEvent(device: device, person: own, event: event, standing: standing)
          if filter.allowsFromAnyDevice(logged) { wanted.append(logged) }
        }
        return wanted
      }
      events.reserveCapacity(events.count + log.parts.reduce(0) { $0 + $1.count })
      for part in log.parts { events += part }
      problems += log.problems
    }
    events += batches.flatMap(\.events).map {
      LoggedEvent(device: context.device.id, person: own, event: $0)
    }.filter(filter.allowsFromAnyDevice)
    return (LoggedEvent.once(events), problems)
  }

  /// Every device that a person has or had.
  func devices(of person: PersonID) -> [DeviceID] {
    guard let known = context.people[person] else { return [] }
    return (Array(known.devices.keys) + Array(known.waiting.keys) + Array(known.former.keys))
      .sorted()
  }

  /// So many segments are in memory at once, which is 24 MiB where they are of a month.
  private static let segmentsAtOnce = 64

  /// A segment that was verified, and what is wanted of it, or why that is not to be had.
  private struct Followed<Part: Sendable>: Sendable {
    let hash: FileHash
    let previous: FileHash?
    let replaces: [FileHash]
    let part: Result<Part, VaultError>
  }

  /// The segments of a device's log, as far as they were gone through in their order.
  private struct Chain<Part: Sendable> {
    var parts: [Part] = []
    var problems: [Problem] = []
    /// The newest segment.
    var end: LogEnd?
    /// What the next segment may follow.
    private var before: Set<FileHash> = []
    /// What follows no segment that is here; it may follow one in whose place another stands further on.
    private var strays: [(path: String, previous: FileHash?)] = []

    /// Goes on with a segment.
    ///
    /// - Throws: Why its part is not to be had; the log goes on from it all the same.
    mutating func add(
      _ segment: Followed<Part>, first: UInt64, _ path: String
    ) throws(VaultError) {
      // Where a copy of its machine went on with the log, it goes on from an earlier one.
      // One in whose place others stand, which are here still, may be the first.
      let begins = before.isEmpty || !segment.replaces.isEmpty
      if segment.previous.map({ !before.contains($0) }) ?? !begins {
        strays.append((path, segment.previous))
      }
      end = LogEnd(next: first, newest: segment.hash)
      before.insert(segment.hash)
      before.formUnion(segment.replaces)
      parts.append(try segment.part.get())
    }

    /// What follows no segment, now that all are known.
    mutating func noteStrays() {
      for (path, previous) in strays where previous.map({ !before.contains($0) }) ?? true {
        problems.append(
          Problem(
            .missing, .warning, path: path,
            reason: "it does not follow the file before: one was removed or exchanged"))
      }
    }
  }

  /// Goes through a device's log in its order.
  ///
  /// - Parameter part: What is wanted of a segment that is verified, asked on several threads; what it throws is a problem of
  ///   that segment.
  /// - Returns: The parts in the order of their segments, and what is wrong with the log.
  func follow<Part: Sendable>(
    _ device: DeviceID, of person: PersonID,
    _ part: @escaping @Sendable (AuditSegmentBody) throws(VaultError) -> Part
  ) throws(VaultError) -> (parts: [Part], problems: [Problem]) {
    var chain = Chain<Part>()
    var rest = try segments(of: device)[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(Self.segmentsAtOnce))
      rest = rest.dropFirst(batch.count)
      for (first, segment) in zip(batch, try follow(batch, of: device, part)) {
        let path = VaultPath.auditSegment(device, first: first).string
        do { try chain.add(segment.get(), first: first, path) } catch {
          chain.problems.append(Problem(error, path: path))
        }
      }
    }
    chain.noteStrays()
    if let problem = try cut(of: device, person, after: chain.end) {
      chain.problems.append(problem)
    }
    return (chain.parts, chain.problems)
  }

  private func follow<Part: Sendable>(
    _ segments: [UInt64], of device: DeviceID,
    _ part: @escaping @Sendable (AuditSegmentBody) throws(VaultError) -> Part
  ) throws(VaultError) -> [Result<Followed<Part>, VaultError>] {
    let context = context
    return try inParallel(segments) { (first) throws(VaultError) in
      do throws(VaultError) {
        let (body, hash) = try AuditSegmentBody.load(
          device, first: first, files: context.signedFiles, people: context.people)
        let wanted: Result<Part, VaultError>
        do throws(VaultError) { wanted = .success(try part(body)) } catch {
          wanted = .failure(error)
        }
        return .success(
          Followed(
            hash: hash, previous: body.previous, replaces: body.replaces.map(\.hash), part: wanted))
      } catch {
        return .failure(error)
      }
    }
  }

  /// What of a device's log is known to have been there and is not, if there is any.
  ///
  /// - Parameter last: Its newest segment that is here: its own name, and its hash.
  private func cut(
    of device: DeviceID, _ person: PersonID, after last: LogEnd?
  ) throws(VaultError) -> Problem? {
    let newest = last?.newest ?? .zero
    let path = BlobPath("audit/\(device.hex)").string
    let registered = try registeredEnd(of: device, person: person)
    guard case .end(let said) = registered else {
      return Problem(
        .rollback, .warning, path: VaultPath.device(person, device).string,
        reason:
          "it says where the log of the device ends, and is not the one that this machine has "
          + "seen")
    }
    guard let known = try knownEnd(of: device, registered: said), known.newest != newest,
      known.next > last?.next ?? 0
    else { return nil }
    // One that is whole and newer than what is known came before the end could be said. What a copy of this machine has
    // written, and whatever other devices have, comes from elsewhere.
    let kept = device == context.device.id ? try context.state.logEnd(of: device) : nil
    return kept?.next == known.next
      ? Problem(
        .missing, .warning, path: path,
        reason: "its newest file is not here: the end was cut off")
      : Problem(
        .missing, .note, path: path,
        reason: "its newest file is not here: it comes with a sync that looks everywhere, or "
          + "was cut off")
  }
}

extension AuditLog {
  /// A person has put an older folder back on purpose: the log of this device goes on from what is there, above every
  /// number that it has used, and notes that.
  func acceptOlderFolder() throws(VaultError) {
    let device = context.device.id
    let (_, problems) = try follow(device, of: context.person) { (body) throws(VaultError) in
      _ = try self.events(of: body)
    }
    guard let known = try context.state.logEnd(of: device),
      problems.contains(where: { $0.kind == .rollback || $0.kind == .missing })
    else { return }
    try context.state.withCommitLock { () throws(VaultError) in
      let register = try ifWhole(
        context.loadRegister(
          of: device, signingPublicKey: context.device.signingKey.publicKey))
      if let register {
        let path = VaultPath.device(context.person, device)
        try context.state.updateWatermarks(durably: true) {
          $0.accept(path, counter: register.counter, hash: register.hash)
        }
      }
      let newest = try newestSegment(of: device)
      try context.state.store(
        LogEnd(next: known.next, newest: newest ?? .zero), of: device,
        written: context.clock.milliseconds())
    }
    note(.acknowledge, detail: "an older folder")
  }

  private func newestSegment(of device: DeviceID) throws(VaultError) -> FileHash? {
    for first in try segments(of: device).reversed() {
      if let hash = try ifWhole(load(first, device: device).2) {
        return hash
      }
    }
    return nil
  }
}

/// An event of the audit log or of a journal, and the device that wrote it.
package struct LoggedEvent: Sendable {
  /// What is to be known of who wrote it, besides who that is.
  package enum Standing: String, Sendable {
    case counts
    /// Their person has left the device out: others may have its key.
    case removedDevice
    /// They have no access to the member any more.
    case noAccess
  }

  package let device: DeviceID
  /// Whose device that is.
  package let person: PersonID
  package let event: AuditEvent
  package let standing: Standing

  init(device: DeviceID, person: PersonID, event: AuditEvent, standing: Standing = .counts) {
    self.device = device
    self.person = person
    self.event = event
    self.standing = standing
  }

  private struct Identity: Hashable {
    let person: PersonID
    let event: AuditEvent
  }

  /// These events, the oldest first, each event of a person once.
  static func once(_ events: [LoggedEvent]) -> [LoggedEvent] {
    // One device's events mostly are, and a million of them are hundreds of megabytes.
    let areInOrder = zip(events, events.dropFirst()).allSatisfy { $0.event.time < $1.event.time }
    if areInOrder { return events }
    // Their places are sorted, since an event is large; and only those of one time can be equal.
    var places = Array(events.indices)
    places.sort { (events[$0].event.time, $0) < (events[$1].event.time, $1) }
    var result: [LoggedEvent] = []
    result.reserveCapacity(events.count)
    var rest = places[...]
    while let first = rest.first {
      let time = events[first].event.time
      let same = rest.prefix { events[$0].event.time == time }
      rest = rest.dropFirst(same.count)
      guard same.count > 1 else {
        result.append(events[first])
        continue
      }
      var seen: Set<Identity> = []
      for event in same.lazy.map({ events[$0] })
      where seen.insert(Identity(person: event.person, event: event.event)).inserted {
        result.append(event)
      }
    }
    return result
  }
}

extension AuditSegmentBody {
  /// A segment of a device's log, verified but not opened, and the hash of its file.
  ///
  /// - Throws: `missing`; `damaged` when it is another's, or its signature does not hold.
  @discardableResult
  static func load(
    _ device: DeviceID, first: UInt64, files: SignedFiles, people: People
  ) throws(VaultError) -> (AuditSegmentBody, FileHash) {
    let path = VaultPath.auditSegment(device, first: first)
    let file = try files.load(path)
    let body = try file.decode(AuditSegmentBody.init(decoding:))
    guard body.device == device, body.first == first else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    let known = try people.anyCertificate(of: device, person: body.person, path: path)
    try file.verify(.audit, publicKey: known.certificate.signingKey.bytes)
    return (body, file.hash)
  }
}
