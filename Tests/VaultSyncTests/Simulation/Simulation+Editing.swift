import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// What people do in the simulation, and what of the texts before is replaced by it.
extension Simulation {
  static let files = ["record.md", "a.txt", "b.txt"]

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
    try edit(name, of: entry, on: number)
  }

  mutating func edit(_ name: FileName, of entry: RecordEntry, on number: Int) throws {
    let member = try devices[number].emma
    let old = try member.items(of: member.revision(entry.revision)).first { $0.name == name }
    var edit = RecordEdit(record: entry.record)
    // Half the time a file is changed in its place, under all its names, or replaced by another one.
    let inPlace = Bool.random(using: &random) ? old : nil
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
      var new = item(name, newText, changing: inPlace)
      new.content = try member.content(of: [chunk])
      edit.items[name] = new
    } else {
      edit.items[name] = item(name, newText, changing: inPlace)
    }
    try commit(
      [edit], on: number, writing: [newText], replacing: [before],
      "\(what): \(newText) for \(before ?? "-")")
  }

  /// A file whose content stands elsewhere too, in one object for all of them. Nobody looks for it in the end; whether it can
  /// be read everywhere is seen to.
  mutating func repeatContent(on number: Int) throws {
    guard let entry = try pick(on: number), let name = FileName("same.txt"),
      let text = ["one of two", "the other one"].randomElement(using: &random)
    else { return }
    let member = try devices[number].emma
    let old = try member.items(of: member.revision(entry.revision)).first { $0.name == name }
    var new = item(name, text, changing: Bool.random(using: &random) ? old : nil)
    new.content = try member.content(of: [member.objects.put(.chunk, Array(text.utf8))])
    var edit = RecordEdit(record: entry.record)
    edit.items[name] = new
    try commit([edit], on: number, "writes \(text) into \(entry.record.shortHex)/\(name.string)")
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

  /// One more name for a file, in its record or another.
  mutating func link(on number: Int) throws {
    guard let (entry, item) = try pickFile(on: number), let target = try pick(on: number),
      let name = FileName("l\(Int.random(in: 0..<3, using: &random))")
    else { return }
    let member = try devices[number].emma
    guard try member.item(named: name, in: target.record) == nil else { return }
    let names = try names(of: item, in: entry.record, of: member)
    try commit(
      edits(binding: names + [(name, target.record)], to: item), on: number,
      "links \(entry.record.shortHex)/\(item.name.string) as \(target.record.shortHex)/\(name.string)"
    )
  }

  /// Another name for a file, in its record or another, instead of the one that it has.
  mutating func rename(on number: Int) throws {
    guard let (entry, item) = try pickFile(on: number), let target = try pick(on: number),
      let name = FileName("l\(Int.random(in: 0..<3, using: &random))")
    else { return }
    let member = try devices[number].emma
    guard try member.item(named: name, in: target.record) == nil else { return }
    let names = try names(of: item, in: entry.record, of: member)
      .filter { $0 != (item.name, entry.record) }
    try commit(
      edits(
        binding: names + [(name, target.record)], to: item, removing: (item.name, entry.record)),
      on: number,
      "renames \(entry.record.shortHex)/\(item.name.string) to \(target.record.shortHex)/\(name.string)"
    )
  }

  mutating func pickFile(on number: Int) throws -> (RecordEntry, Item)? {
    guard let entry = try pick(on: number) else { return nil }
    let member = try devices[number].emma
    let items = try member.items(of: member.revision(entry.revision)).filter { $0.name != .record }
      .sorted { $0.name < $1.name }
    return items.randomElement(using: &random).map { (entry, $0) }
  }

  /// All names of a file; of one that never had several the one that is given.
  private func names(
    of item: Item, in record: RecordID, of member: Member
  ) throws -> [(FileName, RecordID)] {
    if item.linkRecords.isEmpty { return [(item.name, record)] }
    return try member.allEntries().filter { !$0.isDeleted }.sorted { $0.record < $1.record }
      .flatMap { entry in
        try member.items(of: member.revision(entry.revision))
          .filter { $0.file == item.file && !$0.linkRecords.isEmpty }
          .map { ($0.name, entry.record) }
      }
  }

  /// As a mount commits it: the file stays as it is.
  private func edits(
    binding names: [(FileName, RecordID)], to item: Item,
    removing gone: (name: FileName, record: RecordID)? = nil
  ) -> [RecordEdit] {
    var edits: [RecordID: RecordEdit] = [:]
    let records = names.count > 1 || !item.linkRecords.isEmpty ? names.map(\.1) : []
    for (name, record) in names {
      var named = item.knowing(records)
      named.name = name
      edits[record, default: RecordEdit(record: record)].items[name] = named
      edits[record]?.unchangedFiles[name] = item.changed
    }
    if let gone {
      edits[gone.record, default: RecordEdit(record: gone.record)].items
        .updateValue(nil, forKey: gone.name)
    }
    return edits.values.sorted { $0.record < $1.record }
  }

  /// Names of one file that show different things at the end, or have another mode.
  func disagreeingNames() throws -> [String] {
    let member = try devices[0].emma
    var shown: [FileID: Set<String>] = [:]
    for entry in member.allEntries() where !entry.isDeleted {
      for item in try member.items(of: member.revision(entry.revision))
      where !item.linkRecords.isEmpty {
        shown[item.file, default: []].insert(
          "\(try text(of: item, in: member)), \(String(item.mode, radix: 8))")
      }
    }
    return shown.values.filter { $0.count > 1 }.map { "one file shows \($0.sorted())" }
  }

  /// A record with all that is in it, as `rm -r` does.
  mutating func delete(on number: Int) throws {
    guard let entry = try pick(on: number, copiesToo: true) else { return }
    try delete(entry, on: number)
  }

  mutating func delete(_ entry: RecordEntry, on number: Int) throws {
    let member = try devices[number].emma
    try noteThrownAway(entry.record, on: number)
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
  ///
  /// - Parameter isWhole: Whether it does all of the edits or none, as commands do.
  /// - Returns: Whether the edits count for certain.
  @discardableResult
  mutating func commit(
    _ edits: [RecordEdit], on number: Int, writing new: [String] = [],
    replacing old: [String?] = [], isWhole: Bool = false,
    _ what: String
  ) throws -> Bool {
    let device = devices[number]
    log("\(number): \(what)")
    let isCut = Int.random(in: 0..<12, using: &random) == 0
    if isCut {
      let call = Int.random(in: 1..<12, using: &random)
      let isState = Int.random(in: 0..<4, using: &random) == 0
      (isState ? device.stateStore : device.store).cut(after: call)
    }
    var isDone = false
    do throws(VaultError) {
      let member = device.vault.members[0]
      if isWhole {
        try device.vault.commit(edits, to: member)
      } else if let failure = try member.commit(edits).failures.values.first {
        throw failure
      }
      for text in old.compactMap(\.self) { ledger.note(text, .replaced) }
      isDone = true
    } catch {
      let waits = mayWaitForWords(error)
      guard isCut || waits || isFull(number, error) else { throw error }
      log("  cut: \(error)")
      for text in new { ledger.note(text, .uncertain) }
      // Who waits for the words writes nothing.
      if waits, !isCut { return false }
      for text in old.compactMap(\.self) { ledger.note(text, .replaced) }
    }
    if isCut { try restart(number) }
    return isDone
  }

  mutating func pick(on number: Int, copiesToo: Bool = false) throws -> RecordEntry? {
    let member = try devices[number].emma
    try join(on: number)
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

  mutating func item(
    _ name: FileName, _ text: String, changing old: Item? = nil
  ) -> Item {
    Item(
      name: name, file: old?.file ?? FileID(random.bytes(FileID.byteCount)) ?? .zero,
      size: UInt64(text.utf8.count),
      content: .inline(Array(text.utf8)), time: .zero, linkRecords: old?.linkRecords ?? [])
  }

  func text(of item: Item, in member: Member) throws -> String {
    String(decoding: try member.beginning(of: item, byteCount: 4096), as: UTF8.self)
  }
}
