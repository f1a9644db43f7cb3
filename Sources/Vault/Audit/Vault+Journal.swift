import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// What everyone with access reads of what was done to a member. Docs/Format.md, section 13, "Journals".
extension Vault {
  /// What was done to a member, the oldest first, and what is wrong with the logs in which it stands.
  ///
  /// Who was given access, and from whom it was taken, the links say: that cannot be left out. All else is what programs
  /// have noted of themselves.
  ///
  /// - Parameter filter: Which are wanted. What it says of devices is passed over.
  package func journal(
    of member: Member, _ filter: AuditFilter = AuditFilter()
  ) throws(VaultError) -> (events: [LoggedEvent], problems: [Problem]) {
    try context.reloadPeople()
    try member.reloadLinks()
    let journals = try audit.journals(checkingHeads: true)
    let (batches, waitingProblems) = try audit.waiting.load(keys: context.keys)
    var events = batches.flatMap(\.events).filter {
      $0.member == member.id && journals.destination(of: $0) != .none
    }.map { LoggedEvent(device: device, person: person, event: $0) }
    var problems = waitingProblems
    let keys = member.journalKeys
    for someone in member.register.links.history.everyone.sorted() {
      for device in audit.devices(of: someone) {
        let standing = member.standing(of: device, of: someone)
        let log = try audit.follow(device, of: someone) {
          [id = member.id] (body) throws(VaultError) in
          try body.events(of: id, keys: keys).map {
            LoggedEvent(device: device, person: someone, event: $0, standing: standing)
          }
        }
        events += log.parts.joined()
        problems += log.problems
      }
    }
    try rememberRegisters(of: member.register.links.history.everyone)
    let all = (events + member.accessEvents).filter(filter.allowsFromAnyDevice)
    return (LoggedEvent.once(all), problems)
  }

  /// Keeps how far the registers of these people's devices had come, which say where logs end: an older one, that somebody
  /// puts back, is noticed from now on.
  private func rememberRegisters(of people: Set<PersonID>) throws(VaultError) {
    if isReadOnly { return }
    let marks = try context.state.loadWatermarks()
    var news: [(path: VaultPath, counter: UInt64, hash: FileHash)] = []
    for (someone, device) in people.flatMap({ someone in
      audit.devices(of: someone).map { (someone, $0) }
    }) {
      guard let certified = context.people[someone]?.anyCertificate(of: device) else { continue }
      let path = VaultPath.device(someone, device)
      let read = try ifWhole(
        context.signedFiles.loadRegisterBody(
          of: device, person: someone, signingPublicKey: certified.certificate.signingKey.bytes))
      guard let (body, hash) = read, body.counter > marks[path]?.counter ?? 0 else { continue }
      news.append((path, body.counter, hash))
    }
    if news.isEmpty { return }
    let seen = news
    try context.state.withCommitLock { () throws(VaultError) in
      try context.state.updateWatermarks { marks in
        for (path, counter, hash) in seen { marks.raise(path, counter: counter, hash: hash) }
      }
    }
  }

  /// What is wrong with the logs of everyone who has or had access to one of these members: segments that are missing, do
  /// not hold, or are cut off, and slots that do not open.
  func journalProblems(of members: [Member]) throws(VaultError) -> [Problem] {
    let everyone = members.reduce(into: Set<PersonID>()) {
      $0.formUnion($1.register.links.history.everyone)
    }
    let keys = members.map { ($0.id, $0.journalKeys) }
    var problems: [Problem] = []
    for someone in everyone.sorted() {
      for device in audit.devices(of: someone) {
        problems += try audit.follow(device, of: someone) { (body) throws(VaultError) in
          for (member, keys) in keys { _ = try body.events(of: member, keys: keys) }
        }.problems
      }
    }
    return problems
  }
}

extension Member {
  /// Every key that opens a part of its journal: those of the epochs that this person was given, and those that heads say.
  var journalKeys: [JournalKey] {
    let keys = register.keys
    let current = keys.current.journalKey
    let given = Set(keys.pastJournals)
    let past = heads.withLock { pastJournals($0, atMost: Self.pastJournalLimit) }
    var all = [current] + keys.others.map(\.journalKey)
    for wrapped in past where !given.contains(wrapped) {
      do { all.append(try current.unwrap(wrapped)) } catch {
        // Any editor can write what opens as none.
        continue
      }
    }
    return all
  }

  /// Each of them is tried with every slot of every log.
  private static let pastJournalLimit = 4 * Limits.headJournals

  /// The journal keys of other epochs that are known here, under that of the one in use: first those that this person was given, then
  /// what this device's last head says, then what those of each person say, in turn: nobody crowds out those of others with
  /// what opens nothing.
  func pastJournals(_ heads: HeadsState, atMost limit: Int) -> [[UInt8]] {
    let keys = register.keys
    let current = keys.current.journalKey
    func said(by head: LoadedHead) -> [[UInt8]] {
      if head.late == nil { return head.head.journals.map(\.wrapped) }
      return pastJournals(in: head).map { $0.wrapped(under: current) }
    }
    let own = heads.loaded[context.device.id].map(said) ?? []
    let persons = Dictionary(grouping: heads.loaded.values, by: \.person)
      .sorted { $0.key < $1.key }
      .map { HeadRoom.inTurn($0.value.sorted { $0.device < $1.device }.map(said)) }
    let all = HeadRoom.inTurn([keys.pastJournals + own + HeadRoom.inTurn(persons)])
    return Array(all.prefix(limit))
  }

  /// The journal keys of other epochs that a head says; what opens as none is passed over: any editor can write it.
  func pastJournals(in head: LoadedHead) -> [JournalKey] {
    let keys = register.keys
    let own = head.late.map { keys.epoch($0)?.keys.journalKey } ?? keys.current.journalKey
    guard let own else { return [] }
    return head.head.journals.compactMap { past in
      do throws(CryptoError) { return try own.unwrap(past.wrapped) } catch { return nil }
    }
  }

  func standing(of device: DeviceID, of person: PersonID) -> LoggedEvent.Standing {
    if context.people[person]?.former[device] != nil { return .removedDevice }
    return register.links.access.includes(person) ? .counts : .noAccess
  }

  /// Who was given access to the member, and from whom it was taken: its links, as events.
  var accessEvents: [LoggedEvent] {
    let history = register.links.history
    let made = AuditEvent(
      time: history.root.time, action: AuditAction.create.rawValue, member: id, detail: "member")
    var events = [event(made, by: history.root.person, history.root.certificate)]
    for link in history.countingLinks {
      events += link.accessEvents.map { event($0, by: link.person, link.certificate) }
    }
    return events
  }

  private func event(
    _ event: AuditEvent, by person: PersonID, _ certificate: StatementID
  ) -> LoggedEvent {
    let device = context.people.trust.statements.certificates[certificate]?.device ?? .zero
    return LoggedEvent(
      device: device, person: person, event: event, standing: standing(of: device, of: person))
  }
}

extension Link {
  /// What it changes, an event each; new keys alone are one as well.
  fileprivate var accessEvents: [AuditEvent] {
    var events = changes.map { change in
      switch change {
      case .give(let person, let role, let until):
        event(.share, about: person, until > 0 ? "\(role), for a time" : "\(role)")
      case .limit(let person, let role, _):
        event(.revoke, about: person, role.map { "\($0) at most" } ?? "")
      case .handOver(let person): event(.share, about: person, "handed over")
      case .offer(let person): event(.share, about: person, "place offered")
      case .agree(let person): event(.share, about: person, "place agreed to")
      }
    }
    if epoch != nil, !follows.isEmpty { events.append(event(.revoke, about: nil, "new keys")) }
    return events
  }

  private func event(_ action: AuditAction, about person: PersonID?, _ detail: String) -> AuditEvent
  {
    AuditEvent(
      time: time, action: action.rawValue, member: member, detail: detail, person: person)
  }
}

extension AuditSegmentBody {
  /// What its writer noted in the journal of a member, as far as these keys open it.
  ///
  /// - Throws: `damaged` of a slot that is the member's, and does not open: who signed the segment has the key.
  func events(
    of member: MemberID, keys: [JournalKey]
  ) throws(VaultError) -> [AuditEvent] {
    var events: [AuditEvent] = []
    for (position, slot) in slots.enumerated() {
      let origin = slot.origin(in: self, at: position)
      for key in keys
      where key.tag(of: origin.position, in: device, first: origin.first) == slot.tag {
        events += try open(slot, of: origin.first, with: key, of: member)
      }
    }
    return events
  }

  private func open(
    _ slot: JournalSlot, of first: UInt64, with key: JournalKey, of member: MemberID
  ) throws(VaultError) -> [AuditEvent] {
    let path = VaultPath.auditSegment(device, first: first).string
    let plain: [UInt8]
    do {
      plain = try key.open(
        slot.sealed, path: path,
        first: first)
    } catch {
      throw VaultError(error, path: path)
    }
    let events: [AuditEvent]
    do { events = try AuditEvents(decoding: plain).events } catch {
      throw VaultError(error, path: path)
    }
    return events.compactMap { event in
      // Whoever may read can write into a slot that somebody else was given access.
      guard AuditAction(rawValue: event.action)?.isOfJournals ?? false else { return nil }
      // The slot says of which member it is, and nothing in it is about others.
      var event = event
      (event.member, event.person, event.about) = (member, nil, "")
      return event
    }
  }
}

extension JournalSlot {
  /// Where it stood first, by which it is found and opened.
  func origin(in body: AuditSegmentBody, at position: Int) -> (first: UInt64, position: Int) {
    first == 0 ? (body.first, position) : (first, Int(self.position))
  }
}
