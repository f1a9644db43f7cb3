import Vault
import VaultModel

/// Which records of a member stand for themselves in lists, and which are parts of one above them: a folder without type and
/// date below a record that has one of these, or whose title begins with a day, as a disc does that was copied whole. A title that
/// begins with a month or a year is that of a folder of others.
struct WholeRecords {
  private let entry: (RecordID) -> RecordEntry?
  private let childCount: (RecordID) -> Int
  /// Of folders that were asked for: whether they are such a record or stand below one, as they are, deleted or not.
  private var known: [RecordID: Bool] = [:]

  /// More folders above a record are not looked at.
  private static let depthLimit = 64

  init(_ member: Member) { self.init(entry: member.entry, childCount: member.childCount) }

  /// - Parameters:
  ///   - entry: Of a record of the member.
  ///   - childCount: How many records stand in one, without deleted ones.
  init(entry: @escaping (RecordID) -> RecordEntry?, childCount: @escaping (RecordID) -> Int) {
    (self.entry, self.childCount) = (entry, childCount)
  }

  /// Whether it is more than a folder that holds others, and no part of another record.
  mutating func isWhole(_ entry: RecordEntry) -> Bool {
    if entry.isDated || entry.hasUnreadableFrontMatter { return true }
    if !entry.dateInTitle.isEmpty {
      return !entry.isBare || entry.isDeleted || childCount(entry.record) > 0
    }
    return !entry.isBare && !isInside(entry.parent, isDeleted: entry.isDeleted)
  }

  private mutating func isInside(_ folder: RecordID?, isDeleted: Bool) -> Bool {
    var passed: [RecordID] = []
    var next = folder
    var found = false
    while let folder = next, folder != .root, passed.count < Self.depthLimit {
      if let known = known[folder] {
        found = known
        break
      }
      guard let entry = entry(folder), entry.isDeleted == isDeleted else { break }
      passed.append(folder)
      if entry.isDated || entry.dateInTitle.utf8.count == 10 {
        found = true
        break
      }
      next = entry.parent
    }
    for folder in passed { known[folder] = found }
    return found
  }
}

extension RecordEntry {
  /// Whether it has a type or a date.
  fileprivate var isDated: Bool { !type.isEmpty || !date.isEmpty }
}
