import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault

/// What a person sees of a vault: every live record and file, and what is in them. Two vaults that look the same have
/// equal views, whatever stands in their folders.
struct VaultView: Equatable, CustomStringConvertible {
  /// Lines such as `Emma/Vaccines` and `Emma/Vaccines/card.jpg: 3 bytes [1, 2, 3]`, in order.
  private(set) var lines: [String] = []

  init(of vault: Vault) throws {
    for member in vault.members {
      for entry in member.allEntries() where !entry.isDeleted {
        let path = entry.record == .root ? "" : member.displayPath(of: entry.record)
        let record = "\(member.name.string)/\(path)"
        lines.append(record)
        for item in try member.items(of: try member.revision(entry.revision)) {
          let beginning = try member.beginning(of: item, byteCount: 16)
          let chunkCount = try member.chunks(of: item.content).count
          lines.append(
            "\(record)/\(item.name): \(item.size) bytes \(beginning), \(chunkCount) chunks")
        }
      }
    }
    lines.sort()
  }

  var description: String { lines.joined(separator: "\n") }
}

/// A life of a vault in steps, each of which becomes visible at once or not at all.
///
/// Steps find what they change by name, so that any of them can be run in any copy of the vault that has come so far.
enum CommitScript {
  typealias Step = @Sendable (_ vault: Vault, _ clock: MemoryVault.Clock) throws -> Void

  static let steps: [(name: String, run: Step)] =
    [
      ("new member", { vault, _ in _ = try vault.addMember(named: name("Emma")) }),
      ("new records", newRecords),
      ("attachments", attachments),
      ("new keys", newKeys),
      ("a large folder", largeFolder),
      ("one file of many", oneOfMany),
      ("move", move),
    ] + (1...13).map { number in ("note \(number)", { vault, _ in try write(number, in: vault) }) }
    + [
      ("delete", delete),
      (
        "checkpoint",
        { vault, _ in try emma(vault).commitCheckpoint() }
      ),
      ("audit", audit),
      (
        "collect",
        { vault, clock in
          clock.advance(days: 100)
          _ = try vault.collect(keepDays: 30, acceptsClock: true, isDryRun: false)
        }
      ),
      ("synced note", syncedNote),
      ("second member", { vault, _ in _ = try vault.addMember(named: name("Liam")) }),
    ]

  private static let newRecords: Step = { vault, _ in
    let emma = try emma(vault)
    var vaccines = RecordEdit.newRecord("Vaccines", note: "---\ntype: vaccine\n---\nHi")
    vaccines.items[try name("card.jpg")] = try .file("card.jpg", [1, 2, 3], in: emma)
    _ = try emma.commit([vaccines, .newRecord("Visits", note: "none yet")])
  }

  /// Two small files of equal content, and one with so many chunks that they stand in an index.
  private static let attachments: Step = { vault, _ in
    let emma = try emma(vault)
    let visits = try #require(emma.record(titled: "Visits"))
    var edit = RecordEdit(record: visits.record)
    edit.items[try name("a.pdf")] = try .file("a.pdf", [7, 7], in: emma)
    edit.items[try name("b.pdf")] = try .file("b.pdf", [7, 7], in: emma)
    var chunks = [ContentDigest?](repeating: nil, count: 20)
    chunks[0] = try emma.objects.put(.chunk, [UInt8](repeating: 1, count: chunkSize))
    chunks[19] = try emma.objects.put(.chunk, [2])
    edit.items[try name("scan.dcm")] = Item(
      name: try name("scan.dcm"), file: .random(), size: UInt64(19 * chunkSize + 1),
      content: try emma.content(of: chunks), time: .zero)
    _ = try emma.commit([edit])
  }

  /// Everything is put under another key, and what stood under the one before goes.
  private static let newKeys: Step = { vault, _ in
    try vault.beginEpoch(of: emma(vault), without: [])
    try vault.removeOldObjects().requireNone()
  }

  private static let largeFolder: Step = { vault, _ in
    let emma = try emma(vault)
    var edit = RecordEdit.newRecord("Disc", note: "a disc")
    for number in 0..<100 {
      edit.items[try name("slice \(number)")] = try empty("slice \(number)")
    }
    _ = try emma.commit([edit])
  }

  private static let oneOfMany: Step = { vault, _ in
    let emma = try emma(vault)
    var edit = RecordEdit(record: try #require(emma.record(titled: "Disc")).record)
    edit.items[try name("slice 17")] = try .file("slice 17", [17], in: emma)
    edit.items[try name("slice 18")] = .some(nil)
    _ = try emma.commit([edit])
  }

  private static let move: Step = { vault, _ in
    let emma = try emma(vault)
    var edit = RecordEdit(record: try #require(emma.record(titled: "Visits")).record)
    edit.place = RecordPlace(
      parent: try #require(emma.record(titled: "Vaccines")).record, title: try name("Visits 2025"),
      isDeleted: false)
    _ = try emma.commit([edit])
  }

  private static func write(_ number: Int, in vault: Vault) throws {
    let emma = try emma(vault)
    var edit = RecordEdit(record: try #require(emma.record(titled: "Vaccines")).record)
    edit.items[.record] = .note("edit \(number)")
    _ = try emma.commit([edit])
  }

  private static let delete: Step = { vault, _ in
    let emma = try emma(vault)
    var edit = RecordEdit(record: try #require(emma.record(titled: "Visits 2025")).record)
    edit.place = RecordPlace(parent: .root, title: try name("Visits 2025"), isDeleted: true)
    _ = try emma.commit([edit])
  }

  /// What an `fsync` of the mount does, and the commit that follows.
  private static let syncedNote: Step = { vault, _ in
    let emma = try emma(vault)
    var edit = RecordEdit(record: try #require(emma.record(titled: "Vaccines")).record)
    edit.items[.record] = .note("synced")
    edit.items[try name("pass.jpg")] = try .file("pass.jpg", [8, 9], in: emma)
    if try emma.log([edit]) { _ = try emma.log([edit]) }
    _ = try emma.commit([edit], foldsRedo: true)
  }

  private static let audit: Step = { vault, _ in
    vault.audit.note(.read, detail: "x")
    try vault.audit.publish()
    vault.audit.note(.write, detail: "y")
    try vault.audit.publish()
  }

  // MARK: Parts

  private static let chunkSize = ObjectLayout.maximumContentSize(of: .chunk)

  private static func emma(_ vault: Vault) throws -> Member {
    try #require(vault.member(named: try name("Emma")))
  }

  private static func name(_ text: String) throws -> FileName { try #require(FileName(text)) }

  private static func empty(_ text: String) throws -> Item {
    Item(name: try name(text), file: .random(), size: 0, content: .none, time: .zero)
  }
}
