import Vault
import VaultErrors
import VaultModel

/// Where a record or a file of it stands on the page. No name is in it, since browsers keep addresses.
struct RecordAddress: Hashable, Sendable {
  let member: MemberID
  let record: RecordID

  var path: String { "/records/\(member.hex)/\(record.hex)" }

  /// - Parameter revision: One of its versions.
  func path(of revision: ContentDigest) -> String { "\(path)/history/\(revision.hex)" }

  /// - Parameter name: Of a file, whatever bytes it consists of.
  func path(of name: FileName) -> String {
    "\(path)/files/\(name.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
  }

  /// The name in an address; nil for what is none.
  static func fileName(_ digits: String) -> FileName? {
    let digits = Array(digits.utf8)
    guard digits.count.isMultiple(of: 2), digits.count <= 510 else { return nil }
    var bytes: [UInt8] = []
    for position in stride(from: 0, to: digits.count, by: 2) {
      guard
        let byte = UInt8(
          String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return FileName(bytes)
  }
}

/// A record that is there to be shown.
struct ShownRecord {
  let member: Member
  let entry: RecordEntry

  var address: RecordAddress { RecordAddress(member: member.id, record: entry.record) }

  /// Why nothing of it may be changed, in the page's words; nil where it may.
  func refusal(_ texts: Texts) -> String? {
    switch member.refusal {
    case nil: nil
    case .readOnly?: texts("record.readOnly")
    case let refusal?: texts.failure(refusal) ?? refusal.message
    }
  }

  /// Its date, or where it has none the one that its title begins with; empty where there is neither.
  var date: String { entry.ownDate }

  /// The title without the date that it begins with.
  var title: String {
    let date = entry.readDate.isEmpty ? entry.dateInTitle : ""
    return date.isEmpty ? entry.shownTitle : String(entry.title.string.dropFirst(date.count + 1))
  }

  /// - Throws: `notFound`.
  init(_ address: RecordAddress, in vault: Vault) throws(VaultError) {
    guard let member = vault.member(address.member), member.role != nil,
      let entry = member.entry(address.record)
    else { throw .notFound(what: "the record") }
    (self.member, self.entry) = (member, entry)
  }
}
