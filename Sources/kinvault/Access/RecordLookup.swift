import Vault
import VaultModel

/// A record or a file that a person named, and the member it belongs to.
struct FoundRecord {
  let member: Member
  let target: RecordTarget
  let path: RecordPath

  var record: RecordID { target.record }

  /// The file's name; nil when it is a record.
  var fileName: FileName? {
    if case .file(let name, _) = target { name } else { nil }
  }
}

extension MemberID {
  /// Whether a person names it by these first digits; fewer than six could be part of too many ids.
  func begins(with digits: String) -> Bool {
    NameOrDigits(digits).begins(hex)
  }
}

extension Vault {
  /// Where a record stands in the mounted view, from the name on that its member shows under. Of a deleted one, where it stood.
  ///
  /// A record that cannot be reached from the root is shown under its own title.
  func shownPath(of record: RecordID, in member: Member) -> String {
    var names = pathNames(of: member)
    return names.shownPath(of: record, in: member)
  }
}

extension RecordPathNames {
  /// As `Vault.shownPath`, for many records of one member.
  mutating func shownPath(of record: RecordID, in member: Member) -> String {
    path(of: record)?.string ?? member.displayPath(of: record)
  }
}

/// Finds what a person names: a path as in the mounted view, or the first digits of a record's id.
struct RecordLookup {
  /// Fewer digits could be part of too many ids.
  private static let leastDigits = 6
  let vault: Vault

  func member(named text: String) throws -> Member {
    let bytes = ArgumentBytes.of(text)
    let name = FileName(bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes[...])
    let typed = NameOrDigits(text)
    // A title is the same only to the byte.
    let namesakes = typed.meant(
      among: vault.members, name: { $0.name == name ? text : "" }, id: { $0.id.hex })
    guard namesakes.count <= 1 else {
      let each = namesakes.map { member in
        let count = countedRecords(max(0, member.recordCount - 1))
        return "\(member.id.hex.prefix(12)) (\(count))"
      }
      throw CommandError.usage(
        "\(namesakes.count) members are called \u{201C}\(Terminal.visible(text))\u{201D}. Name one by "
          + "the id: \(each.joined(separator: ", ")). To give one another name: "
          + "kinvault member rename ID NAME")
    }
    if let member = namesakes.first, typed.begins(member.id.hex) { return member }
    // By the name that it shows under, which need not be its title.
    guard let name, let member = vault.member(named: name) else {
      if let offer = try Offer.all(in: vault).first(where: { $0.isMeant(by: text) }) {
        throw CommandError.notFound("\(offer.line).")
      }
      throw CommandError.notFound(
        "There is no family member \u{201C}\(Terminal.visible(text))\u{201D}. \(alike(text))"
          + "To see all: kinvault member list")
    }
    return member
  }

  /// Which member may be meant, whose name has other capital letters.
  private func alike(_ text: String) -> String {
    let name = vault.members.map(\.name.string).first { $0.lowercased() == text.lowercased() }
    return name.map { "There is \u{201C}\(Terminal.visible($0))\u{201D}. " } ?? ""
  }

  /// - Throws: `notFound` when nothing fits, `usage` when more than one record does.
  func find(_ text: String) throws -> FoundRecord {
    if let path = RecordPath(bytes: ArgumentBytes.of(text)),
      let member = vault.member(named: path.member),
      let target = try member.target(at: path.components)
    {
      return FoundRecord(member: member, target: target, path: path)
    }
    if let found = try findByID(text) { return found }
    throw CommandError.notFound(
      "Nothing is at \u{201C}\(Terminal.visible(text))\u{201D}. Paths are as in the mounted view, from the "
        + "member on (Emma/Vaccines/2025-01-20 COVID-19). To see all: kinvault record list")
  }

  /// What `find` gives, if it is a record.
  func record(_ text: String) throws -> FoundRecord {
    let found = try find(text)
    guard found.fileName == nil else {
      throw CommandError.usage(
        "\u{201C}\(Terminal.visible(text))\u{201D} is a file; name the record that it is in.")
    }
    return found
  }

  /// What `find` gives; else the record or file of that path or id that was deleted last.
  func findAlsoDeleted(_ text: String) throws -> FoundRecord {
    do { return try find(text) } catch let error as CommandError {
      guard case .notFound = error else { throw error }
      if let found = try findDeleted(text) { return found }
      throw error
    }
  }

  private func findDeleted(_ text: String) throws -> FoundRecord? {
    for member in vault.members {
      let deleted = member.allEntries().filter(\.isDeleted).sorted { $0.time > $1.time }
      let byID = deleted.first {
        text.count >= Self.leastDigits && $0.record.hex.hasPrefix(text.lowercased())
      }
      let path = RecordPath(bytes: ArgumentBytes.of(text))
      var names = vault.pathNames(of: member)
      let byPath = deleted.first { names.shownPath(of: $0.record, in: member) == path?.string }
      guard let entry = byID ?? byPath else { continue }
      let shown = RecordPath(vault.shownPath(of: entry.record, in: member))
      return FoundRecord(
        member: member, target: .record(entry.record),
        path: shown ?? RecordPath(member: entry.title))
    }
    return try findDeletedFile(text)
  }

  /// The deleted records of this path, the one that was deleted last first.
  func deletedRecords(at path: String, in member: Member) -> [RecordEntry] {
    var names = vault.pathNames(of: member)
    return member.allEntries()
      .filter { $0.isDeleted && names.shownPath(of: $0.record, in: member) == path }
      .sorted { $0.time > $1.time }
  }

  /// A file that a record which is still there once had.
  private func findDeletedFile(_ text: String) throws -> FoundRecord? {
    guard let path = RecordPath(bytes: ArgumentBytes.of(text)), let parent = path.parent,
      let name = path.components.last,
      let member = vault.member(named: path.member),
      case .record(let record)? = try member.target(at: parent.components)
    else { return nil }
    for version in try member.history(of: record) {
      if try member.item(named: name, of: version.revision) != nil {
        return FoundRecord(member: member, target: .file(name, in: record), path: path)
      }
      // One that cannot be read may have had it.
      if let damage = member.damage(before: version.revision) { throw damage }
    }
    return nil
  }

  private func findByID(_ text: String) throws -> FoundRecord? {
    let digits = text.lowercased()
    guard digits.count >= Self.leastDigits, digits.allSatisfy(\.isHexDigit) else { return nil }
    var found: [FoundRecord] = []
    for member in vault.members {
      var names = vault.pathNames(of: member)
      for entry in member.allEntries()
      where entry.record != .root && !entry.isDeleted && entry.record.hex.hasPrefix(digits) {
        guard let path = names.path(of: entry.record) else { continue }
        found.append(FoundRecord(member: member, target: .record(entry.record), path: path))
      }
    }
    guard found.count <= 1 else {
      let ids = found.map { String($0.record.hex.prefix(digits.count + 6)) }
      throw CommandError.usage(
        "More than one record's id begins with \(digits): \(ids.joined(separator: ", ")). "
          + "Give more digits.")
    }
    return found.first
  }
}
