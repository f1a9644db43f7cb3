import TestSupport
import Testing
import VaultModel

@testable import Vault

/// Random edits of several devices that meet now and then, and what must still be found at the end.
struct ConflictScript {
  let seed: UInt64
  private var random: SplitMix64
  /// Every text that was ever written, and who replaced it knowingly.
  private var written: [String: Bool] = [:]
  private var count = 0

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix64(seed: seed)
  }

  mutating func run(on replicas: Replicas) throws {
    for _ in 0..<40 {
      let number = Int.random(in: 0..<replicas.devices.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...1: try create(on: replicas[number])
      case 2...5: try edit(on: replicas[number])
      case 6: try move(on: replicas[number])
      case 7: try delete(on: replicas[number])
      case 8: replicas[number].clock.advance(days: UInt64.random(in: 0...400, using: &random))
      default:
        let other = (number + 1) % replicas.devices.count
        try replicas.carry(from: number, to: other)
      }
    }
  }

  /// Every text that nobody replaced or deleted having seen it is somewhere in the member.
  func expectNothingLost(on device: Replicas.Replica) throws {
    let found = Set(try device.contents().values)
    for (text, isReplaced) in written where !isReplaced {
      #expect(found.contains(text), "\(text) is lost with seed \(seed)")
    }
  }

  private mutating func newText() -> String {
    count += 1
    written["text \(count)"] = false
    return "text \(count)"
  }

  private mutating func pick(on device: Replicas.Replica) throws -> RecordEntry? {
    let folder = try ConflictCopy.folder(of: device.member.id)
    return try device.member.allEntries()
      .filter { !$0.isDeleted && $0.record != .root && $0.record != folder && $0.parent != folder }
      .sorted { $0.record < $1.record }.randomElement(using: &random)
  }

  private mutating func create(on device: Replicas.Replica) throws {
    let parent = Bool.random(using: &random) ? try pick(on: device)?.record : nil
    let title = "Record \(Int.random(in: 0..<3, using: &random))"
    try device.commit(.newRecord(title, in: parent ?? .root, note: newText()))
  }

  private mutating func edit(on device: Replicas.Replica) throws {
    guard let entry = try pick(on: device) else { return }
    let names = ["record.md", "a.txt", "b.txt"]
    guard let name = names.randomElement(using: &random).flatMap({ FileName($0) }) else { return }
    let member = try device.member
    let old = try member.items(of: member.revision(entry.revision)).first { $0.name == name }
    var item = Item.note(newText())
    item.name = name
    try device.commit(RecordEdit(record: entry.record, items: [name: item]))
    if let old { try replace(old, in: member) }
  }

  private mutating func move(on device: Replicas.Replica) throws {
    guard let entry = try pick(on: device), let target = try pick(on: device) else { return }
    // No program can move a directory into itself.
    let member = try device.member
    var next: RecordID? = target.record
    while let record = next, record != .root {
      if record == entry.record { return }
      next = member.entry(record)?.parent
    }
    try device.commit(
      RecordEdit(
        record: entry.record, place: RecordPlace(parent: target.record, title: entry.title)))
  }

  private mutating func delete(on device: Replicas.Replica) throws {
    guard let entry = try pick(on: device) else { return }
    let member = try device.member
    guard member.children(of: entry.record).isEmpty else { return }
    for item in try member.items(of: member.revision(entry.revision)) {
      try replace(item, in: member)
    }
    try device.commit(
      RecordEdit(
        record: entry.record,
        place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)))
  }

  private mutating func replace(_ item: Item, in member: Member) throws {
    let bytes = try member.beginning(of: item, byteCount: Int(item.size))
    written[String(decoding: bytes, as: UTF8.self)] = true
  }
}
