import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

extension CommitWriter {
  /// The head of this device on disk is of another epoch; the next one has everything anew.
  var isOwnHeadLate: Bool { heads.loaded[context.device.id]?.late != nil }

  /// The next head has something to say that no edit brought: what it takes over from late heads.
  var hasLateHeads: Bool {
    isOwnHeadLate
      || !isWaiting
        && (!unwritten.isEmpty || heads.loaded.values.contains(where: isLateForTheFirstTime))
  }

  /// Whether the next head is worth writing for nothing but a late head's name. It is not for another one of a device of
  /// which the head before names one: two machines that have different epochs in use would answer each other for ever. Nor
  /// where a head has no room for it: each would be followed by another one like it.
  private func isLateForTheFirstTime(_ head: LoadedHead) -> Bool {
    guard head.late != nil else { return false }
    guard let own = heads.loaded[context.device.id], own.late == nil else { return true }
    return own.head.cover.count < Limits.headDevices
      && !own.head.cover.contains { $0.device == head.device }
  }

  /// What the next head goes on from.
  var ownHead: Head {
    guard let own = heads.loaded[context.device.id] else { return Head() }
    return own.late == nil ? own.head : Head(branches: own.head.branches, names: own.head.names)
  }

  /// What the next head calls those who have access: what this person knows of them, else what the last head said.
  var names: [Head.Name] {
    let access = member.register.links.access
    guard member.role == .owner else { return [] }
    let said = Dictionary(ownHead.names.map { ($0.person, $0.name) }) { first, _ in first }
    let known = said.merging(context.names) { _, known in known }.filter { person, name in
      person != context.person && access.includes(person) && name.utf8.count <= Limits.nameBytes
    }
    return known.sorted { $0.key < $1.key }.prefix(Limits.headNames).map {
      Head.Name(person: $0.key, name: $0.value)
    }
  }

  /// What the next head says of whether openings of files are noted in the journal.
  var reads: Head.Reads? {
    guard member.role == .owner else { return nil }
    return member.notedReads(in: heads)
  }

  /// The journal keys of other epochs that the next head says, under the key of its own.
  var journals: [Head.PastJournal] {
    member.pastJournals(heads, atMost: Limits.headJournals)
      .sorted { $0.lexicographicallyPrecedes($1) }.map { Head.PastJournal(wrapped: $0) }
  }

  /// What the next head says of heads that are not followed here.
  var openStrays: [Head.Stray] {
    member.openStrays(heads)
  }

  /// The next head has something to say of the lines of devices that no edit brought.
  var hasLinesToTell: Bool { member.hasLinesToTell(heads) }

  /// What the next head says it has seen of other devices: of late heads, only what it has taken over.
  var cover: [Head.Cover] {
    let current = heads.loaded.values.filter {
      $0.device != context.device.id && $0.late == nil
    }
    return member.withRoom(current + lateHeadsTaken, atMost: Limits.headDevices, of: \.device).map {
      Head.Cover(device: $0.device, counter: $0.counter, headHash: $0.hash)
    }
  }

  /// The late heads of other devices that are here and of which the next head has everything, or another one in use has.
  private var lateHeadsTaken: [LoadedHead] {
    let own = heads.loaded[context.device.id]
    return heads.loaded.values.filter {
      $0.device != context.device.id && $0.late != nil && !isWaiting
    }
      + heads.takenOver.values.filter { late in
        // What another late head has taken over is not taken over here before that one is.
        late.device != context.device.id
          && (!isWaiting || heads.isTakenOverNow(late) || own?.takesOver(late) ?? false)
      }
  }

  /// What the next head calls taken over: the late heads that are here, and what these and the head before it call so. Who
  /// meets such a head later has its content, and its objects may be gone. Of a device whose head is in use here nothing
  /// has to be said, nor of one that was removed or that nobody has certified: else an editor could make up so many that
  /// no head has room for them. What an editor says of another one goes as far as is known here, since whoever reads the next
  /// head may have to believe how far the other one has come.
  var takenOver: [Head.Cover] {
    let (late, witnesses) = (lateHeadsTaken, member.witnesses)
    let counters = ReachedCounters(heads, by: witnesses)
    var newest: [DeviceID: Head.Cover] = [:]
    func mayBeSaid(_ told: Head.Cover, by witness: DeviceID) -> Bool {
      witnesses.proves(witness, of: told.device)
        || told.counter <= counters.limit(of: told.device, isWriter: member.isWriter)
    }
    func note(_ taken: Head.Cover) {
      if newest[taken.device]?.counter ?? 0 < taken.counter { newest[taken.device] = taken.known }
    }
    for head in late {
      note(Head.Cover(device: head.device, counter: head.counter, headHash: head.hash))
    }
    for head in late + (heads.loaded[context.device.id].map { [$0] } ?? []) {
      for told in head.head.takenOver
      where witnesses.believes(head.device, ofLineOf: told.device)
        && mayBeSaid(told, by: head.device)
      {
        note(told)
      }
    }
    let certified = Set(context.people.persons.values.flatMap(\.devices.keys))
    let told = newest.values.filter { taken in
      taken.device != context.device.id && certified.contains(taken.device)
        && !context.people.isFormer(taken.device)
        && heads.loaded[taken.device].map(\.isLate) ?? true
    }
    return member.withRoom(told, atMost: Limits.headHeard, of: \.device)
  }

  /// What the next head goes on from without having read it: what the heads that are followed here say, the late ones that
  /// are taken over, and the one before it. A device of which a head is followed here, which was removed, or which nobody
  /// has certified, is not among them: else an editor could make up so many that no head has room for them.
  var heard: [Head.Cover] {
    var named = Set(cover.map(\.device))
    named.insert(context.device.id)
    let own = heads.loaded[context.device.id].map { $0.late == nil ? [] : [$0] } ?? []
    let newest = heads.newestBehind(by: member.witnesses, and: lateHeadsTaken + own).filter {
      !named.contains($0.key) && !context.people.isFormer($0.key) && !isOfFormer($0.value)
    }
    if newest.isEmpty { return [] }
    let certified = Set(context.people.persons.values.flatMap(\.devices.keys))
    let known = newest.values.filter { certified.contains($0.device) }
    return member.withRoom(known, atMost: Limits.headHeard, of: \.device)
  }

  /// Whether it is of the line that the next head goes on with, of the device that this machine was.
  private func isOfFormer(_ cover: Head.Cover) -> Bool {
    guard let former, former.head.device == cover.device else { return false }
    return cover.mark == former.head.mark
      || heads.lines[context.device.id].contains(cover.mark) && cover.counter > former.above
  }

  /// How far the other devices have come of which neither `cover` nor `heard` says as much: those whose heads do not
  /// count any more, or were of another epoch. Who goes by this head takes what its entries say of them.
  func reached(besides told: [Head.Cover]) -> [Head.Reached] {
    let counters = ReachedCounters(heads, by: member.witnesses)
    let told = Dictionary(told.map { ($0.device, $0.counter) }, uniquingKeysWith: max)
    let found = counters.devices.compactMap { device -> Head.Reached? in
      guard device != context.device.id, !context.people.isFormer(device) else { return nil }
      let counter = counters.limit(of: device, isWriter: member.isWriter)
      guard counter > told[device] ?? 0, member.isWriter(device) else { return nil }
      return Head.Reached(device: device, counter: counter)
    }
    return member.withRoom(found, atMost: Limits.headHeard, of: \.device)
  }

  /// Puts what is known only from heads of another epoch under the keys of the current one.
  ///
  /// A late head of another device of which something is not here waits until it is, or until its device has taken
  /// it over; so does one of an epoch whose beginner knows of new keys of somebody that have not come here: this device's
  /// epoch may open for whom these leave out. This device's own is always taken over, or nothing is written: its next head replaces the late one. So is that
  /// of the device that this machine was, which its first head goes on from.
  ///
  /// - Parameter translation: One that has done a part of it already.
  mutating func takeOver(with translation: Translation? = nil) throws(VaultError) {
    // Nor is a late head taken over of which entries wait for a device's own head.
    if heads.held.contains(where: { heads.loaded[$0.source]?.late != nil }) { isWaiting = true }
    let late = member.state.withLock { $0.manifest.lateEntries }
    guard !late.isEmpty else { return }
    let taken = try member.objects.placing { (arrivals) throws(VaultError) in
      try take(late, with: translation, arrivals)
    }
    member.state.withLock { $0.take(own: taken) }
    for entry in taken {
      heads.learned.insert(entry.record)
      unwritten.insert(entry.record)
    }
  }

  /// - Returns: The entries of which everything is under the keys in use now, or comes there with `arrivals`.
  private mutating func take(
    _ late: [RecordEntry], with translation: Translation?, _ arrivals: ObjectStore.Arrivals
  ) throws(VaultError) -> [RecordEntry] {
    var own = heads.broughtLate[context.device.id] ?? []
    if let former { own.formUnion(heads.broughtLate[former.head.device] ?? []) }
    let target = member.register.keys.current
    let ours =
      translation
      ?? Translation(
        member: member, target: target, keepsHistory: true, lacking: .passedOver, with: arrivals)
    let others =
      translation
      ?? Translation(
        member: member, target: target, keepsHistory: true, lacking: .awaited, with: arrivals)
    let awaiting = member.revisionsAwaitingClosings(heads)
    var taken: [RecordEntry] = []
    for entry in late.sorted(by: { ($0.record, $0.revision) < ($1.record, $1.revision) }) {
      let isOwn = own.contains(entry.revision)
      if !isOwn, awaiting.contains(entry.revision) {
        isWaiting = true
        continue
      }
      do {
        try (isOwn ? ours : others).take(revision: entry.revision)
        taken.append(entry)
      } catch {
        switch error {
        case .missing where !isOwn, .away where !isOwn, .gone where !isOwn: isWaiting = true
        default: throw error
        }
      }
    }
    // Of one that was handed in tells whoever has made it.
    if translation == nil {
      var gone = ours.gone
      gone.add(others.gone)
      context.noteGone(gone, of: member)
    }
    return taken
  }
}
