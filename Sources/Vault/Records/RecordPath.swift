import VaultErrors
import VaultModel

/// A path as the mounted view has it: a member's name, then titles, then perhaps a file's name.
package struct RecordPath: Hashable, Sendable {
  package let member: FileName
  package let components: [FileName]

  package init(member: FileName, components: [FileName] = []) {
    self.member = member
    self.components = components
  }

  /// The path that this text writes.
  package init?(_ text: some StringProtocol) { self.init(bytes: Array(text.utf8)) }

  /// Slashes at the start and end and doubled ones mean nothing; nil when a part is no name.
  package init?(bytes: [UInt8]) {
    var names: [FileName] = []
    for part in bytes.split(separator: UInt8(ascii: "/")) {
      guard let name = FileName(part) else { return nil }
      names.append(name)
    }
    guard let member = names.first else { return nil }
    self.init(member: member, components: Array(names.dropFirst()))
  }

  package var string: String { String(decoding: bytes, as: UTF8.self) }

  package var bytes: [UInt8] {
    var bytes = member.bytes
    for name in components {
      bytes.append(UInt8(ascii: "/"))
      name.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// The path without its last part; nil for a member.
  package var parent: RecordPath? {
    components.isEmpty ? nil : RecordPath(member: member, components: components.dropLast())
  }
}

/// What path resolving asks of a member's records.
package protocol RecordHierarchy {
  /// The entry of a record, deleted ones included.
  func entry(_ record: RecordID) -> RecordEntry?
  /// The records in a record that are not deleted, in no particular order.
  func children(of record: RecordID) -> [RecordEntry]
  /// Whether the record has a file of this name.
  func hasFile(named name: FileName, in record: RecordID) throws(VaultError) -> Bool
}

/// What a path leads to.
package enum RecordTarget: Hashable, Sendable {
  case record(RecordID)
  case file(FileName, in: RecordID)

  /// The record itself, or the one that has the file.
  package var record: RecordID {
    switch self {
    case .record(let record), .file(_, let record): record
    }
  }
}

extension RecordHierarchy {
  /// What stands at the end of these names, from the member's own directory on; nil if nothing does.
  ///
  /// Of several records of one title in one directory each has a name of its own, as in the mounted view.
  package func target(at components: [FileName]) throws(VaultError) -> RecordTarget? {
    var record = RecordID.root
    for (position, name) in components.enumerated() {
      if let child = child(named: name, of: record) {
        record = child
      } else if position == components.count - 1, try hasFile(named: name, in: record) {
        return .file(name, in: record)
      } else {
        return nil
      }
    }
    return .record(record)
  }

  /// The record that shows under this name in another one.
  package func child(named name: FileName, of record: RecordID) -> RecordID? {
    let children = children(of: record)
    let exceptions = VisibleNames.exceptions(among: children) { _ in false }
    return children.first { (exceptions[$0.record] ?? $0.title) == name }?.record
  }
}

/// The paths of records, remembering what is costly to find out.
package struct RecordPathNames {
  private let hierarchy: any RecordHierarchy
  private let memberName: FileName?
  private var exceptions: [RecordID: [RecordID: FileName]] = [:]
  // Of records that have others in them; nil where the root is not reached.
  private var folders: [RecordID: RecordPath?] = [:]

  /// - Parameter name: What the member shows as, where it is not alone with its title.
  package init(_ hierarchy: any RecordHierarchy, called name: FileName? = nil) {
    self.hierarchy = hierarchy
    memberName = name
  }

  /// The path of a record that can be reached from the root; nil for another.
  package mutating func path(of record: RecordID) -> RecordPath? {
    guard let entry = hierarchy.entry(record) else { return nil }
    guard let parent = entry.parent else { return RecordPath(member: memberName ?? entry.title) }
    if folders[parent] == nil { folders[parent] = .some(pathByParents(of: parent)) }
    guard let folder = folders[parent] ?? nil else { return nil }
    return RecordPath(
      member: folder.member, components: folder.components + [name(of: entry, in: parent)])
  }

  private mutating func pathByParents(of record: RecordID) -> RecordPath? {
    var names: [FileName] = []
    var next = record
    // With the one that is asked for no deeper than records may be nested; a cycle of damaged parents ends here, too.
    while names.count < 999, let entry = hierarchy.entry(next) {
      guard let parent = entry.parent else {
        return RecordPath(member: memberName ?? entry.title, components: names.reversed())
      }
      names.append(name(of: entry, in: parent))
      next = parent
    }
    return nil
  }

  private mutating func name(of entry: RecordEntry, in parent: RecordID) -> FileName {
    if exceptions[parent] == nil {
      let children = hierarchy.children(of: parent)
      exceptions[parent] = VisibleNames.exceptions(among: children) { _ in false }
    }
    return exceptions[parent]?[entry.record] ?? entry.title
  }
}

extension Member: RecordHierarchy {
  package func hasFile(named name: FileName, in record: RecordID) throws(VaultError) -> Bool {
    try item(named: name, in: record) != nil
  }

  /// Whether a record, or a file, in this one has the name.
  package func hasAnything(
    named name: FileName, in record: RecordID
  ) throws(VaultError) -> Bool {
    if child(named: name, of: record) != nil { return true }
    return try hasFile(named: name, in: record)
  }

  /// The file of this name; nil if the record has none or is unknown.
  package func item(named name: FileName, in record: RecordID) throws(VaultError) -> Item? {
    guard let entry = entry(record) else { return nil }
    return try item(named: name, of: revision(entry.revision))
  }
}
