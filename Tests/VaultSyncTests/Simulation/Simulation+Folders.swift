import TestSupport
import VaultModel

@testable import Vault

/// Records without a file, as mounts make folders: removed when they are empty, while others write into them. Of schedules from
/// `Seeds.widened` on.
extension Simulation {
  mutating func makeFolder(on number: Int) throws {
    let parent = Bool.random(using: &random) ? try pick(on: number)?.record : nil
    guard var edit = newRecord(titled: "F", in: parent ?? .root) else { return }
    edit.isOfView = true
    try commit([edit], on: number, "makes the empty folder \(edit.record.shortHex)")
  }

  mutating func removeEmptyFolder(on number: Int) throws {
    guard let entry = try pickEmpty(on: number) else { return }
    try removeEmpty(entry, on: number)
  }

  /// One device removes a folder that it sees empty; others put something into it meanwhile, or rename it.
  mutating func removeFolderThatOthersFill() throws {
    guard let meeting = pickMeeting() else { return }
    let (one, other, third) = (meeting.one, meeting.other, meeting.third)
    var picked: RecordID?
    try ifPossible(on: one) { simulation in
      picked = try simulation.pickEmpty(on: one)?.record
      if picked == nil { try simulation.makeFolder(on: one) }
      if picked == nil { picked = try simulation.pickEmpty(on: one)?.record }
    }
    guard let folder = picked else { return }
    try sync(meeting.all, at: meeting)
    try ifPossible(on: one) { simulation in
      guard let entry = try simulation.live(folder, on: one), try simulation.isEmpty(entry, on: one)
      else { return }
      try simulation.removeEmpty(entry, on: one)
    }
    let fillers = Bool.random(using: &random) ? [other] : [other, third]
    for number in fillers {
      try ifPossible(on: number) { simulation in
        guard let entry = try simulation.live(folder, on: number) else { return }
        try simulation.fill(entry, on: number)
      }
    }
    try sync(meeting.all.shuffled(using: &random) + [one], at: meeting)
  }

  // MARK: How

  /// As `rmdir` in a mount does: what has come into it since is nobody's to remove.
  private mutating func removeEmpty(_ entry: RecordEntry, on number: Int) throws {
    var edit = RecordEdit(
      record: entry.record,
      place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true))
    edit.isOfView = true
    try commit(
      [edit], on: number, "removes the empty \(entry.title.string)[\(entry.record.shortHex)]")
  }

  private mutating func fill(_ folder: RecordEntry, on number: Int) throws {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      guard let name = FileName("a.txt") else { return }
      try edit(name, of: folder, on: number)
    case 1:
      guard var edit = newRecord(titled: "R", in: folder.record) else { return }
      let text = ledger.newText()
      edit.items[.record] = item(.record, text)
      try commit(
        [edit], on: number, writing: [text],
        "creates a record with \(text) in \(folder.record.shortHex)")
    case 2:
      guard let moved = try pick(on: number), try !isAbove(moved.record, folder, on: number) else {
        return
      }
      let place = RecordPlace(parent: folder.record, title: moved.title)
      try commit(
        [RecordEdit(record: moved.record, place: place)], on: number,
        "moves \(moved.record.shortHex) into \(folder.record.shortHex)")
    default:
      guard let title = FileName("F\(Int.random(in: 0..<3, using: &random))") else { return }
      var edit = RecordEdit(
        record: folder.record, place: RecordPlace(parent: folder.parent, title: title))
      edit.isOfView = true
      try commit(
        [edit], on: number, "renames \(folder.record.shortHex) to \(title.string)")
    }
  }

  /// Whether a record is the other one, or has it somewhere below it.
  private func isAbove(_ record: RecordID, _ other: RecordEntry, on number: Int) throws -> Bool {
    let member = try devices[number].emma
    var next: RecordID? = other.record
    while let above = next, above != .root {
      if above == record { return true }
      next = member.entry(above)?.parent
    }
    return false
  }

  private mutating func newRecord(titled title: String, in parent: RecordID) -> RecordEdit? {
    let name = FileName("\(title)\(Int.random(in: 0..<3, using: &random))")
    guard let record = RecordID(random.bytes(RecordID.byteCount)), let name else { return nil }
    return RecordEdit(
      record: record, isNew: true, place: RecordPlace(parent: parent, title: name),
      attributes: RecordAttributes(mode: 0o700))
  }

  private mutating func pickEmpty(on number: Int) throws -> RecordEntry? {
    try join(on: number)
    let member = try devices[number].emma
    let copies = ConflictCopy.folder(of: member.id)
    let empty = try member.allEntries().filter { entry in
      try !entry.isDeleted && entry.record != .root && entry.record != copies
        && entry.parent != copies && isEmpty(entry, on: number)
    }
    return empty.sorted { $0.record < $1.record }.randomElement(using: &random)
  }

  private func isEmpty(_ entry: RecordEntry, on number: Int) throws -> Bool {
    let member = try devices[number].emma
    guard member.children(of: entry.record).isEmpty else { return false }
    return try member.items(of: member.revision(entry.revision)).isEmpty
  }

  /// Records that show at the end and that nobody comes to from the member's root.
  func unreachableRecords() throws -> [String] {
    let member = try devices[0].emma
    var reached: Set<RecordID> = [.root]
    var waiting: [RecordID] = [.root]
    while let record = waiting.popLast() {
      for child in member.children(of: record) where reached.insert(child.record).inserted {
        waiting.append(child.record)
      }
    }
    return member.allEntries().filter { !$0.isDeleted && !reached.contains($0.record) }
      .map { "nobody comes to \($0.title.string)[\($0.record.shortHex)]" }.sorted()
  }
}
