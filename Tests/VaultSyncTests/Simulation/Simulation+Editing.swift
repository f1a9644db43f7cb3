import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault

/// What people do in the simulation, and what of the texts before is replaced by it.
extension Simulation {
  private static let files = ["record.md", "a.txt", "b.txt"]

  mutating func create(on number: Int) throws {
    let parent = Bool.random(using: &random) ? try pick(on: number)?.record : nil
    let title = "R\(Int.random(in: 0..<3, using: &random))"
    guard let record = RecordID(random.bytes(RecordID.byteCount)), let name = FileName(title) else {
      return
    }
    let text = ledger.newText()
    var edit = RecordEdit(
      record: record, isNew: true, place: RecordPlace(parent: parent ?? .root, title: name),
      attributes: RecordAttributes(mode: 0o700))
    edit.items[.record] = item(.record, text)
    try commit([edit], on: number, writing: [text], "creates \(title) with \(text)")
  }

  mutating func edit(on number: Int) throws {
    guard let entry = try pick(on: number, copiesToo: true),
      let name = Self.files.randomElement(using: &random).flatMap({ FileName($0) })
    else { return }
    let member = try devices[number].emma
    let old = try member.items(of: member.revision(entry.revision)).first { $0.name == name }
    var edit = RecordEdit(record: entry.record)
    let what = "edits \(entry.title.string)[\(entry.record.shortHex)]/\(name.string)"
    let before = try old.map { try text(of: $0, in: member) }
    if old != nil, Int.random(in: 0..<5, using: &random) == 0 {
      edit.items[name] = .some(nil)
      try commit([edit], on: number, replacing: [before], "\(what): removes \(before ?? "")")
      return
    }
    let newText = ledger.newText()
    if Int.random(in: 0..<4, using: &random) == 0 {
      // In a chunk of its own instead of in the record.
      let chunk = try member.objects.put(.chunk, Array(newText.utf8))
      var new = item(name, newText)
      new.content = try member.content(of: [chunk])
      edit.items[name] = new
    } else {
      edit.items[name] = item(name, newText)
    }
    try commit(
      [edit], on: number, writing: [newText], replacing: [before],
      "\(what): \(newText) for \(before ?? "-")")
  }

  mutating func move(on number: Int) throws {
    guard let entry = try pick(on: number), let target = try pick(on: number) else { return }
    let member = try devices[number].emma
    // No program can move a directory into itself.
    var next: RecordID? = target.record
    while let record = next, record != .root {
      if record == entry.record { return }
      next = member.entry(record)?.parent
    }
    let isRename = Bool.random(using: &random)
    let title = isRename ? FileName("R\(Int.random(in: 0..<3, using: &random))") : entry.title
    let place = RecordPlace(
      parent: isRename ? entry.parent : target.record, title: title ?? entry.title)
    try commit(
      [RecordEdit(record: entry.record, place: place)], on: number,
      "moves \(entry.record.shortHex) to \(place.parent?.shortHex ?? "-")/\(place.title.string)")
  }

  /// A record with all that is in it, as `rm -r` does.
  mutating func delete(on number: Int) throws {
    guard let entry = try pick(on: number, copiesToo: true) else { return }
    let member = try devices[number].emma
    var edits: [RecordEdit] = []
    var replaced: [String?] = []
    func visit(_ entry: RecordEntry) throws {
      for child in member.children(of: entry.record) { try visit(child) }
      for item in try member.items(of: member.revision(entry.revision)) {
        replaced.append(try text(of: item, in: member))
      }
      edits.append(
        RecordEdit(
          record: entry.record,
          place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)))
    }
    try visit(entry)
    try commit(
      edits, on: number, replacing: replaced,
      "deletes \(entry.title.string)[\(entry.record.shortHex)] with \(replaced.compactMap(\.self))")
  }

  // MARK: How

  /// Commits; one time in twelve the device is cut at some call of it.
  private mutating func commit(
    _ edits: [RecordEdit], on number: Int, writing new: [String] = [],
    replacing old: [String?] = [],
    _ what: String
  ) throws {
    let device = devices[number]
    log("\(number): \(what)")
    let isCut = Int.random(in: 0..<12, using: &random) == 0
    if isCut {
      let call = Int.random(in: 1..<12, using: &random)
      let isState = Int.random(in: 0..<4, using: &random) == 0
      (isState ? device.stateStore : device.store).cut(after: call)
    }
    do throws(VaultError) {
      let commit = try device.vault.members[0].commit(edits)
      if let failure = commit.failures.values.first { throw failure }
      for text in old.compactMap(\.self) { ledger.note(text, .replaced) }
    } catch {
      guard isCut else { throw error }
      log("  cut: \(error)")
      for text in new { ledger.note(text, .uncertain) }
      for text in old.compactMap(\.self) { ledger.note(text, .replaced) }
    }
    if isCut { try restart(number) }
  }

  private mutating func pick(on number: Int, copiesToo: Bool = false) throws -> RecordEntry? {
    let member = try devices[number].emma
    // As a mount does all the time.
    _ = try member.joinConcurrent()
    let folder = ConflictCopy.folder(of: member.id)
    let mayBeCopy = copiesToo && Int.random(in: 0..<8, using: &random) == 0
    let shown = member.allEntries()
      .filter { entry in
        !entry.isDeleted && entry.record != .root && entry.record != folder
          && (mayBeCopy || entry.parent != folder)
      }
      .sorted { $0.record < $1.record }
    // Half the time one of two, so that devices often change the same.
    return Bool.random(using: &random)
      ? shown.prefix(2).randomElement(using: &random) : shown.randomElement(using: &random)
  }

  private mutating func item(_ name: FileName, _ text: String) -> Item {
    Item(
      name: name, file: FileID(random.bytes(FileID.byteCount)) ?? .zero,
      size: UInt64(text.utf8.count),
      content: .inline(Array(text.utf8)), time: .zero)
  }

  private func text(of item: Item, in member: Member) throws -> String {
    String(decoding: try member.beginning(of: item, byteCount: 4096), as: UTF8.self)
  }
}
