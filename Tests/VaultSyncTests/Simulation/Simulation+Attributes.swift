import TestSupport
import VaultModel

@testable import Vault

/// Modes and times of records and files, set beside renames. Of schedules from `Seeds.widened` on.
extension Simulation {
  /// Another mode for a record, which half of the time is renamed with it.
  mutating func setAttributes(on number: Int) throws {
    guard let entry = try pick(on: number) else { return }
    let before = try devices[number].emma.revision(entry.revision).attributes
    let mode = modes.newMode()
    var edit = RecordEdit(record: entry.record)
    edit.attributes = RecordAttributes(
      mode: mode, modified: someTime(), owner: before.owner, xattrs: before.xattrs)
    if Bool.random(using: &random) { edit.place = renamed(entry) }
    let isCertain = try commit(
      [edit], on: number,
      "gives \(entry.record.shortHex) the mode \(mode)\(edit.place == nil ? "" : ", and renames it")"
    )
    modes.note(mode, of: entry.record, over: before.mode, isCertain: isCertain)
  }

  /// Names in a record were changed: its time alone is another one, and no mode.
  mutating func touch(on number: Int) throws {
    guard let entry = try pick(on: number) else { return }
    let before = try devices[number].emma.revision(entry.revision).attributes.modified
    var edit = RecordEdit(record: entry.record)
    edit.modified = RecordEdit.Touch(
      time: someTime(), over: Bool.random(using: &random) ? before : nil)
    if Bool.random(using: &random) { edit.place = renamed(entry) }
    try commit([edit], on: number, "touches \(entry.record.shortHex)")
  }

  /// Another mode and time for a file; its text stays.
  mutating func setFileAttributes(on number: Int) throws {
    guard let (entry, item) = try pickFile(on: number) else { return }
    var new = item
    new.mode = 0o100400 + UInt32.random(in: 0..<0o400, using: &random)
    new.modified = someTime()
    try commit(
      [RecordEdit(record: entry.record, items: [item.name: new])], on: number,
      "gives \(entry.record.shortHex)/\(item.name.string) the mode \(new.mode)")
  }

  private mutating func renamed(_ entry: RecordEntry) -> RecordPlace {
    let title = FileName("R\(Int.random(in: 0..<3, using: &random))")
    return RecordPlace(parent: entry.parent, title: title ?? entry.title)
  }

  private mutating func someTime() -> FileTimestamp {
    FileTimestamp(milliseconds: 1_700_000_000_000 + UInt64.random(in: 0..<1 << 32, using: &random))
  }

  // MARK: The end

  /// Modes and times of everything that a device shows, in schedules that change them.
  func attributes(on number: Int) throws -> [String: String] {
    guard isWidened else { return [:] }
    let member = try devices[number].emma
    var found: [String: String] = [:]
    for entry in member.allEntries() where !entry.isDeleted {
      let revision = try member.revision(entry.revision)
      let own = revision.attributes
      found[entry.record.shortHex] = "\(own.mode) \(own.modified)"
      for item in try member.items(of: revision) {
        found["\(entry.record.shortHex)/\(item.name.string)"] = "\(item.mode) \(item.modified)"
      }
    }
    return found
  }

  /// Records whose mode is one that somebody has replaced who had seen it.
  func replacedModes() throws -> [String] {
    let member = try devices[0].emma
    return try modes.wanted.compactMap { record, wanted -> String? in
      guard let entry = member.entry(record), !entry.isDeleted else { return nil }
      let mode = try member.revision(entry.revision).attributes.mode
      if wanted.contains(mode) { return nil }
      return "\(record.shortHex) has the mode \(mode), not one of \(wanted.sorted())"
    }.sorted()
  }
}

/// Which modes a record may have at the end: of several that nobody had seen before they set theirs the later one counts, and
/// no copy is kept of the others.
struct ModeLedger {
  private(set) var wanted: [RecordID: Set<UInt32>] = [:]
  private var forgotten: Set<RecordID> = []
  private var isForgotten = false
  private var count: UInt32 = 0

  /// One that nobody has set before.
  mutating func newMode() -> UInt32 {
    count += 1
    return 0o400 + count % 0o400
  }

  /// - Parameter isCertain: Whether the commit counts for certain, and the mode before no more.
  mutating func note(
    _ mode: UInt32, of record: RecordID, over before: UInt32, isCertain: Bool
  ) {
    if isForgotten || forgotten.contains(record) { return }
    wanted[record, default: [before]].insert(mode)
    if isCertain { wanted[record]?.remove(before) }
  }

  /// From now on the record may have any mode.
  mutating func forget(_ record: RecordID) {
    wanted[record] = nil
    forgotten.insert(record)
  }

  /// A disk was put back: what was set there may never have been.
  mutating func forget() {
    wanted = [:]
    isForgotten = true
  }
}
