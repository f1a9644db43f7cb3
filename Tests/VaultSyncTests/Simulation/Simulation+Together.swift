import TestSupport
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// Moves of three devices around one record, and what people do with copies that were kept: of schedules from `Seeds.widened`
/// on. That nothing is lost says the ledger, as of any other move: whoever throws a copy away has seen what it held, and nothing
/// else of that version.
extension Simulation {
  /// Three devices and the remote by which they meet in a move.
  struct Meeting {
    let one: Int
    let other: Int
    let third: Int
    let remote: Int
    var all: [Int] { [one, other, third] }
  }

  mutating func pickMeeting() -> Meeting? {
    let three = devices.indices.shuffled(using: &random)
    guard three.count > 2 else { return nil }
    return Meeting(
      one: three[0], other: three[1], third: three[2],
      remote: Int.random(in: remotes.indices, using: &random))
  }

  /// These sync, one after the other, as far as they can.
  mutating func sync(_ numbers: [Int], at meeting: Meeting) throws {
    for number in numbers {
      try ifPossible(on: number) { try $0.sync(number, with: meeting.remote) }
    }
  }

  /// A record as a device shows it that has joined all it knows; nil where it does not.
  func live(_ record: RecordID, on number: Int) throws -> RecordEntry? {
    try join(on: number)
    return try devices[number].emma.entry(record).flatMap { $0.isDeleted ? nil : $0 }
  }

  /// A record that a device shows, once all three have met.
  private mutating func pickKnown(to meeting: Meeting) throws -> RecordID? {
    try sync(meeting.all + [meeting.one], at: meeting)
    var picked: RecordID?
    let number = meeting.third
    try ifPossible(on: number) { picked = try $0.pick(on: number)?.record }
    return picked
  }

  private mutating func edit(_ name: FileName, of record: RecordID, on number: Int) throws {
    try ifPossible(on: number) { simulation in
      guard let entry = try simulation.live(record, on: number) else { return }
      try simulation.edit(name, of: entry, on: number)
    }
  }

  private mutating func shuffledFiles() -> [FileName] {
    Self.files.compactMap { FileName($0) }.shuffled(using: &random)
  }

  // MARK: Deletions

  /// Two devices edit two files of a record, a third one has seen neither and deletes it. It meets one of the two before the
  /// last one comes.
  mutating func deleteAmongEdits() throws {
    guard let meeting = pickMeeting(), let record = try pickKnown(to: meeting) else { return }
    let (one, other, deleter) = (meeting.one, meeting.other, meeting.third)
    for (number, name) in zip([one, other], shuffledFiles()) {
      try edit(name, of: record, on: number)
    }
    try ifPossible(on: deleter) { simulation in
      guard let entry = try simulation.live(record, on: deleter) else { return }
      try simulation.delete(entry, on: deleter)
    }
    let orders = [
      [deleter, other, deleter, one, other], [other, deleter, one], [deleter, one, other, deleter],
      [one, deleter, other, one],
    ]
    try sync(orders.randomElement(using: &random) ?? meeting.all, at: meeting)
  }

  // MARK: Copies that were kept

  /// One device writes all files of a record at once, two others one of them each. Two meet, and one of them decides what becomes
  /// of the copy that is kept then; what the third one brings concerns the rest of the same version.
  mutating func throwAwayAmongEdits() throws {
    guard let meeting = pickMeeting(), let record = try pickKnown(to: meeting) else { return }
    let (one, other, third) = (meeting.one, meeting.other, meeting.third)
    try ifPossible(on: one) { simulation in
      guard let entry = try simulation.live(record, on: one) else { return }
      try simulation.editSeveral(of: entry, on: one)
    }
    for (number, name) in zip([other, third], shuffledFiles()) {
      try edit(name, of: record, on: number)
    }
    // Who has the copy before it is thrown away can tell what it held.
    let order = Bool.random(using: &random) ? [one, other, one] : [one, other, one, other, third]
    try sync(order, at: meeting)
    let decider = Bool.random(using: &random) ? one : other
    try ifPossible(on: decider) { try $0.settleConflict(on: decider, of: record) }
    let orders = [
      [third, one, third, other], [decider, third, one, other], [third, decider, third],
    ]
    try sync(orders.randomElement(using: &random) ?? meeting.all, at: meeting)
  }

  /// All files of a record in one commit, so that they are one version.
  mutating func editSeveral(on number: Int) throws {
    guard let entry = try pick(on: number, copiesToo: true) else { return }
    try editSeveral(of: entry, on: number)
  }

  private mutating func editSeveral(of entry: RecordEntry, on number: Int) throws {
    let member = try devices[number].emma
    let old = try member.filesByName(of: member.revision(entry.revision))
    var edit = RecordEdit(record: entry.record)
    var texts: [String] = []
    var replaced: [String?] = []
    for name in Self.files.compactMap({ FileName($0) }) {
      let newText = ledger.newText()
      let inPlace = Bool.random(using: &random) ? old[name] : nil
      edit.items[name] = item(name, newText, changing: inPlace)
      texts.append(newText)
      if let old = old[name] { replaced.append(try text(of: old, in: member)) }
    }
    try commit(
      [edit], on: number, writing: texts, replacing: replaced,
      "edits all of \(entry.title.string)[\(entry.record.shortHex)]: \(texts) for "
        + "\(replaced.compactMap(\.self))")
  }

  /// Throws a copy away that was kept of a conflict, or puts it back into its record, as `kinvault conflicts resolve` does.
  ///
  /// - Parameter record: Of which it should be, if there is any.
  mutating func settleConflict(on number: Int, of record: RecordID? = nil) throws {
    try join(on: number)
    let member = try devices[number].emma
    let kept = try member.keptConflicts()
    let meant = kept.filter { $0.mark.record == record }
    guard let conflict = (meant.isEmpty ? kept : meant).randomElement(using: &random) else {
      return
    }
    try noteThrownAway(conflict.copy.record, on: number)
    let held = try conflict.items.map { try text(of: $0, in: member) }
    let name = "\(conflict.copy.title.string)[\(conflict.copy.record.shortHex)] with \(held)"
    do {
      if Int.random(in: 0..<3, using: &random) == 0 {
        try takeBack(conflict, holding: held, on: number, name)
      } else {
        // What the record shows as well was not thrown away.
        let shown = try conflict.original.flatMap { $0.isDeleted ? nil : $0 }.map {
          try texts(of: member.items(of: member.revision($0.revision)), in: member)
        }
        let replaced = held.filter { !(shown ?? []).contains($0) }
        try commit(
          member.edits(discarding: conflict), on: number, replacing: replaced, isWhole: true,
          "throws away \(name)")
      }
    } catch VaultError.changedMeanwhile {
      // Then nothing was thrown away.
      log("  changed meanwhile")
    }
  }

  private func texts(of items: [Item], in member: Member) throws -> Set<String> {
    try Set(items.map { try text(of: $0, in: member) })
  }

  /// What the record holds under the names of the copy is replaced; what the copy holds is in the record then.
  private mutating func takeBack(
    _ conflict: KeptConflict, holding held: [String], on number: Int, _ name: String
  ) throws {
    let member = try devices[number].emma
    let edits: [RecordEdit]
    do throws(VaultError) {
      edits = try member.edits(takingBack: conflict)
    } catch {
      switch error {
      // The record is no longer known, its place is taken, or what it was is no longer kept.
      case .notFound, .alreadyExists, .missing: return log("  cannot take back \(name): \(error)")
      default: throw error
      }
    }
    var replaced: [String?] = []
    if let original = conflict.original {
      let current = try member.filesByName(of: member.revision(original.revision))
      for item in conflict.items {
        guard let old = current[item.name] else { continue }
        let before = try text(of: old, in: member)
        if !held.contains(before) { replaced.append(before) }
      }
    }
    // What comes back with it comes with the attributes that it had.
    for edit in edits where edit.attributes != nil { modes.forget(edit.record) }
    try commit(edits, on: number, replacing: replaced, isWhole: true, "takes back \(name)")
  }

  // MARK: What was thrown away

  /// A copy that somebody has thrown away, and what else they had of its record.
  struct ThrownCopy {
    let record: RecordID
    let texts: Set<String>
  }

  /// A copy is about to be thrown away, if the record is one.
  mutating func noteThrownAway(_ copy: RecordID, on number: Int) throws {
    guard isWidened else { return }
    let member = try devices[number].emma
    let kept = try member.keptConflicts()
    guard let thrown = kept.first(where: { $0.copy.record == copy }) else { return }
    var items = kept.filter { $0.mark.record == thrown.mark.record && $0.copy.record != copy }
      .flatMap(\.items)
    if let original = thrown.original {
      items += try member.items(of: member.revision(original.revision))
    }
    let texts = try items.map { try text(of: $0, in: member) }
    thrownAway.append(ThrownCopy(record: copy, texts: Set(texts)))
  }

  /// Texts that may be gone with a copy that somebody has thrown away. Whoever has not all that the copy ever was, as it was
  /// collected or never came there, cannot tell what it held, and takes it that all of its version was seen: Docs/Format.md,
  /// section 10. So these count as lost only where every device has all of it.
  func textsTakenToBeSeen() throws -> Set<String> {
    var texts: Set<String> = []
    for thrown in thrownAway {
      let isEverywhere = try devices.allSatisfy { try Self.hasWholePast(thrown.record, $0.emma) }
      if !isEverywhere { texts.formUnion(thrown.texts) }
    }
    return texts
  }

  private static func hasWholePast(_ record: RecordID, _ member: Member) throws -> Bool {
    guard let entry = member.entry(record) else { return false }
    var waiting = [entry.revision]
    var seen = Set(waiting)
    while let digest = waiting.popLast() {
      guard try member.objects.isPresent(digest) else { return false }
      waiting += try member.revision(digest).previous.filter { seen.insert($0).inserted }
    }
    return true
  }
}
